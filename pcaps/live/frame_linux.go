package live

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Offsets in a frame's header (struct tpacket3_hdr) and in the address behind
// it (struct sockaddr_ll).
const (
	frameNext     = 0
	frameSec      = 4
	frameNsec     = 8
	frameCaptured = 12
	frameLength   = 16
	frameStatus   = 20
	frameMAC      = 24
	frameTCI      = 32
	frameTPID     = 36
	frameAddr     = 48
	framePktType  = frameAddr + 10

	frameHeader = frameAddr + unix.SizeofSockaddrLinklayer
)

const (
	macBytes = 12 // both addresses: a VLAN tag's place is behind them
	tagBytes = 4

	linkEthernet = 1
	linkRaw      = 101
)

// look reads the time of the next frame. It is false when the kernel's words
// make no sense: never seen, but no reason to leave the block's memory.
func (r *ring) look() bool {
	if r.at < 0 || r.at > len(r.block)-frameHeader {
		return false
	}
	h := r.block[r.at:]
	r.time = int64(word(h, frameSec))*1e9 + int64(word(h, frameNsec))
	return true
}

// frame is where a frame lies behind its header.
type frame struct {
	mac      int    // offset of its first octet
	captured int    // octets
	tag      uint32 // the tag that the kernel took off, TPID before TCI; 0: none
}

// frame makes the record of the frame behind the header h, but for its place.
// It is false for one that is to be left out.
func (r *ring) frame(h []byte, rec *Record) (f frame, ok bool) {
	stat := word(h, frameStatus)
	f.mac, f.captured = int(half(h, frameMAC)), int(word(h, frameCaptured))
	if f.mac < frameHeader || f.mac > len(h) || f.captured < 0 || f.captured > len(h)-f.mac || r.twin(h[framePktType]) {
		return f, false
	}
	*rec = Record{Time: r.time, Cap: uint32(f.captured), Wire: word(h, frameLength), Iface: r.iface, Link: r.link, Dir: dirIn}
	if h[framePktType] == unix.PACKET_OUTGOING {
		rec.Dir = dirOut
	}
	if r.hardware && stat&unix.TP_STATUS_TS_RAW_HARDWARE == 0 {
		// The kernel fell back to its own clock, which isn't the card's.
		rec.Time, rec.Flags = 0, flagNoTime
	}
	if tci := half(h, frameTCI); (stat&unix.TP_STATUS_VLAN_VALID != 0 || tci != 0) && r.link == linkEthernet && f.captured >= macBytes {
		tpid := uint16(unix.ETH_P_8021Q)
		if stat&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
			tpid = half(h, frameTPID)
		}
		f.tag = uint32(tpid)<<16 | uint32(tci)
		rec.Wire += tagBytes
		rec.Cap += tagBytes
	}
	if r.snapLen != 0 { // by the tag
		rec.Cap = min(rec.Cap, r.snapLen)
	}
	rec.Wire = max(rec.Wire, rec.Cap)
	return f, true
}

// putTag puts the tag back where it was. Both addresses make room for it, over
// the end of the header: an address of 8 octets that nobody reads.
func (f *frame) putTag(h []byte) {
	from := f.mac - tagBytes
	copy(h[from:], h[f.mac:f.mac+macBytes])
	binary.BigEndian.PutUint32(h[from+macBytes:], f.tag)
}

// take appends the next frame to buf and its record to recs, and goes on to
// the one after it. There must be one (see ready).
func (r *ring) take(buf []byte, recs []Record) ([]byte, []Record) {
	h := r.block[r.at:]
	var rec Record
	if f, ok := r.frame(h, &rec); ok {
		rec.Off = uint32(len(buf))
		data := h[f.mac : f.mac+f.captured]
		if f.tag != 0 {
			buf = append(buf, data[:macBytes]...)
			buf = binary.BigEndian.AppendUint32(buf, f.tag)
			data = data[macBytes:]
		}
		buf = append(buf, data...)
		buf = buf[:rec.Off+rec.Cap] // a tag may have made it longer than is wanted
		recs = append(recs, rec)
	}
	r.next(int(word(h, frameNext)))
	return buf, recs
}

// twin tells of the frames of a loopback interface that come twice, once going
// out and once coming in.
func (r *ring) twin(pktType byte) bool { return r.loopback && pktType == unix.PACKET_OUTGOING }

// next goes on by n octets, or lets go of the block after its last frame.
func (r *ring) next(n int) {
	r.left--
	if r.left > 0 && n > 0 {
		r.at += n
		if r.look() {
			return
		}
	}
	r.done()
}
