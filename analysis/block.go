package analysis

import (
	"math/bits"
	"slices"
	"sync/atomic"

	"rdmascope/analysis/pause"
	"rdmascope/analysis/rc"
	"rdmascope/decode/wire"
)

// partitions is how many ways the host pairs are split. It is fixed, so that
// neither the number of workers nor how partitions are grouped for them can
// change a result: caps and evictions apply per partition.
const partitions = 64

// block is a run of records and what became of them. It travels from the
// reader to every lane, and back to the pool.
type block struct {
	seq   int64 // order in the capture
	first int64 // number of its first packet, from 1
	buf   []byte
	recs  []Record
	// numbers of the packets in the whole capture, where the source delivers a
	// part of it; else empty, and they count on from first.
	numbers []int64
	start   int64 // time of the capture's first packet that has one
	// pkts are the packets of the records that had to be decoded to know where
	// they belong; a frame into which receive offload merged several has one for
	// each. at are the places of their records.
	pkts []wire.Packet
	at   []uint32

	control []uint32   // pause frames among pkts, for every lane
	lldp    []uint32   // LLDP among pkts, for the front
	lanes   [][]sorted // for each lane, in capture order

	totals totals
	clock  span     // of its packets
	speeds []uint64 // of the interfaces known when it was read, bit/s, 0 unknown

	marker  *marker      // a snapshot is to be taken after this block
	waiting atomic.Int32 // lanes that haven't consumed it
}

// sorted is a packet's place in a block, and the partition that it belongs to.
type sorted struct {
	hash  uint64 // of its flow
	at    uint32 // of the record, or with whole of the packet
	part  uint8
	whole bool // it is decoded
}

func newBlock(lanes int) *block { return &block{lanes: make([][]sorted, lanes)} }

// sort finds out who consumes the block's records. A plain RoCEv2 frame is only
// looked at for that: its lane decodes it when its turn comes, so that the
// packet, several times as long as what was captured of it, never leaves the
// first cache. Everything else is decoded here.
func (b *block) sort(d *wire.Decoder) {
	b.pkts, b.at = b.pkts[:0], b.at[:0]
	b.control, b.lldp = b.control[:0], b.lldp[:0]
	for i := range b.lanes {
		b.lanes[i] = b.lanes[i][:0]
	}
	b.totals.reset()
	b.clock = span{}
	var pair wire.Pair
	for i := range b.recs {
		r := &b.recs[i]
		if r.Flags&RecordNoTime == 0 {
			b.clock.add(r.Time)
		}
		if !d.Pair(r.Link, b.frame(i), &pair) {
			b.decode(d, i)
			continue
		}
		hash := pairHash(pair.Src, pair.Dst)
		part := uint8(hash >> 58)
		l := laneOf(part, len(b.lanes))
		b.lanes[l] = append(b.lanes[l], sorted{hash: flowHash(hash, pair.Dst, pair.DestQP, wire.KindRoCEv2, r.Iface), at: uint32(i), part: part})
	}
}

// decode decodes record i. Packets of one record share its number and its time.
func (b *block) decode(d *wire.Decoder, i int) {
	first := len(b.pkts)
	b.pkts = b.decodeTo(b.pkts, d, i, &b.totals)
	for k := first; k < len(b.pkts); k++ {
		b.at = append(b.at, uint32(i))
		b.place(k)
	}
}

// decodeTo decodes record i, counts it, and appends the packets that are in it.
func (b *block) decodeTo(pkts []wire.Packet, d *wire.Decoder, i int, t *totals) []wire.Packet {
	at := len(pkts)
	pkts = longer(pkts, 1)
	b.load(&pkts[at], i)
	d.Decode(&pkts[at])
	t.packet(&pkts[at])
	if pkts[at].Merged > 0 {
		pkts = split(pkts, d, t)
	}
	for k := at; k < len(pkts); k++ {
		if p := &pkts[k]; p.Kind.IsRoCE() && p.Has(wire.FlagBTH) {
			p.Print = rc.Fingerprint(p) // while its bytes are in the cache
		}
	}
	return pkts
}

