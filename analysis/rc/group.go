package rc

import "rdmascope/decode/wire"

// groupKey names a pair of hosts at one interface.
type groupKey struct {
	iface  uint16
	kind   wire.Kind
	lo, hi wire.Addr
}

// group holds the flows between two hosts that have no partner, by direction,
// in the order in which they began to look for one.
type group struct {
	key   groupKey
	flows [2]int // all, the paired ones too
	open  [2][]seeker
	live  [2]int // of open, those that are there
}

// seeker is a flow that looks for its partner, and what others need to know of it
// to tell whether they are: with thousands of them between two hosts, each is
// looked at with nearly every response, and the flows lie anywhere.
type seeker struct {
	f *flow // nil where one has left
	half
}

func (k FlowKey) group() (g groupKey, side int) {
	g = groupKey{k.Iface, k.Kind, k.Src, k.Dst}
	if k.Dst.Less(k.Src) {
		g.lo, g.hi, side = k.Dst, k.Src, 1
	}
	return g, side
}

// join adds a flow that looks for its partner.
func (g *group) join(f *flow) {
	f.wait = &waiting{place: int32(len(g.open[f.side()]))}
	g.open[f.side()] = append(g.open[f.side()], seeker{f: f})
	g.live[f.side()]++
}

// leave takes out a flow that doesn't any longer.
func (g *group) leave(f *flow) {
	side := f.side()
	g.open[side][f.wait.place] = seeker{}
	g.live[side]--
	v := g.open[side]
	if len(v) <= 2*g.live[side]+8 && g.live[side] > 0 {
		return
	}
	kept := v[:0]
	for _, x := range v {
		if x.f != nil {
			x.f.wait.place = int32(len(kept))
			kept = append(kept, x)
		}
	}
	clear(v[len(kept):])
	if len(kept) == 0 {
		kept = nil
	}
	g.open[side] = kept
}

// across is the direction of f's partner; a host that talks to itself has only
// one.
func (f *flow) across() int {
	if f.src == f.dst {
		return 0
	}
	return 1 - f.side()
}

// half is what the group knows of a flow that looks for its partner.
func (f *flow) half() *half { return &f.grp.open[f.side()][f.wait.place].half }

// opposite returns the flows without partner of the other direction, among them
// places where one has left.
func (f *flow) opposite() []seeker { return f.grp.open[f.across()] }
