package cm

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// DefaultMaxDialogues is how many dialogues a tracker remembers unless told
// otherwise.
const DefaultMaxDialogues = 4096

// Options set the tracker's bounds.
type Options struct {
	MaxDialogues int // 0: DefaultMaxDialogues
	// IdleNS is how long a dialogue without a message is remembered, whether it
	// is over or its connection goes on: 0 is until the table is full. A message
	// that comes later begins another dialogue.
	IdleNS int64
}

// Tracker follows the dialogues of one shard.
type Tracker struct {
	max    int
	idle   int64
	events Events

	entries []entry
	index   map[commKey]int32 // the newest dialogue in which an end uses an ID
	free    []int32
	// oldest and newest are the ends of the list by last activity.
	oldest, newest int32
	next           int64 // number of the next dialogue

	evicted int64
	expired [NoReply + 1]int64
	mads    madCounts
	faults  Faults
	mad     roce.MAD // reused, as are the next two
	cm      roce.CM
	msg     message
}

// entry is a dialogue with what the tracker needs beside it.
type entry struct {
	Dialogue
	number     int64
	prev, next int32 // by last activity; -1 ends the list
	sidr       bool
	told       told
	parted     bool
	last       fingerprint
}

type told uint8

const (
	toldNothing told = iota
	toldPart
	toldAll
)

// commKey finds a dialogue: owner calls it comm in messages to peer.
type commKey struct {
	iface       uint16
	sidr        bool // request IDs of SIDR are a space of their own
	owner, peer wire.Addr
	comm        uint32
}

// fingerprint tells the same packet captured twice from a message sent twice.
// A resend takes a new PSN on the UD queue pair.
type fingerprint struct {
	kind Kind
	from Side
	ipid uint16
	psn  uint32
	time int64
}

// copyWindow is how close in time copies of a packet are (METRICS §1).
const copyWindow = 1e6

// none ends a list.
const none = -1

// New returns a tracker that reports to ev.
func New(o Options, ev Events) *Tracker {
	if o.MaxDialogues <= 0 {
		o.MaxDialogues = DefaultMaxDialogues
	}
	return &Tracker{max: o.MaxDialogues, idle: max(o.IdleNS, 0), events: ev, index: make(map[commKey]int32), oldest: none, newest: none}
}

// Packet takes a packet to queue pair 1. Others are passed over.
func (t *Tracker) Packet(p *wire.Packet) {
	if !p.RoCE.CarriesMAD() || p.RoCE.BTH.DestQP != roce.QPNGSI {
		return
	}
	if !t.read(p) {
		return
	}
	t.Age(p.Time)
	m := &t.msg
	i := t.find(p, m)
	if i == none {
		i = t.open(p, m)
	}
	t.touch(i)
	t.take(i, p, m)
}

// find looks up the dialogue that a message belongs to.
func (t *Tracker) find(p *wire.Packet, m *message) int32 {
	sidr := m.sidr()
	switch m.kind {
	case REQ, SIDRREQ:
		i := t.lookup(commKey{p.Iface, sidr, p.Src, p.Dst, m.local})
		if i == none || t.entries[i].TransactionID != m.tid {
			return none // the same ID with another transaction: IDs come back
		}
		return i
	case SIDRREP: // names only the requester's ID
		return t.lookup(commKey{p.Iface, sidr, p.Dst, p.Src, m.local})
	}
	if m.local != 0 {
		if i := t.lookup(commKey{p.Iface, sidr, p.Src, p.Dst, m.local}); i != none && t.fits(i, p, m) {
			return i
		}
	}
	if m.remote != 0 {
		if i := t.lookup(commKey{p.Iface, sidr, p.Dst, p.Src, m.remote}); i != none && t.fits(i, p, m) {
			return i
		}
	}
	return none
}

func (t *Tracker) lookup(k commKey) int32 {
	if i, ok := t.index[k]; ok {
		return i
	}
	return none
}

// fits tells whether both IDs of a message agree with what the dialogue knows:
// one alone may be of an earlier user of the ID.
func (t *Tracker) fits(i int32, p *wire.Packet, m *message) bool {
	d := &t.entries[i].Dialogue
	from := d.sender(p)
	near, far := d.end(from), d.end(from.other())
	if near.HasCommID && m.local != 0 && near.CommID != m.local {
		return false
	}
	return !far.HasCommID || m.remote == 0 || far.CommID == m.remote
}

// sender is the side that sent p.
func (d *Dialogue) sender(p *wire.Packet) Side {
	if p.Src == d.A.Addr && (p.Dst == d.B.Addr || d.A.Addr != d.B.Addr) {
		return A
	}
	return B
}

// open begins a dialogue with the first message seen of it.
func (t *Tracker) open(p *wire.Packet, m *message) int32 {
	if len(t.entries)-len(t.free) >= t.max {
		t.evicted++
		t.drop(t.oldest, p.Time)
	}
	var i int32
	if n := len(t.free); n > 0 {
		i, t.free = t.free[n-1], t.free[:n-1]
	} else {
		i = int32(len(t.entries))
		t.entries = append(t.entries, entry{})
	}
	a, b := p.Src, p.Dst
	if m.byResponder() {
		a, b = b, a
	}
	e := &t.entries[i]
	*e = entry{number: t.next, prev: none, next: none, sidr: m.sidr(), last: fingerprint{kind: kindCount}}
	t.next++
	e.Dialogue = Dialogue{
		Iface: p.Iface, Transport: p.Kind, TransactionID: m.tid,
		A: End{Addr: a}, B: End{Addr: b}, InitiatorKnown: m.tellsInitiator(),
		FirstTime: p.Time, FirstPacket: p.Number, LastTime: p.Time, LastPacket: p.Number,
	}
	t.link(i)
	return i
}

// Age drops the dialogues that were idle for too long at time now. Packet does
// so too: it is for captures in which none comes.
func (t *Tracker) Age(now int64) {
	if t.idle == 0 {
		return
	}
	for t.oldest != none && now-t.entries[t.oldest].LastTime > t.idle {
		t.expired[t.drop(t.oldest, now)]++
	}
}

// drop forgets a dialogue and returns the state that it had come to.
func (t *Tracker) drop(i int32, now int64) State {
	e := &t.entries[i]
	d := e.Dialogue
	if d.noReply(now) {
		d.State = NoReply
	}
	if t.events.Drop != nil {
		t.events.Drop(&d)
	}
	for _, s := range [...]Side{A, B} {
		if k := e.key(s); e.end(s).HasCommID && t.lookup(k) == i {
			delete(t.index, k)
		}
	}
	t.unlink(i)
	t.entries[i] = entry{}
	t.free = append(t.free, i)
	return d.State
}

func (e *entry) key(s Side) commKey {
	near, far := e.end(s), e.end(s.other())
	return commKey{e.Iface, e.sidr, near.Addr, far.Addr, near.CommID}
}

// link appends i to the list by activity, unlink takes it out.
func (t *Tracker) link(i int32) {
	e := &t.entries[i]
	e.prev, e.next = t.newest, none
	if t.newest != none {
		t.entries[t.newest].next = i
	} else {
		t.oldest = i
	}
	t.newest = i
}

func (t *Tracker) unlink(i int32) {
	e := &t.entries[i]
	if e.prev != none {
		t.entries[e.prev].next = e.next
	} else {
		t.oldest = e.next
	}
	if e.next != none {
		t.entries[e.next].prev = e.prev
	} else {
		t.newest = e.prev
	}
}

func (t *Tracker) touch(i int32) {
	if t.newest != i {
		t.unlink(i)
		t.link(i)
	}
}
