// Package taps recognises a packet that several interfaces of a capture saw,
// and tells what was changed in it on the way between them: DSCP rewritten, ECN
// bleached (METRICS §7).
//
// The invariant CRC is what makes it possible: it leaves out just what hops may
// change (TTL, DSCP, ECN, checksums, FECN and BECN), so a packet keeps it from
// end to end. Together with the destination QPN, PSN, opcode, IP identification
// and length it names one sending of one packet.
//
// Nothing is stored while the capture has one interface (Expect), and then only
// the newest packets: a fixed table in which a newer packet takes an older one's
// place. What it forgot is not compared, never compared wrongly. Where nobody
// told of a second interface it counts from its first packet, so that the copies
// of this one and of those before aren't compared.
package taps

import (
	"encoding/binary"
	"math"

	"rdmascope/analysis/slab"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// slots is how many packets are remembered: between two taps of one fabric lie
// microseconds, between the clocks of two files more.
const slots = 1 << 12

// identity names one sending of one packet.
type identity struct {
	icrc   uint32
	psn    uint32 // with the opcode in its upper octet
	qpn    uint32
	ipid   uint16
	length uint16
}

// sighting is a packet as an interface saw it: two of them fill a cache line.
type sighting struct {
	identity
	flow   int32
	iface  uint16
	tos    uint8
	ttl    uint8
	packet int64 // its number, twice, and 1 when any sighting of it was CE; 0: an empty slot
}

func (s *sighting) number() int64 { return s.packet >> 1 }

func (s *sighting) ce() bool { return s.packet&1 != 0 }

// Field is what was changed.
type Field uint8

// Fields.
const (
	FieldDSCP Field = iota
	FieldECN
)

// Change is what happened to packets of a flow on their way from one interface
// to another.
type Change struct {
	Field         Field
	Flow          int32  // as seen at From
	From, To      uint16 // interfaces, in the order of travel as far as is known
	Before, After uint8
	Packets       int64
	FirstPacket   int64 // number of the first changed packet, as seen at To
	FirstTime     int64
	LastTime      int64
	// ByTTL: a lower TTL at To proves the order; else it is that of the capture,
	// which clocks of two files may turn round.
	ByTTL bool
}

// Bleached tells whether a change of ECN lost what a hop had said: CE taken
// back, or the capability itself (RFC 3168, section 5: only ECT to CE is a
// change that a router may make).
func (c *Change) Bleached() bool {
	const notECT, ce = 0, 3
	return c.Field == FieldECN && (c.Before == ce || c.Before != notECT && c.After == notECT)
}

// maxChanges bounds the list of one tracker.
const maxChanges = 256

// Tracker compares the sightings of one shard's packets. All sightings of a
// packet must come to one tracker.
type Tracker struct {
	any, several bool
	first        uint16 // interface of the first packet
	table        []sighting

	changes []Change
	gone    []Change // of flows that were forgotten, which is their Flow: -1
	flows   slab.Slab[flow]
	nobody  flow
	newest  int64 // packet
	dropped int64
}

// flow is what is known of one flow.
type flow struct {
	compared uint32 // packets that were seen elsewhere as well, saturated
	ceMissed uint32 // of these: CE there and not here
	born     int64  // sightings up to this packet are of an earlier owner of its id
}

// New returns an empty tracker.
func New() *Tracker { return &Tracker{} }

// Expect tells how many interfaces the capture has, as far as is known.
func (t *Tracker) Expect(interfaces int) { t.several = t.several || interfaces > 1 }

// Packet takes a RoCE packet of a flow.
func (t *Tracker) Packet(p *wire.Packet, flow int32) {
	if !t.several {
		switch {
		case !t.any:
			t.any, t.first = true, p.Iface
			return
		case p.Iface == t.first:
			return
		}
		t.several = true
	}
	if t.table == nil {
		t.table = make([]sighting, slots)
	}
	t.newest = p.Number
	s, ok := sightingOf(p, flow)
	if !ok {
		return
	}
	slot := &t.table[s.hash()%slots]
	if slot.packet == 0 || slot.identity != s.identity || slot.iface == s.iface || t.isGone(slot) {
		*slot = s
		return
	}
	t.compare(slot, &s, p)
}

// sightingOf takes what names the packet; not ok when the capture cut its iCRC
// off, or it is corrupt.
func sightingOf(p *wire.Packet, flow int32) (sighting, bool) {
	end := int(p.TransOff) + int(p.TransLen)
	if p.ICRC == roce.ICRCBad || !p.Has(wire.FlagNet) || p.TransLen < roce.BTHLen+roce.ICRCLen || end > len(p.Data) {
		return sighting{}, false
	}
	h := &p.RoCE.BTH
	packet := p.Number << 1
	if p.ECN() == 3 {
		packet |= 1
	}
	return sighting{
		identity: identity{icrc: binary.BigEndian.Uint32(p.Data[end-roce.ICRCLen:]), psn: uint32(h.Opcode)<<24 | uint32(h.PSN),
			qpn: uint32(h.DestQP), ipid: p.IPID, length: uint16(p.TransLen)},
		packet: packet, flow: flow, iface: p.Iface, tos: p.TOS, ttl: p.TTL,
	}, true
}

func (s *sighting) hash() uint32 {
	x := uint64(s.icrc)<<32 | uint64(s.psn)
	x ^= uint64(s.qpn)<<16 ^ uint64(s.ipid)
	x *= 0x9e3779b97f4a7c15
	return uint32(x >> 32)
}

// compare holds a packet's second sighting against its first. The first stays
// in the table, for a third.
func (t *Tracker) compare(old, now *sighting, p *wire.Packet) {
	count(&t.flow(old.flow).compared)
	count(&t.flow(now.flow).compared)
	switch {
	case now.ce() && !old.ce():
		count(&t.flow(old.flow).ceMissed)
		old.packet |= 1
	case old.ce() && !now.ce():
		count(&t.flow(now.flow).ceMissed)
	}
	if old.tos == now.tos {
		return
	}
	from, to := old, now
	if old.ttl < now.ttl {
		from, to = now, old
	}
	c := Change{Flow: from.flow, From: from.iface, To: to.iface, ByTTL: from.ttl != to.ttl, Packets: 1, FirstPacket: to.number(), FirstTime: p.Time, LastTime: p.Time}
	if from.tos>>2 != to.tos>>2 {
		c.Field, c.Before, c.After = FieldDSCP, from.tos>>2, to.tos>>2
		t.note(c)
	}
	if from.tos&3 != to.tos&3 {
		c.Field, c.Before, c.After = FieldECN, from.tos&3, to.tos&3
		t.note(c)
	}
}

// flow is the state of a flow; what belongs to none has one too, the last.
func (t *Tracker) flow(id int32) *flow {
	if id < 0 {
		return &t.nobody
	}
	if int(id) >= t.flows.Len() {
		t.flows.Grow(id)
	}
	return t.flows.At(id)
}

func count(n *uint32) {
	if *n != math.MaxUint32 {
		*n++
	}
}

// isGone tells whether a packet's flow was forgotten since.
func (t *Tracker) isGone(s *sighting) bool {
	return s.flow >= 0 && int(s.flow) < t.flows.Len() && s.number() <= t.flows.At(s.flow).born
}

func (t *Tracker) note(c Change) {
	if !add(&t.changes, c) {
		t.dropped++
	}
}

// add counts a change in a list; not ok when there is no room for a new one.
func add(list *[]Change, c Change) bool {
	for i := range *list {
		o := &(*list)[i]
		if o.Field == c.Field && o.Flow == c.Flow && o.From == c.From && o.To == c.To && o.Before == c.Before && o.After == c.After && o.ByTTL == c.ByTTL {
			if c.FirstPacket < o.FirstPacket {
				o.FirstPacket, o.FirstTime = c.FirstPacket, c.FirstTime
			}
			o.Packets += c.Packets
			o.LastTime = max(o.LastTime, c.LastTime)
			return true
		}
	}
	if len(*list) >= maxChanges {
		return false
	}
	*list = append(*list, c)
	return true
}
