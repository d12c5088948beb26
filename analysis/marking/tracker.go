package marking

import (
	"unsafe"

	"rdmascope/analysis/prefetch"
	"rdmascope/analysis/slab"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Options are the settings; zero means the default in the comment.
type Options struct {
	AnswerNS        int64 // a CE mark must be answered, and a CNP have had one, within this: 1 ms
	RateNS          int64 // the sender's rate is taken over this before and after a CNP: 50 µs
	DelayNS         int64 // the time it has to react: 20 µs
	DeafCNPs        int64 // CNPs and rate samples that it takes to call a sender deaf: 10
	DeafCutPermille int64 // … whose median cut is below this: 50 (our own choice)
	PairFlows       int   // flows of one host pair that a CNP may mean while pairs aren't known: 64
	Links           int   // records of (data flow, CNP flow) in all: 16384
	Paced           int   // CNPs remembered for the scope of pacing, in all: 16384
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
	set(&o.DeafCNPs, 10)
	set(&o.DeafCutPermille, 50)
	if o.PairFlows <= 0 {
		o.PairFlows = 64
	}
	if o.Links <= 0 {
		o.Links = 16384
	}
	if o.Paced <= 0 {
		o.Paced = 16384
	}
	return o
}

// Tracker follows the marks of one shard's flows.
type Tracker struct {
	opt   Options
	n     int32 // ids below it were announced
	flows slab.Slab[flow]
	odd   slab.Slab[oddMarks]
	congs []*congestion
	pairs slab.Slab[pair]
	index map[pairKey]int32

	freeCongs, freePairs []int32
	usedPairs            int32 // numbers below it were given out
	links, paced         int

	linksRefused, unconnected int64 // CNPs without a flow they could mean, or no room to say so
	pacedRefused              int64 // CNPs that there was no room to keep for the pacing

	finished bool // no packet follows
}

// pairKey is a direction between two hosts.
type pairKey struct {
	iface    uint16
	src, dst wire.Addr
}

// pair is what all flows of one direction between two hosts share. It goes
// with the last of them.
type pair struct {
	key   pairKey
	back  int32   // the other direction, none until it is seen
	live  int32   // flows
	flows []int32 // data flows, the first PairFlows of them
	cnps  *cnpLog
}

// flow is the state of one flow: one cache line, without pointers (see package
// slab). Numbers of others are kept with 1 added, so that a zeroed flow is a
// new one.
type flow struct {
	pair    int32
	peer    int32
	cong    int32  // 0: neither CE marks nor CNPs
	gen     uint32 // how often its id was forgotten: what others noted of it before doesn't hold
	lastNAK int64  // time, holds with flowNAK
	is      flowIs
	tally   tally
}

type flowIs uint8

const (
	flowData flowIs = 1 << iota // in the pair's list
	flowNAK                     // lastNAK holds
)

// none is no flow, no pair.
const none = -1

// New returns an empty tracker.
func New(o Options) *Tracker {
	return &Tracker{opt: o.withDefaults(), index: make(map[pairKey]int32)}
}

// AddFlow announces flow id. IDs are dense, 0, 1, 2, …; one comes back for
// another flow only after Forget.
func (t *Tracker) AddFlow(id int32) {
	if int(id) >= t.flows.Len() {
		t.flows.Grow(id)
		t.odd.Grow(id)
	}
	t.n = max(t.n, id+1)
}

// Ahead asks for what Packet will read of a flow. The number may be one that
// holds no more, or none.
func (t *Tracker) Ahead(l *prefetch.List, id int32) {
	if uint32(id) < uint32(t.n) {
		l.Add(unsafe.Pointer(t.flows.At(id)))
	}
}

// SetPeer says that two flows are each other's way back. It is optional, and
// best as early as possible; Result's word is final.
func (t *Tracker) SetPeer(a, b int32) {
	t.AddFlow(max(a, b))
	if t.flows.At(a).peer == b+1 {
		return
	}
	t.unpeer(a)
	t.unpeer(b)
	t.flows.At(a).peer, t.flows.At(b).peer = b+1, a+1
}

// unpeer parts a flow from its peer.
func (t *Tracker) unpeer(id int32) {
	f := t.flows.At(id)
	if f.peer != 0 {
		t.flows.At(f.peer - 1).peer = 0
		f.peer = 0
	}
}

// Packet takes a RoCE packet of a flow. Packets with a bad iCRC count for
// nothing: what was corrupted may be the mark.
func (t *Tracker) Packet(p *wire.Packet, id int32) {
	if p.ICRC == roce.ICRCBad || !p.Has(wire.FlagBTH) {
		return
	}
	if id >= t.n {
		t.AddFlow(id)
	}
	f := t.flows.At(id)
	if f.pair == 0 {
		f.pair = t.pairOf(p) + 1
		t.pairs.At(f.pair-1).live++
	}
	k := kindOf(p)
	if m := markOf(p, k); !f.tally.add(m) {
		f.tally.addNew(m, p.Number, t.odd.At(id))
	}
	switch k {
	case KindCNP:
		t.cnp(p, id, f)
		return
	case KindAck:
		if p.RoCE.Present.Has(roce.HeaderAETH) && p.RoCE.AETH.Syndrome.Kind() != roce.SyndromeACK {
			f.lastNAK = p.Time
			f.is |= flowNAK
		}
	case KindData, KindReadResponse:
		if f.is&flowData == 0 {
			f.is |= flowData
			if pr := t.pairs.At(f.pair - 1); len(pr.flows) < t.opt.PairFlows {
				pr.flows = append(pr.flows, id)
			}
		}
	}
	if k != KindAck && p.ECN() == 3 && p.Has(wire.FlagNet) {
		t.ce(p, f)
	}
	if f.cong != 0 {
		t.congs[f.cong-1].sent(p, &t.opt)
	}
}

// pairOf returns the number of the packet's host pair, and joins it with that
// of the way back.
func (t *Tracker) pairOf(p *wire.Packet) int32 {
	k := pairKey{p.Iface, p.Src, p.Dst}
	if i, ok := t.index[k]; ok {
		return i
	}
	var i int32
	if n := len(t.freePairs); n > 0 {
		i, t.freePairs = t.freePairs[n-1], t.freePairs[:n-1]
	} else {
		i = t.usedPairs
		t.usedPairs++
		t.pairs.Grow(i)
	}
	t.index[k] = i
	pr := t.pairs.At(i)
	*pr = pair{key: k, back: none}
	if j, ok := t.index[pairKey{p.Iface, p.Dst, p.Src}]; ok {
		pr.back, t.pairs.At(j).back = j, i
	}
	return i
}

// congestionOf returns the flow's state of congestion, made on first use.
func (t *Tracker) congestionOf(f *flow) *congestion {
	if f.cong == 0 {
		if n := len(t.freeCongs); n > 0 {
			f.cong, t.freeCongs = t.freeCongs[n-1]+1, t.freeCongs[:n-1]
		} else {
			t.congs = append(t.congs, new(congestion))
			f.cong = int32(len(t.congs))
		}
	}
	return t.congs[f.cong-1]
}

// ce notes a CE mark.
func (t *Tracker) ce(p *wire.Packet, f *flow) {
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
func (t *Tracker) cnp(p *wire.Packet, id int32, f *flow) {
	c := t.congestionOf(f)
	if c.cnps == nil {
		c.cnps = &cnpFlow{}
	}
	c.cnps.take(p)
	pr := t.pairs.At(f.pair - 1)
	t.pace(pr, p.Time, id)
	slow := f.is&flowNAK != 0 && p.Time-f.lastNAK <= t.opt.AnswerNS
	meant := 0
	if f.peer != 0 {
		meant = t.notify(p.Time, id, f.peer-1, slow)
	} else if pr.back != none {
		for _, d := range t.pairs.At(pr.back).flows {
			if t.flows.At(d).peer == 0 { // the others are known not to be meant
				meant += t.notify(p.Time, id, d, slow)
			}
		}
	}
	if meant == 0 {
		t.unconnected++
	}
}

// pace keeps a CNP for the scope of its sender's pacing.
func (t *Tracker) pace(pr *pair, now int64, id int32) {
	if pr.cnps == nil {
		pr.cnps = &cnpLog{}
	}
	switch {
	case pr.cnps.full():
	case t.paced >= t.opt.Paced:
		t.pacedRefused++
		return
	default:
		t.paced++
	}
	pr.cnps.add(now, id)
}

// notify tells a data flow of a CNP that may be meant for it.
func (t *Tracker) notify(now int64, cnpFlow, dataFlow int32, slow bool) int {
	c := t.congestionOf(t.flows.At(dataFlow))
	gen := t.flows.At(cnpFlow).gen
	l := c.link(cnpFlow, gen)
	if l == nil {
		if l = t.newLink(c); l == nil {
			t.linksRefused++
			return 0
		}
		*l = link{cnpFlow: cnpFlow, gen: gen, open: c.never}
	}
	l.answer(c, now, slow, &t.opt)
	return 1
}

// newLink returns a place for a link: that of one whose CNP flow is gone, else
// a further one, nil when there are too many of all.
func (t *Tracker) newLink(c *congestion) *link {
	for i := range c.links {
		if l := &c.links[i]; l.gen != t.flows.At(l.cnpFlow).gen {
			return l
		}
	}
	if t.links >= t.opt.Links {
		return nil
	}
	t.links++
	c.links = append(c.links, link{})
	return &c.links[len(c.links)-1]
}
