package rc

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// FlowKey names one direction of a connection at one interface. A BTH has no
// source QPN, so this is all that a packet tells.
type FlowKey struct {
	Iface    uint16
	Kind     wire.Kind
	Src, Dst wire.Addr
	DestQP   uint32
}

// flow is one direction: requests of one queue pair and the responses that it
// gives to the requests of the other. It is four cache lines and what a packet
// touches is in the first of them, and in the second or third for the newest
// sightings; a pair of flows without trouble has nothing else but one requester
// for each direction that has requests.
type flow struct {
	// every packet
	own      *requester // its requests; nil until there is one
	ans      *requester // the one that its responses answer; nil until partner and requests are known
	opt      *Options
	packets  uint64
	lastTime int64
	order    orderCheck
	port     uint16
	flags    flowFlags

	near [nearSightings]sighting

	table       []sighting // of the newest sightings, once near is too small
	peer        *flow
	grp         *group
	more        *flowMore
	wait        *waiting // as long as the partner isn't known
	id          int32
	incarnation int32

	src, dst            wire.Addr
	qpn                 uint32 // with the kind in the high octet
	iface               uint16
	method              Method
	confidence          Confidence
	firstTime, firstNum int64
	cm                  *CMConnect
}

// flowMore is what only some flows have.
type flowMore struct {
	duplicates    uint64
	capturedTwice uint64  // copies whose hop fields differ
	corrupt       damaged // the newest packet with a bad iCRC
	dropped       uint64  // responses that waited too long for a partner
	reused        Moment  // began anew on the same queue pair
	closed        Moment
}

// waiting is what a flow has until its partner is known: the events to come
// later, and what pairing by PSN needs.
type waiting struct {
	events eventList
	place  int32 // in the group's list
	cands  []candidate
}

type flowFlags uint16

const (
	flowManyPorts flowFlags = 1 << iota
	flowGood                // a packet with a good or unchecked iCRC was seen
	flowAnswers             // a response was seen on it
	flowUC
	flowCutAcks // an ACKNOWLEDGE was cut before its syndrome: an ACK and a NAK look alike
	flowPrimed  // events are replayed whose identifications were looked at ahead
	flowOneWay  // the partner is not known and its responses never came
	flowGrown   // table is in use
	flowBoth    // … and has a half each for requests and responses
	flowSide    // direction in the group
	flowHint    // from here on three bits: code of the path MTU that CM or the other direction tells
	flowHints   = 7 * flowHint
)

func (f *flow) is(x flowFlags) bool { return f.flags&x != 0 }

// half is what pairing needs of a flow without partner: of its requests, and its
// first port.
type half struct {
	lo, hi roce.PSN // first PSN, behind the highest
	mtu    uint32
	port   uint16
	have   bool // a request was seen
}

func (f *flow) key() FlowKey {
	return FlowKey{f.iface, wire.Kind(f.qpn >> 24), f.src, f.dst, f.qpn & 0xffffff}
}

func (f *flow) side() int {
	if f.is(flowSide) {
		return 1
	}
	return 0
}

// hint returns the path MTU that was told, in octets; 0 for none.
func (f *flow) hint() uint32 { return uint32(roce.MTU(f.flags / flowHint).Bytes()) }

func (f *flow) setHint(octets uint32) {
	if code, ok := roce.MTUFromBytes(int(octets)); ok {
		f.flags = f.flags&^flowHints | flowFlags(code)*flowHint
	}
}

func (f *flow) rare() *flowMore {
	if f.more == nil {
		f.more = new(flowMore)
	}
	return f.more
}

var noMore flowMore

// told is rare to be read only.
func (f *flow) told() *flowMore {
	if f.more == nil {
		return &noMore
	}
	return f.more
}

// requester returns the flow's requester and makes it if need be.
func (f *flow) requester() *requester {
	if f.own == nil {
		f.own = &requester{f: f, id: f.id, opt: f.opt, uc: f.is(flowUC), oneWay: f.is(flowOneWay)}
		if f.peer != nil {
			f.peer.ans = f.own
		}
		if f.is(flowAnswers) {
			f.both()
		}
	}
	return f.own
}

// answered returns the requester that the flow's responses answer.
func (f *flow) answered() *requester {
	if f.ans == nil {
		f.peer.requester()
	}
	return f.ans
}

// followAlone tells whether nothing answers the flow, as far as is known.
func (f *flow) followAlone(yes bool) {
	f.flags &^= flowOneWay
	if yes {
		f.flags |= flowOneWay
	}
	if f.own != nil {
		f.own.oneWay = yes
	}
}

