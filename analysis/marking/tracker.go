package marking

import (
	"rdmascope/decode"
	"rdmascope/decode/roce"
)

// Options are the settings; zero means the default in the comment.
type Options struct {
	AnswerNS  int64 // a CE mark must be answered, and a CNP have had one, within this: 1 ms
	RateNS    int64 // the sender's rate is taken over this before and after a CNP: 50 µs
	DelayNS   int64 // the time it has to react: 20 µs
	PairFlows int   // flows of one host pair that a CNP may mean while pairs aren't known: 64
	Links     int   // records of (data flow, CNP flow) in all: 16384
}

func (o Options) withDefaults() Options {
	set := func(v *int64, d int64) {
		if *v <= 0 {
			*v = d
		}
	}
	set(&o.AnswerNS, 1_000_000)
	set(&o.RateNS, 50_000)
	set(&o.DelayNS, 20_000)
	if o.PairFlows <= 0 {
		o.PairFlows = 64
	}
	if o.Links <= 0 {
		o.Links = 16384
	}
	return o
}

// Tracker follows the marks of one shard's flows.
type Tracker struct {
	opt   Options
	flows []flow
	pairs []pair
	index map[pairKey]int32

	links                     int
	linksRefused, unconnected int64 // CNPs without a flow they could mean, or no room to say so
}

// pairKey is a direction between two hosts.
type pairKey struct {
	iface    uint16
	src, dst decode.Addr
}

// pair is what all flows of one direction between two hosts share.
type pair struct {
	key   pairKey
	back  int32   // the other direction, -1 until it is seen
	flows []int32 // data flows, the first PairFlows of them
	cnps  *cnpLog
}

// flow is the state of one flow.
type flow struct {
	pair  int32
	peer  int32 // -1: not known
	cong  *congestion
	data  bool // in the pair's list
	naks  bool // lastNAK holds
	tally tally

	lastNAK int64
}

// none is no flow, no pair.
const none = -1

// New returns an empty tracker.
func New(o Options) *Tracker {
	return &Tracker{opt: o.withDefaults(), index: make(map[pairKey]int32)}
}

// AddFlow announces flow id. IDs are dense, 0, 1, 2, …, and not used again for
// another flow.
func (t *Tracker) AddFlow(id int32) {
	for int(id) >= len(t.flows) {
		t.flows = append(t.flows, flow{pair: none, peer: none})
	}
}

// Warm reads what Packet will read of a flow, so that the processor fetches the
// memory of many flows at once. The sum means nothing.
func (t *Tracker) Warm(id int32) int32 {
	if int(id) >= len(t.flows) {
		return 0
	}
	f := &t.flows[id]
	return f.pair + int32(f.tally.counts[inline-1])
}

// SetPeer says that two flows are each other's way back. It is optional, and
// best as early as possible; Result's word is final.
func (t *Tracker) SetPeer(a, b int32) {
	t.AddFlow(max(a, b))
	t.flows[a].peer, t.flows[b].peer = b, a
}

// Packet takes a RoCE packet of a flow. Packets with a bad iCRC count for
// nothing: what was corrupted may be the mark.
func (t *Tracker) Packet(p *decode.Packet, id int32) {
	if p.ICRC == roce.ICRCBad || !p.Has(decode.FlagBTH) {
		return
	}
	if int(id) >= len(t.flows) {
		t.AddFlow(id)
	}
	f := &t.flows[id]
	if f.pair == none {
		f.pair = t.pairOf(p)
	}
	k := kindOf(p)
	f.tally.add(markOf(p, k), p.Number)
	switch k {
	case KindCNP:
		t.cnp(p, id, f)
		return
	case KindAck:
		if p.RoCE.Present.Has(roce.HeaderAETH) && p.RoCE.AETH.Syndrome.Kind() != roce.SyndromeACK {
			f.lastNAK, f.naks = p.Time, true
		}
	case KindData, KindReadResponse:
		if !f.data {
			f.data = true
			if pr := &t.pairs[f.pair]; len(pr.flows) < t.opt.PairFlows {
				pr.flows = append(pr.flows, id)
			}
		}
	}
	if k != KindAck && p.ECN() == 3 && p.Has(decode.FlagNet) {
		t.ce(p, f)
	}
	if f.cong != nil {
		f.cong.sent(p, &t.opt)
	}
}

// pairOf returns the number of the packet's host pair, and joins it with that
// of the way back.
func (t *Tracker) pairOf(p *decode.Packet) int32 {
	k := pairKey{p.Iface, p.Src, p.Dst}
	if i, ok := t.index[k]; ok {
		return i
	}
	i := int32(len(t.pairs))
	t.index[k] = i
	t.pairs = append(t.pairs, pair{key: k, back: none})
	if j, ok := t.index[pairKey{p.Iface, p.Dst, p.Src}]; ok {
		t.pairs[i].back, t.pairs[j].back = j, i
	}
	return i
}

// congestionOf returns the flow's state of congestion, made on first use.
func (t *Tracker) congestionOf(f *flow) *congestion {
	if f.cong == nil {
		f.cong = &congestion{}
	}
	return f.cong
}

// ce notes a CE mark.
func (t *Tracker) ce(p *decode.Packet, f *flow) {
	c := t.congestionOf(f)
	if c.ce == 0 {
		c.firstCE, c.firstCEPacket = p.Time, p.Number
	}
	c.ce++
	c.lastCE = p.Time
	c.open.mark(p.Time, t.opt.AnswerNS)
	c.never.mark(p.Time, t.opt.AnswerNS)
	for i := range c.links {
		c.links[i].open.mark(p.Time, t.opt.AnswerNS)
	}
}

// cnp notes a congestion notification packet, in its own flow and in those
// that it may mean.
func (t *Tracker) cnp(p *decode.Packet, id int32, f *flow) {
	c := t.congestionOf(f)
	if c.cnps == nil {
		c.cnps = &cnpFlow{}
	}
	c.cnps.take(p)
	pr := &t.pairs[f.pair]
	if pr.cnps == nil {
		pr.cnps = &cnpLog{}
	}
	pr.cnps.add(p.Time, id)
	slow := f.naks && p.Time-f.lastNAK <= t.opt.AnswerNS
	meant := 0
	if f.peer != none {
		meant = t.notify(p.Time, id, f.peer, slow)
	} else if pr.back != none {
		for _, d := range t.pairs[pr.back].flows {
			if t.flows[d].peer == none { // the others are known not to be meant
				meant += t.notify(p.Time, id, d, slow)
			}
		}
	}
	if meant == 0 {
		t.unconnected++
	}
}

// notify tells a data flow of a CNP that may be meant for it.
func (t *Tracker) notify(now int64, cnpFlow, dataFlow int32, slow bool) int {
	c := t.congestionOf(&t.flows[dataFlow])
	l := c.link(cnpFlow)
	if l == nil {
		if t.links >= t.opt.Links {
			t.linksRefused++
			return 0
		}
		t.links++
		c.links = append(c.links, link{cnpFlow: cnpFlow, open: c.never})
		l = &c.links[len(c.links)-1]
	}
	l.answer(c, now, slow, &t.opt)
	return 1
}
