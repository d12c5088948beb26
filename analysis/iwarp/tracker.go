package iwarp

import (
	"encoding/binary"
	"slices"

	"rdmascope/decode/wire"
)

const (
	flagFin = wire.TCPFin
	flagSyn = wire.TCPSyn
	flagRst = wire.TCPRst
	flagAck = wire.TCPAck
)

// Tracker follows the TCP connections of one shard. It belongs to one
// goroutine.
type Tracker struct {
	opt   Options
	table table
	logs  pendingLogs

	conns      []*conn // by place; nil where free
	freePlaces []int32
	spare      []*conn // candidates given up, for the next
	candidates []int32 // places, oldest first
	proved     int
	closed     []*conn // earlier incarnations
	now        int64   // newest packet but those of plain connections

	pool     chunkPool
	sumsGood bool // a right TCP checksum was seen: wrong ones mean something
	// headersGood is the same for IPv4 headers: offloading hosts may leave these
	// open too.
	headersGood bool
	scratch     []byte
	seg         segment // of the packet in hand
	event       Event
	ev          Evictions
}

// Evictions counts what the caps threw out.
type Evictions struct {
	Entries     int64 // connections forgotten before they proved to be anything
	Candidates  int64 // searches ended because others began
	Pending     int64
	Connections int64 // iWARP connections: their figures are lost
	Buffers     int64 // holes given up because too much waited behind them
	Holes       int64 // holes too many to be followed at a time
	Records     int64 // segments, messages or reads too many to be followed at a time
}

// New returns a Tracker.
func New(opt Options) *Tracker {
	t := &Tracker{opt: opt.withDefaults()}
	t.table.limit = t.opt.Entries
	t.pool.limit = t.opt.TotalBuffer / chunkLen
	return t
}

// Packet takes every TCP packet of the shard, in capture order. Others, and
// fragments without a header, are passed over.
func (t *Tracker) Packet(p *wire.Packet) {
	if p.Kind != wire.KindTCP || p.TransOff == 0 || p.Flags&wire.FlagLaterFragment != 0 {
		return
	}
	k, from := keyOf(p)
	hash := k.hash()
	e := t.table.find(&k, hash)
	if e != nil && e.stage == plain && p.TCP.Flags&flagSyn == 0 && !startsWithKey(p) {
		e.recent, e.seen = true, coarsely(p.Time)
		e.closed = e.closed || p.TCP.Flags&(flagRst|flagFin) != 0
		return
	}
	t.follow(p, e, &k, hash, from)
}

// startsWithKey tells whether a segment may begin an MPA start-up frame: both
// keys begin with "MPA ID R".
func startsWithKey(p *wire.Packet) bool {
	b := p.TCPPayload()
	return len(b) >= 8 && binary.BigEndian.Uint64(b) == 0x4d50412049442052
}

// follow takes a packet that isn't plain.
func (t *Tracker) follow(p *wire.Packet, e *entry, k *Key, hash uint32, from uint8) {
	s := &t.seg
	s.read(p, from)
	t.sumsGood = t.sumsGood || s.check == wire.CheckOK
	t.headersGood = t.headersGood || s.hasID && !s.ipBad
	if e == nil {
		if t.headersGood && s.ipBad || t.sumsGood && s.check == wire.CheckBad {
			return // what a bit error names may be no connection at all
		}
		e = t.entry(k, hash)
	}
	e.recent, e.seen = true, coarsely(s.time)
	t.now = max(t.now, s.time)
	if s.flags&flagSyn != 0 && t.renewed(e, s) {
		t.renew(e)
	}
	e.closed = e.closed || s.flags&(flagRst|flagFin) != 0
	b := p.TCPPayload()
	if e.stage == pending {
		if s.length == 0 {
			t.logs.logs[e.at].add(s)
			return
		}
		if !t.mayBegin(&t.logs.logs[e.at], s, b) {
			t.settle(e)
			return
		}
	}
	c := t.conn(e)
	c.packet(s, b)
	t.judge(e, c)
}

// entry adds a connection in the pending stage.
func (t *Tracker) entry(k *Key, hash uint32) *entry {
	if t.table.full() {
		if v := t.table.victim(); v != nil {
			t.ev.Entries++
			t.forget(v)
		}
	}
	e := t.table.add(k, hash)
	t.pend(e)
	return e
}

// pend gives an entry an empty log; at the cap another one becomes plain for it.
func (t *Tracker) pend(e *entry) {
	if t.logs.used() >= t.opt.Pending {
		l := t.logs.next()
		t.ev.Pending++
		t.settle(t.table.find(&l.key, l.hash))
	}
	e.stage, e.at = pending, t.logs.take(&e.key, e.hash)
}

// settle makes an entry plain.
func (t *Tracker) settle(e *entry) {
	switch e.stage {
	case pending:
		t.logs.give(e.at)
	case candidate:
		t.dropCandidate(e.at)
	}
	e.stage, e.at = plain, 0
}

// forget takes an entry out of the table.
func (t *Tracker) forget(e *entry) {
	t.settle(e)
	t.table.remove(e)
}

// mayBegin tells whether the first payload of a pending connection leaves iWARP
// possible. Where the SYN was seen, the first octets must be a start-up frame's;
// else, and where octets are missing before them, FPDUs may stand anywhere.
func (t *Tracker) mayBegin(l *pendingLog, s *segment, b []byte) bool {
	if s.flags&flagSyn != 0 || !l.started[s.from] || s.seq != l.start[s.from] {
		return true
	}
	const key = "MPA ID R"
	n := min(len(b), len(key))
	return string(b[:n]) == key[:n]
}

