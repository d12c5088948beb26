package synth

import "hash/crc32"

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Flags of MPA request and reply frames (RFC 5044 7.1.1, RFC 6581 6).
const (
	MPAMarkers  = 0x80
	MPACRC      = 0x40
	MPAReject   = 0x20
	MPAEnhanced = 0x10 // private data begins with IRD and ORD
)

// MPAFrame is a request (or reply) frame: key, flags, revision, private data.
func MPAFrame(reply bool, flags, revision uint8, private []byte) []byte {
	key := "MPA ID Req Frame"
	if reply {
		key = "MPA ID Rep Frame"
	}
	f := append([]byte(key), flags, revision)
	return append(be.AppendUint16(f, uint16(len(private))), private...)
}

// MPADepths is what enhanced private data begins with (RFC 6581 9.1): A
// (peer to peer) and B (zero-length SEND) with IRD, C (zero-length WRITE) and
// D (zero-length READ) with ORD. flags holds A, B, C, D in bits 3 to 0.
func MPADepths(flags uint8, ird, ord uint16) []byte {
	d := be.AppendUint16(nil, uint16(flags>>2&3)<<14|ird&0x3fff)
	return be.AppendUint16(d, uint16(flags&3)<<14|ord&0x3fff)
}

// AppendFPDU frames a ULPDU (RFC 5044 4.1): length, ULPDU, padding, CRC32C with
// the least significant octet first. Without crc the field is zero.
func AppendFPDU(dst, ulpdu []byte, crc bool) []byte {
	at := len(dst)
	dst = append(be.AppendUint16(dst, uint16(len(ulpdu))), ulpdu...)
	dst = pad4(dst, at)
	sum := uint32(0)
	if crc {
		sum = crc32.Checksum(dst[at:], castagnoli)
	}
	return le.AppendUint32(dst, sum)
}

// RDMAP opcodes (RFC 5040 4.3, RFC 7306 3).
const (
	RDMAPWrite          = 0x0
	RDMAPReadRequest    = 0x1
	RDMAPReadResponse   = 0x2
	RDMAPSend           = 0x3
	RDMAPSendInv        = 0x4
	RDMAPSendSE         = 0x5
	RDMAPSendSEInv      = 0x6
	RDMAPTerminate      = 0x7
	RDMAPImmediate      = 0x8
	RDMAPImmediateSE    = 0x9
	RDMAPAtomicRequest  = 0xa
	RDMAPAtomicResponse = 0xb
)

// Tagged is a DDP segment with RDMAP opcode (RFC 5041 4.2, RFC 5040 4.1).
//
//	T 1 =1 | L 1 | rsvd 4 | DV 2 =1 | RV 2 =1 | rsvd 2 | opcode 4 | STag 32 | TO 64
func Tagged(opcode uint8, last bool, stag uint32, offset uint64, payload []byte) []byte {
	u := []byte{0x81 | bit(last, 6), 0x40 | opcode&0xf}
	u = be.AppendUint64(be.AppendUint32(u, stag), offset)
	return append(u, payload...)
}

// Untagged is the other form (RFC 5041 4.3).
//
//	… | Invalidate STag 32 | QN 32 | MSN 32 | MO 32
func Untagged(opcode uint8, last bool, invalidate, qn, msn, offset uint32, payload []byte) []byte {
	u := []byte{0x01 | bit(last, 6), 0x40 | opcode&0xf}
	for _, v := range []uint32{invalidate, qn, msn, offset} {
		u = be.AppendUint32(u, v)
	}
	return append(u, payload...)
}

// ReadRequestBody is the RDMAP header of a Read Request (RFC 5040 4.4).
func ReadRequestBody(sinkSTag uint32, sinkTO uint64, size, srcSTag uint32, srcTO uint64) []byte {
	b := be.AppendUint64(be.AppendUint32(nil, sinkSTag), sinkTO)
	b = be.AppendUint32(be.AppendUint32(b, size), srcSTag)
	return be.AppendUint64(b, srcTO)
}

// Markers puts MPA markers (RFC 5044 4.3) into a stream of FPDUs that begins
// at the start of full operation: one at its first octet and one at every
// 512th, markers counted. A marker points back to the FPDU it lies in; a CRC
// covers the markers of its FPDU, so that FPDUs must be given as ULPDUs.
func Markers(ulpdus [][]byte, crc bool) []byte {
	var out []byte
	for _, u := range ulpdus {
		head := len(out) // where CRC coverage begins: at a marker before the length, too
		start := -1      // of the length field
		put := func(b byte) {
			if len(out)%512 == 0 {
				back := 0 // 0: the length field follows at once
				if start >= 0 {
					back = len(out) - start
				}
				out = be.AppendUint32(out, uint32(back))
			}
			if start < 0 {
				start = len(out)
			}
			out = append(out, b)
		}
		body := pad4(append(be.AppendUint16(nil, uint16(len(u))), u...), 0)
		for _, b := range body {
			put(b)
		}
		if len(out)%512 == 0 { // a marker right behind the padding is covered
			out = be.AppendUint32(out, uint32(len(out)-start))
		}
		sum := uint32(0)
		if crc {
			sum = crc32.Checksum(out[head:], castagnoli)
		}
		out = le.AppendUint32(out, sum)
	}
	return out
}
