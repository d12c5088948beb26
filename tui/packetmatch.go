package tui

import (
	"strings"

	"rdmascope/analysis"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// isNak tells whether a packet refuses something: a NAK or an RNR NAK.
func isNak(p *wire.Packet) bool {
	if !p.Has(wire.FlagBTH) || !p.RoCE.Present.Has(roce.HeaderAETH) {
		return false
	}
	k := p.RoCE.AETH.Syndrome.Kind()
	return k == roce.SyndromeNAK || k == roce.SyndromeRNRNAK
}

// connMatch selects the packets of a connection: both directions between its
// ends, and connection management between its hosts.
func connMatch(c *analysis.Connection) func(*wire.Packet) bool {
	a, b := string(c.A.IP), string(c.B.IP)
	return func(p *wire.Packet) bool {
		src, dst := p.Src.String(), p.Dst.String()
		switch {
		case strings.EqualFold(src, a) && strings.EqualFold(dst, b):
			return toEnd(c, p, &c.A, &c.B)
		case strings.EqualFold(src, b) && strings.EqualFold(dst, a):
			return toEnd(c, p, &c.B, &c.A)
		}
		return false
	}
}

// toEnd tells whether a packet between the two hosts goes from one end to the
// other. An end whose number is not known may be any.
func toEnd(c *analysis.Connection, p *wire.Packet, from, to *analysis.Endpoint) bool {
	if c.Transport == "iwarp" {
		return p.Has(wire.FlagPorts) && portIs(from.Port, p.SrcPort) && portIs(to.Port, p.DstPort)
	}
	if !p.Has(wire.FlagBTH) {
		return false
	}
	qp := int64(p.RoCE.BTH.DestQP)
	return to.QPN == nil || *to.QPN == qp || qp == 1
}

func portIs(want *int64, have uint16) bool { return want == nil || *want == int64(have) }
