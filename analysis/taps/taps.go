// Package taps recognises a packet that several interfaces of a capture saw,
// and tells what was changed in it on the way between them: DSCP rewritten, ECN
// bleached (METRICS §7).
//
// The invariant CRC is what makes it possible: it leaves out just what hops may
// change (TTL, DSCP, ECN, checksums, FECN and BECN), so a packet keeps it from
// end to end. Together with the destination QPN, PSN, opcode, IP identification
// and length it names one sending of one packet.
//
// Nothing is stored until RoCE was seen on a second interface, and then only
// the newest packets: a fixed table in which a newer packet takes an older one's
// place. What it forgot is not compared, never compared wrongly.
package taps

import (
	"encoding/binary"
	"sort"

	"rdmascope/decode"
	"rdmascope/decode/roce"
)

// slots is how many packets are remembered: between two taps of one fabric lie
// microseconds, between the clocks of two files more.
const slots = 1 << 12

// identity names one sending of one packet.
type identity struct {
	icrc    uint32
	psn     uint32 // with the opcode in its upper octet
	qpn     uint32
	ipid    uint16
	length  uint16
	payload uint16
}

type sighting struct {
	identity
	number int64 // 0: an empty slot
	flow   int32
	iface  uint16
	tos    uint8
	ttl    uint8
	ce     bool // any sighting of it was CE
}

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

	changes  []Change
	compared map[int32]int64 // packets of a flow that were seen elsewhere as well
	ceMissed map[int32]int64 // … that were CE there and not here
	dropped  int64
}

// New returns an empty tracker.
func New() *Tracker { return &Tracker{} }

// Packet takes a RoCE packet of a flow.
func (t *Tracker) Packet(p *decode.Packet, flow int32) {
	if !t.several {
		switch {
		case !t.any:
			t.any, t.first = true, p.Iface
			return
		case p.Iface == t.first:
			return
		}
		t.several = true
		t.table = make([]sighting, slots)
		t.compared, t.ceMissed = map[int32]int64{}, map[int32]int64{}
	}
	s, ok := sightingOf(p, flow)
	if !ok {
		return
	}
	slot := &t.table[s.hash()%slots]
	if slot.number == 0 || slot.identity != s.identity || slot.iface == s.iface {
		*slot = s
		return
	}
	t.compare(slot, &s, p)
}

// sightingOf takes what names the packet; not ok when the capture cut its iCRC
// off, or it is corrupt.
func sightingOf(p *decode.Packet, flow int32) (sighting, bool) {
	end := int(p.TransOff) + int(p.TransLen)
	if p.ICRC == roce.ICRCBad || !p.Has(decode.FlagNet) || p.TransLen < roce.BTHLen+roce.ICRCLen || end > len(p.Data) {
		return sighting{}, false
	}
	h := &p.RoCE.BTH
	return sighting{
		identity: identity{icrc: binary.BigEndian.Uint32(p.Data[end-roce.ICRCLen:]), psn: uint32(h.Opcode)<<24 | uint32(h.PSN),
			qpn: uint32(h.DestQP), ipid: p.IPID, length: uint16(p.TransLen), payload: uint16(p.RoCE.PayloadLen)},
		number: p.Number, flow: flow, iface: p.Iface, tos: p.TOS, ttl: p.TTL, ce: p.ECN() == 3,
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
func (t *Tracker) compare(old, now *sighting, p *decode.Packet) {
	t.compared[old.flow]++
	t.compared[now.flow]++
	switch {
	case now.ce && !old.ce:
		t.ceMissed[old.flow]++
		old.ce = true
	case old.ce && !now.ce:
		t.ceMissed[now.flow]++
	}
	if old.tos == now.tos {
		return
	}
	from, to := old, now
	if old.ttl < now.ttl {
		from, to = now, old
	}
	c := Change{Flow: from.flow, From: from.iface, To: to.iface, ByTTL: from.ttl != to.ttl, Packets: 1, FirstPacket: to.number, FirstTime: p.Time, LastTime: p.Time}
	if from.tos>>2 != to.tos>>2 {
		c.Field, c.Before, c.After = FieldDSCP, from.tos>>2, to.tos>>2
		t.note(c)
	}
	if from.tos&3 != to.tos&3 {
		c.Field, c.Before, c.After = FieldECN, from.tos&3, to.tos&3
		t.note(c)
	}
}

func (t *Tracker) note(c Change) {
	for i := range t.changes {
		o := &t.changes[i]
		if o.Field == c.Field && o.Flow == c.Flow && o.From == c.From && o.To == c.To && o.Before == c.Before && o.After == c.After && o.ByTTL == c.ByTTL {
			o.Packets++
			o.LastTime = max(o.LastTime, c.LastTime)
			return
		}
	}
	if len(t.changes) >= maxChanges {
		t.dropped++
		return
	}
	t.changes = append(t.changes, c)
}

// Result is a tracker as it stands.
type Result struct {
	Changes  []Change        // by first packet
	Compared map[int32]int64 // by flow: sightings of its packets that were also seen elsewhere
	CEMissed map[int32]int64 // by flow: its packets that were CE elsewhere only
	Dropped  int64           // changes that there was no room to list
}

// Result returns what is known; it shares nothing that changes.
func (t *Tracker) Result() Result {
	r := Result{Changes: append([]Change(nil), t.changes...), Dropped: t.dropped}
	if t.several {
		r.Compared, r.CEMissed = copied(t.compared), copied(t.ceMissed)
	}
	sort.SliceStable(r.Changes, func(i, j int) bool { return r.Changes[i].FirstPacket < r.Changes[j].FirstPacket })
	return r
}

func copied(m map[int32]int64) map[int32]int64 {
	c := make(map[int32]int64, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}