// renewed tells whether a SYN opens a new connection on the ports of an old one.
func (t *Tracker) renewed(e *entry, s *segment) bool {
	switch e.stage {
	case plain:
		return true
	case pending:
		l := &t.logs.logs[e.at]
		return l.started[s.from] && l.start[s.from] != s.seq+1
	case candidate, proved:
		return t.conns[e.at].renewedBy(s)
	}
	return false
}

// renew begins the next incarnation of an entry.
func (t *Tracker) renew(e *entry) {
	if e.stage == proved {
		c := t.conns[e.at]
		c.finish()
		t.closed = append(t.closed, c)
		t.release(e.at)
	} else {
		t.settle(e)
	}
	e.incarnation++
	e.closed = false
	t.pend(e)
}

// conn returns an entry's connection; one that had none becomes a candidate,
// and what was logged is replayed.
func (t *Tracker) conn(e *entry) *conn {
	if e.stage == candidate || e.stage == proved {
		return t.conns[e.at]
	}
	var log pendingLog
	if e.stage == pending {
		log = t.logs.logs[e.at]
		t.logs.give(e.at)
	}
	if len(t.candidates) >= t.opt.Candidates {
		t.evictCandidate()
	}
	c := t.newConn(e)
	t.candidates = append(t.candidates, e.at)
	for i := range log.n {
		c.packet(&log.first[i], nil)
	}
	for i := range c.dir {
		c.dir[i].packets += log.rest[i].packets
		c.dir[i].wire += log.rest[i].wire
	}
	return c
}

// newConn puts a fresh connection in place.
func (t *Tracker) newConn(e *entry) *conn {
	var c *conn
	if n := len(t.spare) - 1; n >= 0 {
		c, t.spare = t.spare[n], t.spare[:n]
	} else {
		c = new(conn)
	}
	c.init(t, e.key, e.incarnation)
	if n := len(t.freePlaces) - 1; n >= 0 {
		e.at, t.freePlaces = t.freePlaces[n], t.freePlaces[:n]
		t.conns[e.at] = c
	} else {
		e.at = int32(len(t.conns))
		t.conns = append(t.conns, c)
	}
	e.stage = candidate
	return c
}

// judge promotes a candidate, or gives it up.
func (t *Tracker) judge(e *entry, c *conn) {
	if e.stage != candidate {
		return
	}
	switch {
	case c.isRDMA():
		t.unlist(e.at)
		e.stage = proved
		if t.proved++; t.proved > t.opt.Connections {
			t.evictConnection(c)
		}
	case c.dataSegments() >= t.opt.SearchSegments || c.searched >= t.opt.SearchOctets:
		t.settle(e)
	}
}

// evictCandidate gives up the candidate that began first.
func (t *Tracker) evictCandidate() {
	c := t.conns[t.candidates[0]]
	t.ev.Candidates++
	t.settle(t.table.find(&c.key, c.hash))
}

// dropCandidate lets a candidate's state go.
func (t *Tracker) dropCandidate(at int32) {
	c := t.conns[at]
	c.letGo()
	t.unlist(at)
	t.conns[at] = nil
	t.freePlaces = append(t.freePlaces, at)
	t.recycle(c)
}

func (t *Tracker) unlist(at int32) {
	for i, x := range t.candidates {
		if x == at {
			t.candidates = append(t.candidates[:i], t.candidates[i+1:]...)
			return
		}
	}
}

// release frees the place of a proved connection.
func (t *Tracker) release(at int32) {
	t.conns[at] = nil
	t.freePlaces = append(t.freePlaces, at)
}

// recycle keeps the memory of a connection that nobody asks for any more.
func (t *Tracker) recycle(c *conn) {
	if len(t.spare) < t.opt.Candidates {
		t.spare = append(t.spare, c)
	}
}

// evictConnection drops the iWARP connection that was silent longest: a closed
// one first.
func (t *Tracker) evictConnection(keep *conn) {
	t.ev.Connections++
	t.proved--
	if len(t.closed) > 0 {
		t.tellEvicted(t.closed[0])
		t.closed = slices.Delete(t.closed, 0, 1)
		return
	}
	var worst *conn
	for _, c := range t.conns {
		if c != nil && c != keep && c.isRDMA() && (worst == nil || c.lastTime < worst.lastTime) {
			worst = c
		}
	}
	if worst == nil {
		return
	}
	t.tellEvicted(worst)
	worst.letGo()
	e := t.table.find(&worst.key, worst.hash)
	t.release(e.at)
	e.stage = plain
	t.table.remove(e)
	t.recycle(worst)
}

func (t *Tracker) tellEvicted(c *conn) {
	if t.opt.Evicted != nil {
		t.opt.Evicted(c.figures(t.now))
	}
}

// Finish tells that no packet will follow: what waits behind holes is read as
// far as it goes. Result may be called before and after.
func (t *Tracker) Finish() {
	for i := range t.table.entries {
		if e := &t.table.entries[i]; e.stage == candidate || e.stage == proved {
			c := t.conns[e.at]
			c.finish()
			t.judge(e, c)
		}
	}
}
