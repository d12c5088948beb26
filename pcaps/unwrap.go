package pcaps

import "encoding/binary"

// unwrapper takes a per-packet header off a record's frame: it moves Off, Cap
// and Wire, and sets Link to that of the inside. Bytes that it doesn't
// understand keep the outer link type, so that they are counted as such.
type unwrapper func(b []byte, rec *Record)

func unwrapperOf(link uint16) unwrapper {
	switch link {
	case LinkERF:
		return unwrapERF
	case LinkPPI:
		return unwrapPPI
	}
	return nil
}

/*
PPI 1.0.10 §3.1, all little-endian:

	0  version (0)   1  flags   2  length of this header and its fields   4  DLT
*/
const ppiHeaderLen = 8

func unwrapPPI(b []byte, rec *Record) {
	f := b[rec.Off : rec.Off+rec.Cap]
	if len(f) < ppiHeaderLen || f[0] != 0 {
		return
	}
	n, dlt := uint32(binary.LittleEndian.Uint16(f[2:])), binary.LittleEndian.Uint32(f[4:])
	if n < ppiHeaderLen || n > rec.Cap || dlt > 0xffff || dlt == LinkPPI {
		return
	}
	rec.Off += n
	rec.Cap -= n
	rec.Wire -= n
	rec.Link = uint16(dlt)
}