// split appends the packets that were merged with the last one. There are never
// more than fit in the captured octets.
func split(pkts []wire.Packet, d *wire.Decoder, t *totals) []wire.Packet {
	at := len(pkts)
	more := int(pkts[at-1].Merged) - 1
	pkts = longer(pkts, more)
	first, found := &pkts[at-1], 0
	for found < more && d.Part(first, 1+found, &pkts[at+found]) {
		found++
	}
	first.Wire = first.AloneWire() // until here it stood for the whole frame
	t.merged(1+found, found == more)
	return pkts[:at+found]
}

// place notes who consumes packet k.
func (b *block) place(k int) {
	p := &b.pkts[k]
	switch {
	case p.Kind == wire.KindPFC || p.Kind == wire.KindPause:
		b.control = append(b.control, uint32(k))
	case p.Kind == wire.KindLLDP:
		b.lldp = append(b.lldp, uint32(k))
	case tracked(p):
		hash := pairHash(p.Src, p.Dst)
		part := uint8(hash >> 58)
		l := laneOf(part, len(b.lanes))
		b.lanes[l] = append(b.lanes[l], sorted{hash: flowHashOf(hash, p), at: uint32(k), part: part, whole: true})
	}
}

// tracked tells whether a partition wants to see p.
func tracked(p *wire.Packet) bool {
	return p.Kind.IsRoCE() && p.Has(wire.FlagBTH) || p.Kind == wire.KindTCP
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
func (b *block) load(p *wire.Packet, i int) {
	r := &b.recs[i]
	number := b.first + int64(i)
	if len(b.numbers) > 0 {
		number = b.numbers[i]
	}
	LoadRecord(p, r, b.frame(i), number)
}

// frame is what was captured of record i; what a lane is to decode is never empty.
func (b *block) frame(i int) []byte {
	r := &b.recs[i]
	return b.buf[r.Off : r.Off+r.Cap : r.Off+r.Cap]
}

// LoadRecord makes p a packet of the record r, with frame as its bytes and
// number as its place in the capture, ready to be decoded. The rest of p may
// hold an earlier packet: the decoder resets what it fills, which is cheaper
// than clearing all of it here.
func LoadRecord(p *wire.Packet, r *Record, frame []byte, number int64) {
	p.Number, p.Time = number, r.Time
	p.Data, p.Wire = frame, r.Wire
	p.Iface, p.Link, p.Lost = r.Iface, r.Link, r.Lost
	p.Dir = wire.Dir(r.Dir)
	p.Flags = 0
	if r.Flags != 0 {
		if r.Flags&RecordNoTime != 0 {
			p.Flags |= wire.FlagNoTime
		}
		if r.Flags&RecordTruncated != 0 {
			p.Flags |= wire.FlagTruncated
		}
		if r.Flags&RecordRxError != 0 {
			p.Flags |= wire.FlagRxError
		}
	}
}

// longer makes s longer by n; what the new ones hold is left from before.
func longer[T any](s []T, n int) []T { return slices.Grow(s, n)[:len(s)+n] }

// mix is a 64-bit multiply-and-fold hash step (the wyhash construction):
// cheap, and good enough in the high bits to choose partitions by.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0xa0761d6478bd642f, b^0xe7037ed1a0b428db)
	return hi ^ lo
}

// pairHash is equal for both directions of a host pair: an RC request doesn't
// carry its source QPN, so both must meet in one partition.
func pairHash(src, dst wire.Addr) uint64 {
	a := mix(src.Hi, src.Lo)
	b := mix(dst.Hi, dst.Lo)
	return mix(a^b, a+b)
}

// flowHash tells the flows of a host pair apart: those to one queue pair, or of
// TCP to one port.
func flowHash(pair uint64, dst wire.Addr, to uint32, kind wire.Kind, iface uint16) uint64 {
	return mix(pair^dst.Lo, uint64(to)<<24|uint64(kind)<<16|uint64(iface))
}

func flowHashOf(pair uint64, p *wire.Packet) uint64 {
	if p.Kind == wire.KindTCP {
		return flowHash(pair, p.Dst, uint32(p.SrcPort)<<16|uint32(p.DstPort), p.Kind, p.Iface)
	}
	return flowHash(pair, p.Dst, uint32(p.RoCE.BTH.DestQP), p.Kind, p.Iface)
}
