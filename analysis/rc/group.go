package rc

import "rdmascope/decode/wire"

// groupKey names a pair of hosts at one interface.
type groupKey struct {
	iface  uint16
	kind   wire.Kind
	lo, hi wire.Addr
}

// group holds the flows between two hosts that have no partner, by direction,
// in the order in which they began to look for one; nil where one has left.
type group struct {
	key   groupKey
	flows [2]int // all, the paired ones too
	open  [2][]*flow
	live  [2]int // of open, those that are there
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
	g.open[f.side()] = append(g.open[f.side()], f)
	g.live[f.side()]++
}

// leave takes out a flow that doesn't any longer.
func (g *group) leave(f *flow) {
	side := f.side()
	g.open[side][f.wait.place] = nil
	g.live[side]--
	v := g.open[side]
	if len(v) <= 2*g.live[side]+8 && g.live[side] > 0 {
		return
	}
	kept := v[:0]
	for _, x := range v {
		if x != nil {
			x.wait.place = int32(len(kept))
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

// opposite returns the flows without partner of the other direction, and nil
// where one has left.
func (f *flow) opposite() []*flow { return f.grp.open[f.across()] }