// note keeps the times and ports of the flow.
func (f *flow) note(e *event) {
	if f.packets == 0 {
		f.firstTime, f.firstNum, f.port = e.time, e.num, e.port
	} else if e.port != f.port && !e.has(evCorrupt) {
		f.flags |= flowManyPorts
	}
	f.packets++
	f.lastTime = max(f.lastTime, e.time)
	if e.has(evCorrupt) {
		return
	}
	f.flags |= flowGood
	if e.has(evUC) {
		f.flags |= flowUC
	}
	if e.has(evResponse) && !f.is(flowAnswers) {
		f.flags |= flowAnswers
		if f.own != nil {
			f.both()
		}
	}
}

// deliver takes an event that needn't wait: the partner is known, or never
// will be.
func (f *flow) deliver(e *event) {
	if e.has(evCorrupt) {
		if f.corruptCopy(e) {
			return
		}
	} else {
		if first, hop, yes := f.repeat(e, f.opt.CopyWindowNS); yes && !f.resend(e, first) {
			f.copied(e, hop)
			return
		}
	}
	if f.is(flowPrimed) {
		f.noteAhead(e)
	} else {
		o := &f.order
		if o.seen && e.has(evIPID) && serial16(e.ipid, o.max) < 0 && o.usable() {
			e.flags |= evLate
		}
		o.note(e)
	}
	switch {
	case e.has(evRequest):
		f.requester().request(e)
	case f.peer != nil:
		f.answered().response(e)
	default:
		f.rare().dropped++
	}
}

// noteAhead is for an event whose identification has been counted: only the
// newest so far is kept, not that of what waits.
func (f *flow) noteAhead(e *event) {
	if !e.has(evIPID) {
		return
	}
	o := &f.order
	if !o.seen || serial16(e.ipid, o.max) > 0 {
		o.max = e.ipid
	} else if o.usable() {
		e.flags |= evLate
	}
	o.seen = true
}

// resend tells a packet that was sent again byte by byte, which only a sender
// with a constant identification can do, from a copy: it follows a NAK that
// asks for it (METRICS §1). Other senders give a packet that they send again a
// new identification.
func (f *flow) resend(e *event, first int64) bool {
	if !e.has(evRequest) || f.own == nil || f.own.t == nil || f.order.tells() {
		return false
	}
	x := &f.own.t.tap
	asked := func(psn roce.PSN, on bool) bool { return on && psn.Sub(e.psn) <= 0 }
	if asked(x.lastNAK.psn, x.lastNAK.valid && x.lastNAK.time >= first) {
		return true
	}
	return asked(x.rnrPSN, x.rnrOn)
}

// copied counts a copy; hop tells whether a hop rewrote something in between.
func (f *flow) copied(e *event, hop bool) {
	f.rare().duplicates++
	f.opt.mark(e.num, MarkDuplicate)
	if e.has(evRequest) {
		r := f.requester()
		r.count().copyAnswersDue++
		r.copyDue = true
	}
	if hop {
		f.rare().capturedTwice++
	}
}

// corruptCopy takes a packet with a bad iCRC that came twice: damaged once and
// captured, or doubled, after that. Its PSN may be anybody's, so it has no place
// among the sightings. Nobody answers it.
func (f *flow) corruptCopy(e *event) bool {
	m := f.rare()
	now := damaged{e.time, copyKey(e.psn, e.has(evResponse)), e.print, uint32(e.hop)}
	was := m.corrupt
	if was.key == now.key && was.print == now.print && now.time-was.time <= f.opt.CopyWindowNS && now.time >= was.time {
		m.duplicates++
		f.opt.mark(e.num, MarkDuplicate)
		if was.hop != now.hop {
			m.capturedTwice++
		}
		return true
	}
	m.corrupt = now
	return false
}

// damaged is a packet with a bad iCRC: when, which, and what a hop rewrites.
type damaged struct {
	time            int64
	key, print, hop uint32
}

// clone copies a flow so far that events can be tried on it.
func (f *flow) clone(opt *Options) *flow {
	c := *f
	c.opt = opt
	c.table = append([]sighting(nil), f.table...)
	if f.more != nil {
		m := *f.more
		c.more = &m
	}
	if f.wait != nil {
		w := *f.wait
		c.wait = &w
	}
	if f.own != nil {
		c.own = f.own.clone()
		c.own.f, c.own.opt = &c, opt
	}
	return &c
}

// cloneBoth copies two flows that belong together, or one whose partner isn't
// known.
func (s *Shard) cloneBoth(f, g *flow) (a, b *flow) {
	opt := s.quiet(f)
	a = f.clone(opt)
	a.peer, a.ans = nil, nil
	if g == nil {
		return a, nil
	}
	b = g.clone(opt)
	a.peer, b.peer = b, a
	a.ans, b.ans = b.own, a.own
	return a, b
}
