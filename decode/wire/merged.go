package wire

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
// with its own iCRC. All but the last are equally long: Linux ends a run with
// the first segment that isn't (udp_gro_receive_segment), so one border tells
// them all. Where the whole datagram was captured it is certain: the first PDU's
// iCRC is right once its lengths are put back. The packet is then decoded as
// that first PDU, and Part has the others. Where it was cut, only a length that
// no such PDU can have tells that it was merged, and nothing from how many. stop
// is what was found before the transport.
func (f *frame) merged(off int, stop Stop) {
	p := f.p
	if p.Kind != KindRoCEv2 || !p.Has(FlagBTH) || p.Flags&FlagFragment != 0 {
		return
	}
	if p.TransLen > maxPDU || p.impossible() && f.end > len(f.b) {
		p.Flags |= FlagMulti
	}
	total := int(p.TransLen)
	if f.end > len(f.b) || off-int(p.NetOff) > maxCarrier {
		return
	}
	if n := f.segment(off, total); n > 0 {
		p.Stop = stop
		f.first(off, n, total)
	}
}

// impossible tells whether the payload is longer than the opcode can have: any
// where it has none, or what is no path MTU in a first or middle packet.
func (p *Packet) impossible() bool {
	n := p.RoCE.PayloadLen
	info := p.RoCE.BTH.Opcode.Info()
	switch {
	case n == 0 || !p.Has(FlagBTH) || !info.Known || p.Stop.Reason > ReasonCut:
		return false
	case info.Flags.Has(roce.FlagFirst | roce.FlagMiddle):
		return n&(n-1) != 0 || n < 256 || n > 4096
	}
	return !info.Flags.Has(roce.FlagPayload)
}

// segment finds the length of the first PDU of several that are total octets
// long together, 0 if there is none: first the lengths that its opcode allows
// alone, then those at which the next PDU seems to begin, then equal shares.
func (f *frame) segment(off, total int) int {
	fits := func(n int) bool {
		return n%4 == 0 && n >= roce.BTHLen+roce.ICRCLen && n <= min(maxPDU, total-roce.BTHLen-roce.ICRCLen) && f.aloneOK(off, n)
	}
	info := f.p.RoCE.BTH.Opcode.Info()
	head := roce.BTHLen + int(info.ExtLen) + roce.ICRCLen
	if info.Known && fits(head) { // acknowledgements, READ requests, empty messages
		return head
	}
	for mtu := 256; mtu <= 4096; mtu *= 2 {
		if fits(head + mtu) {
			return head + mtu
		}
	}
	// The destination QP is what most PDUs of a datagram have in common.
	qp := f.b[off+5 : off+8]
	end := min(off+maxPDU, off+total-roce.ICRCLen)
	for at, tries := off+roce.BTHLen+roce.ICRCLen+5, 0; at < end && tries < maxMergedTries; tries++ {
		i := bytes.Index(f.b[at:end], qp)
		if i < 0 {
			break
		}
		n := at + i - 5 - off
		at += i + 1
		if f.follows(off, off+n) && fits(n) {
			return n
		}
	}
	for shares := 2; shares <= maxShares; shares++ {
		if total%shares == 0 && fits(total/shares) {
			return total / shares
		}
	}
	return 0
}

// maxShares is how many equal PDUs of different queue pairs are looked for when
// nothing else tells where the second begins.
const maxShares = 16

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

// aloneOK tells whether the n octets at off, at which the datagram's transport
// begins, are a PDU with a right iCRC.
func (f *frame) aloneOK(off, n int) bool { return f.aloneICRC(off, off, n, f.p.IPID) == roce.ICRCOK }

// aloneICRC checks the iCRC of the n octets at off when the headers before head,
// which all PDUs of the datagram share, have the lengths and the IP
// identification that they had for this one alone.
func (f *frame) aloneICRC(head, off, n int, id uint16) roce.ICRCState {
	from, carrier := f.carrier()
	bth := copy(f.d.scratch[:], f.b[from:head])
	b := f.d.scratch[:bth+copy(f.d.scratch[bth:], f.b[off:off+n])]
	put := func(at, v int) { b[at], b[at+1] = byte(v>>8), byte(v) }
	put(bth-8+4, 8+n)
	if carrier == roce.CarrierIPv4 {
		put(2, bth+n)
		put(4, int(id))
	} else {
		put(4, bth+n-40)
	}
	return f.d.crc.Check(carrier, b, bth, len(b))
}

// first makes p the first PDU of a merged datagram.
func (f *frame) first(off, n, total int) {
	p := f.p
	f.end = off + n
	p.RoCE.Present = 0
	f.transportPDU(off)
	p.ICRC = roce.ICRCOK
	p.Flags |= FlagMulti
	p.Merged, p.MergedLen = uint16((total+n-1)/n), uint32(total)
}

// Part makes q the PDU number k, from 1 to p.Merged-1, of the datagram whose
// first PDU p is. It has p's frame, time and number, and the length that its own
// frame had. ok is false where no PDU is: then the rest of the datagram isn't
// understood.
func (d *Decoder) Part(p *Packet, k int, q *Packet) (ok bool) {
	n, head := int(p.TransLen), int(p.TransOff)
	from := k * n
	n = min(n, int(p.MergedLen)-from)
	if k < 1 || n < roce.BTHLen+roce.ICRCLen || head+from+n > len(p.Data) {
		return false
	}
	*q = *p
	q.Flags = q.Flags&^FlagBTH | FlagPart
	q.Stop = Stop{}
	q.RoCE.Present = 0
	var f frame
	f.d, f.p, f.b, f.end = d, q, p.Data, head+from+n
	skip := d.skipICRC
	d.skipICRC = true // its carrier's lengths are not in the frame
	f.transportPDU(head + from)
	d.skipICRC = skip
	if !q.Has(FlagBTH) {
		return false
	}
	// A sender counts its datagrams or, where it never fragments, may leave the
	// identification alone.
	q.IPID = p.IPID + uint16(k)
	if q.ICRC = f.aloneICRC(head, head+from, n, q.IPID); q.ICRC == roce.ICRCBad && p.IPVersion == 4 {
		if f.aloneICRC(head, head+from, n, p.IPID) == roce.ICRCOK {
			q.IPID, q.ICRC = p.IPID, roce.ICRCOK
		}
	}
	if p.IPVersion != 4 {
		q.IPID = p.IPID
	}
	q.Wire = q.AloneWire()
	// What is no PDU by its iCRC may still be a damaged one, but not anything.
	return q.ICRC == roce.ICRCOK || f.b[head+from+1]&0x0f == 0 && q.RoCE.BTH.Opcode.Info().Known
}

// AloneWire is the length of the frame that a PDU of a merged datagram had
// before it was merged.
func (p *Packet) AloneWire() uint32 { return p.L4Off + udpLen + p.TransLen }

const udpLen = 8
