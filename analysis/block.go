package analysis

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"rdmascope/analysis/pause"
	"rdmascope/analysis/rc"
	"rdmascope/decode"
)

// partitions is how many ways the host pairs are split. It is fixed, so that
// neither the number of workers nor how partitions are grouped for them can
// change a result: caps and evictions apply per partition.
const partitions = 64

// block is a run of records and what became of them. It travels from the
// reader through a decoder to every lane, and back to the pool.
type block struct {
	seq   int64 // order in the capture
	first int64 // number of its first packet, from 1
	buf   []byte
	recs  []Record
	// numbers of the packets in the whole capture, where the source delivers a
	// part of it; else empty, and they count on from first.
	numbers []int64
	// pkts has one packet for each record, and more for a frame into which
	// receive offload merged several.
	pkts []decode.Packet
	hash []uint64 // of the flow, for packets that belong to a partition

	part    []uint8    // partition of each packet, noPartition for none
	control []uint32   // pause frames, for every lane
	lldp    []uint32   // LLDP, for the front
	lanes   [][]uint32 // packet indices for each lane, in capture order

	totals totals
	clock  span     // of its packets
	speeds []uint64 // of the interfaces known when it was read, bit/s, 0 unknown

	marker  *marker      // a snapshot is to be taken after this block
	waiting atomic.Int32 // lanes that haven't consumed it
}

const noPartition = 255

func newBlock(lanes int) *block { return &block{lanes: make([][]uint32, lanes)} }

// decode turns the block's records into packets and sorts them by lane.
// Packets of one record share its number and its time.
func (b *block) decode(d *decode.Decoder) {
	n := len(b.recs)
	b.pkts = grow(b.pkts, n)
	b.hash = grow(b.hash, n)
	b.part = grow(b.part, n)
	b.control, b.lldp = b.control[:0], b.lldp[:0]
	for i := range b.lanes {
		b.lanes[i] = b.lanes[i][:0]
	}
	b.totals.reset()
	b.clock = span{}
	at := 0 // of the next packet
	for i := range b.recs {
		p := &b.pkts[at]
		b.load(p, i)
		d.Decode(p)
		b.totals.packet(p)
		if p.Flags&decode.FlagNoTime == 0 {
			b.clock.add(p.Time)
		}
		b.sort(at)
		if at++; p.Merged > 0 {
			at = b.split(d, at)
		}
	}
	b.pkts = b.pkts[:at]
}

// split puts the packets that were merged with the one before at behind it, and
// returns where the next record's goes. There are never more than fit in the
// captured octets.
func (b *block) split(d *decode.Decoder, at int) int {
	more := int(b.pkts[at-1].Merged) - 1
	b.pkts = slices.Grow(b.pkts, more)[:len(b.pkts)+more]
	b.hash = slices.Grow(b.hash, more)[:len(b.pkts)]
	b.part = slices.Grow(b.part, more)[:len(b.pkts)]
	first, found := &b.pkts[at-1], 0
	for found < more && d.Part(first, 1+found, &b.pkts[at+found]) {
		b.sort(at + found)
		found++
	}
	first.Wire = first.AloneWire() // until here it stood for the whole frame
	b.totals.merged(1+found, found == more)
	b.pkts = b.pkts[:len(b.pkts)-(more-found)]
	return at + found
}

// sort notes who consumes packet i.
func (b *block) sort(i int) {
	p := &b.pkts[i]
	b.part[i] = noPartition
	switch {
	case p.Kind == decode.KindPFC || p.Kind == decode.KindPause:
		b.control = append(b.control, uint32(i))
	case p.Kind == decode.KindLLDP:
		b.lldp = append(b.lldp, uint32(i))
	case p.Kind.IsRoCE() && p.Has(decode.FlagBTH), p.Kind == decode.KindTCP:
		if p.Kind.IsRoCE() {
			p.Print = rc.Fingerprint(p) // while its bytes are in the cache
		}
		pair := pairHash(p)
		part := uint8(pair >> 58)
		b.part[i] = part
		b.hash[i] = flowHash(pair, p)
		l := laneOf(part, len(b.lanes))
		b.lanes[l] = append(b.lanes[l], uint32(i))
	}
}

// tellSpeeds tells a time line of pauses how fast the interfaces are.
func (b *block) tellSpeeds(tl *pause.Timeline) {
	for i, bps := range b.speeds {
		tl.Interface(uint16(i), bps)
	}
}

// laneOf spreads the partitions over the lanes.
func laneOf(part uint8, lanes int) int { return int(part) * lanes / partitions }

// load makes packet p of record i.
func (b *block) load(p *decode.Packet, i int) {
	r := &b.recs[i]
	number := b.first + int64(i)
	if len(b.numbers) > 0 {
		number = b.numbers[i]
	}
	LoadRecord(p, r, b.buf[r.Off:r.Off+r.Cap:r.Off+r.Cap], number)
}

// LoadRecord makes p a packet of the record r, with frame as its bytes and
// number as its place in the capture, ready to be decoded. The rest of p may
// hold an earlier packet: the decoder resets what it fills, which is cheaper
// than clearing all of it here.
func LoadRecord(p *decode.Packet, r *Record, frame []byte, number int64) {
	p.Number, p.Time = number, r.Time
	p.Data, p.Wire = frame, r.Wire
	p.Iface, p.Link, p.Lost = r.Iface, r.Link, r.Lost
	p.Dir = decode.Dir(r.Dir)
	p.Flags = 0
	if r.Flags != 0 {
		if r.Flags&RecordNoTime != 0 {
			p.Flags |= decode.FlagNoTime
		}
		if r.Flags&RecordTruncated != 0 {
			p.Flags |= decode.FlagTruncated
		}
		if r.Flags&RecordRxError != 0 {
			p.Flags |= decode.FlagRxError
		}
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}

// mix is a 64-bit multiply-and-fold hash step (the wyhash construction):
// cheap, and good enough in the high bits to choose partitions by.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return hi ^ lo
}

// pairHash is equal for both directions of a host pair: an RC request doesn't
// carry its source QPN, so both must meet in one partition.
func pairHash(p *decode.Packet) uint64 {
	a := mix(p.Src.Hi, p.Src.Lo)
	b := mix(p.Dst.Hi, p.Dst.Lo)
	return mix(a^b, a+b)
}

// flowHash tells the flows of a host pair apart.
func flowHash(pair uint64, p *decode.Packet) uint64 {
	var id uint64
	if p.Kind == decode.KindTCP {
		id = uint64(p.SrcPort)<<16 | uint64(p.DstPort)
	} else {
		id = uint64(p.RoCE.BTH.DestQP)
	}
	return mix(pair^p.Dst.Lo, id<<24|uint64(p.Kind)<<16|uint64(p.Iface))
}
