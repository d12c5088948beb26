package rc

import "rdmascope/decode/roce"

// portFits tells whether two flows have the one source port that Linux computes
// for a pair without a flow label from both QPNs (rdma_calc_flow_label).
func portFits(f, g *flow) bool {
	return samePort(f, g) && f.port == roce.UDPSourcePort(0, roce.QPN(f.qpn&0xffffff), roce.QPN(g.qpn&0xffffff))
}

// samePort: both flows have one port, and it is the same. That alone is a hint:
// some senders give each queue pair its port, some all of them one.
func samePort(f, g *flow) bool {
	return f.port == g.port && f.port != 0 && !f.is(flowManyPorts) && !g.is(flowManyPorts)
}

// pairByPort joins f with the only flow that the computed port fits.
func (s *Shard) pairByPort(f *flow) bool {
	g := onlyFit(f, f.opposite())
	if g == nil || onlyFit(g, g.opposite()) != f {
		return false
	}
	s.pair(f, g, MethodSport, Certain)
	return true
}

func onlyFit(f *flow, among []seeker) (fit *flow) {
	for i, looked := len(among)-1, 0; i >= 0 && looked < maxLooked; i-- {
		g := among[i].f
		if g == nil || g == f {
			continue
		}
		looked++
		if among[i].port == f.port && g.alone() && portFits(f, g) {
			if fit != nil {
				return nil
			}
			fit = g
		}
	}
	return fit
}

// alone tells whether the flow has packets and no partner, and still looks for
// one.
func (f *flow) alone() bool { return f.peer == nil && f.flags&(flowGood|flowOneWay) == flowGood }

// unpaired returns the newest flows that have packets and no partner.
func unpaired(among []seeker, not *flow, limit int) (v []*flow) {
	for i := len(among) - 1; i >= 0 && len(v) < limit; i-- {
		if g := among[i].f; g != nil && g != not && g.alone() {
			v = append(v, g)
		}
	}
	return v
}
