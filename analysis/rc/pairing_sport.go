package rc

import "rdmascope/decode/roce"

// portFits tells whether two flows have the one source port that Linux computes
// for a pair without a flow label from both QPNs (rdma_calc_flow_label).
func portFits(f, g *flow) bool {
	return samePort(f, g) && f.port == roce.UDPSourcePort(0, roce.QPN(f.key.DestQP), roce.QPN(g.key.DestQP))
}

// samePort: both flows have one port, and it is the same. That alone is a hint:
// some senders give each queue pair its port, some all of them one.
func samePort(f, g *flow) bool {
	return f.port == g.port && f.port != 0 && !f.manyPorts && !g.manyPorts
}

// pairByPort joins f with the only flow that the computed port fits.
func (s *Shard) pairByPort(f *flow) bool {
	g := onlyFit(f, f.opposite(), s.opt.MaxCandidates)
	if g == nil || onlyFit(g, g.opposite(), s.opt.MaxCandidates) != f {
		return false
	}
	s.pair(f, g, MethodSport, Certain)
	return true
}

func onlyFit(f *flow, among []*flow, limit int) (fit *flow) {
	for _, g := range unpaired(among, f, limit) {
		if portFits(f, g) {
			if fit != nil {
				return nil
			}
			fit = g
		}
	}
	return fit
}

// unpaired returns the newest flows that have packets and no partner.
func unpaired(among []*flow, not *flow, limit int) (v []*flow) {
	for i := len(among) - 1; i >= 0 && len(v) < limit; i-- {
		if g := among[i]; g.peer == nil && g != not && g.good && !g.req.oneWay {
			v = append(v, g)
		}
	}
	return v
}
