package decode

import (
	"bytes"

	"rdmascope/decode/roce"
)

// The longest RoCEv2 PDU from the BTH to the end of the iCRC: BTH, at most 44
// octets of extension headers, 4096 of payload (the largest path MTU, IBTA
// 9.4.3), 3 of pad, iCRC. And the longest IP and UDP headers before it that
// the iCRC check has room for.
const (
	maxPDU     = roce.BTHLen + 44 + 4096 + 3 + roce.ICRCLen
	maxCarrier = 128
)

// maxMergedTries bounds what one datagram can cost: a crafted one may look like
// a new PDU every four octets.
const maxMergedTries = 64

// merged recognises datagrams that a receiving host put together from several
// (UDP GRO): one IP and one UDP header with new lengths, then PDU after PDU, each
// with its own iCRC. All but the last are equally long. Where the whole datagram
// was captured it is certain: the first PDU's iCRC is right once its lengths are
// put back. The packet is then decoded as that first PDU. Where it was cut, only
// a length that no PDU can have tells. stop is what was found before the transport.
func (f *frame) merged(off int, stop Stop) {
	p := f.p
	if p.Kind != KindRoCEv2 || !p.Has(FlagBTH) || p.Flags&FlagFragment != 0 {
		return
	}
	if p.TransLen > maxPDU {
		p.Flags |= FlagMulti
	}
	total := int(p.TransLen)
	if f.end > len(f.b) || off-int(p.NetOff) > maxCarrier {
		return
	}
	// The destination QP is what all PDUs have in common: look for it first.
	qp := f.b[off+5 : off+8]
	end := min(off+maxPDU, off+total-roce.ICRCLen)
	for at, tries := off+roce.BTHLen+roce.ICRCLen+5, 0; at < end && tries < maxMergedTries; tries++ {
		i := bytes.Index(f.b[at:end], qp)
		if i < 0 {
			return
		}
		n := at + i - 5 - off
		at += i + 1
		if f.follows(off, off+n) && f.aloneOK(off, n) {
			p.Stop = stop
			f.first(off, n, total)
			return
		}
	}
}

// follows tells whether the octets at next can be the BTH of a PDU that the
// same queue pair was sent a little later than the one at off.
func (f *frame) follows(off, next int) bool {
	if (next-off)%4 != 0 || next+roce.BTHLen > len(f.b) {
		return false
	}
	a, b := f.b[off:off+roce.BTHLen], f.b[next:next+roce.BTHLen]
	if a[0]>>5 != b[0]>>5 || b[1]&0x0f != 0 || be16(a, 2) != be16(b, 2) {
		return false
	}
	d := roce.PSN(be32(b, 8) & 0xffffff).Sub(roce.PSN(be32(a, 8) & 0xffffff))
	return d >= 0 && d < 1<<16
}

// aloneOK tells whether the first n octets at off are a PDU with a right iCRC,
// when the lengths of IP and UDP are what it had alone.
func (f *frame) aloneOK(off, n int) bool {
	from, carrier := f.carrier()
	b := f.d.scratch[:copy(f.d.scratch[:], f.b[from:off+n])]
	bth := off - from
	putLen := func(at, n int) { b[at], b[at+1] = byte(n>>8), byte(n) }
	putLen(bth-8+4, 8+n)
	if carrier == roce.CarrierIPv4 {
		putLen(2, bth+n)
	} else {
		putLen(4, bth+n-40)
	}
	return f.d.crc.Check(carrier, b, bth, len(b)) == roce.ICRCOK
}

// first makes p the first PDU of a merged datagram.
func (f *frame) first(off, n, total int) {
	p := f.p
	f.end = off + n
	p.RoCE.Present = 0
	f.transportPDU(off)
	p.ICRC = roce.ICRCOK
	p.Flags |= FlagMulti
	p.Merged = uint16((total + n - 1) / n)
}
