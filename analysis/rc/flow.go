package rc

import (
	"rdmascope/decode"
	"rdmascope/decode/roce"
)

// FlowKey names one direction of a connection at one interface. A BTH has no
// source QPN, so this is all that a packet tells.
type FlowKey struct {
	Iface    uint16
	Kind     decode.Kind
	Src, Dst decode.Addr
	DestQP   uint32
}

// flow is one direction: requests of one queue pair and the responses that it
// gives to the requests of the other.
type flow struct {
	peer      *flow
	packets   uint64
	lastTime  int64
	lastNum   int64
	port      uint16
	manyPorts bool
	good      bool // a packet with a good or unchecked iCRC was seen
	answers   bool // a response was seen on it
	uc        bool
	cutAcks   bool  // an ACKNOWLEDGE was cut before its syndrome: an ACK and a NAK look alike
	primed    int32 // events at hand whose identification was looked at ahead
	req       requester
	copies    copyTable

	id                  int32
	incarnation         int32
	key                 FlowKey
	grp                 *group
	side                int // direction in the group
	method              Method
	confidence          Confidence
	firstTime, firstNum int64
	duplicates          uint64
	capturedTwice       uint64 // copies whose hop fields differ
	dropped             uint64 // responses that waited too long for a partner
	opened, closed      Moment
	cm                  *CMConnect
	pend                []event
	half                half
	cands               []candidate
}

// half is what pairing by PSN needs of an unpaired flow's requests.
type half struct {
	have   bool
	lo, hi roce.PSN // first PSN, behind the highest
	since  int64
	mtu    uint32
}

func newFlow(id int32, key FlowKey, opt *Options) *flow {
	f := &flow{id: id, key: key}
	f.reset(opt)
	return f
}

// reset begins a new incarnation.
func (f *flow) reset(opt *Options) {
	f.req = requester{flow: f.id, order: orderCheck{opt: opt}}
	f.copies = copyTable{}
	f.req.order.sightings = &f.copies
}

// note keeps the times and ports of the flow.
func (f *flow) note(e *event) {
	if f.packets == 0 {
		f.firstTime, f.firstNum, f.port = e.time, e.num, e.port
	} else if e.port != f.port && !e.has(evCorrupt) {
		f.manyPorts = true
	}
	f.packets++
	f.lastTime, f.lastNum = max(f.lastTime, e.time), e.num
	if e.has(evCorrupt) {
		return
	}
	f.good = true
	if e.has(evUC) {
		f.uc = true
	}
	if e.has(evResponse) {
		f.answers = true
	}
}

// deliver takes an event that needn't wait: the partner is known, or never
// will be.
func (f *flow) deliver(e *event) {
	opt := f.req.opt()
	if !e.has(evCorrupt) {
		if first, hop, yes := f.copies.repeat(e, opt.CopyWindowNS); yes && !f.resend(e, first) {
			f.copied(e, hop)
			return
		}
	}
	o := &f.req.order
	if f.primed > 0 {
		if f.primed--; e.has(evIPID) { // the newest so far, not of what waits
			if !o.seen || serial16(e.ipid, o.max) > 0 {
				o.max = e.ipid
			} else if o.usable() {
				e.flags |= evLate
			}
			o.seen = true
		}
	} else {
		if o.seen && e.has(evIPID) && serial16(e.ipid, o.max) < 0 && o.usable() {
			e.flags |= evLate
		}
		o.note(e)
	}
	switch {
	case e.has(evRequest):
		f.req.request(e)
	case f.peer != nil:
		f.peer.req.response(e)
	default:
		f.dropped++
	}
}

// resend tells a packet that was sent again byte by byte, which only a sender
// with a constant identification can do, from a copy: it follows a NAK that
// asks for it (METRICS §1). Other senders give a packet that they send again a
// new identification.
func (f *flow) resend(e *event, first int64) bool {
	if !e.has(evRequest) || f.req.order.tells() {
		return false
	}
	x := &f.req.tap
	asked := func(psn roce.PSN, on bool) bool { return on && psn.Sub(e.psn) <= 0 }
	if asked(x.lastNAK.psn, x.lastNAK.valid && x.lastNAK.time >= first) {
		return true
	}
	return asked(x.rnrPSN, x.rnrOn)
}

// copied counts a copy; hop tells whether a hop rewrote something in between.
func (f *flow) copied(e *event, hop bool) {
	f.duplicates++
	if e.has(evRequest) {
		f.req.c.copyAnswersDue++
	}
	if hop {
		f.capturedTwice++
	}
}

// clone copies a flow so far that events can be tried on it.
func (f *flow) clone() *flow {
	c := *f
	c.copies.slots = append([]sighting(nil), f.copies.slots...)
	c.pend = append([]event(nil), f.pend...) // delivering changes them
	c.req = f.req.clone()
	c.req.order.sightings = &c.copies
	return &c
}

func (r *requester) clone() requester {
	c := *r
	c.msgs = r.msgs.clone()
	c.tap = r.tap.clone()
	c.rules.broken = append([]Violation(nil), r.rules.broken...)
	c.rsp = r.rsp.clone()
	for i, s := range r.lat {
		c.lat[i] = s.clone()
	}
	if r.sizes != nil {
		z := *r.sizes
		c.sizes = &z
	}
	c.t = r.t.clone()
	return c
}
