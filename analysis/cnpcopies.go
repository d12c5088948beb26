package analysis

import "rdmascope/decode/wire"

// cnpCopies knows CNPs that came twice: captured at both sides of a mirror or of
// "any", or doubled by the network. A CNP has no PSN and no payload, so only its
// IP identification tells one from the next; a NIC that never counts on leaves
// nothing to tell, and then every CNP counts.
type cnpCopies struct {
	seen map[int32]*cnpSeen // by mark of the flow
}

type cnpSeen struct {
	print  uint32
	time   int64
	moves  bool // the identification isn't always the same
	copies int64
}

// maxCNPFlows bounds the flows of a partition whose CNPs are compared.
const maxCNPFlows = 1 << 12

const (
	// cnpCopyWindow is METRICS §1's 1 ms.
	cnpCopyWindow = 1_000_000
	// cnpNearest is nearer than any NIC paces CNPs (mlx5: 4 µs at least).
	cnpNearest = 4_000
)

// is tells whether a CNP is a copy of the one before it in its flow. moves says
// that the flow's other packets differ in their identification: those of CNPs,
// which hardware makes on its own, need not, so that alone makes copies only of
// what comes nearer than CNPs do.
func (c *cnpCopies) is(p *wire.Packet, flow int32, moves bool) bool {
	s := c.seen[flow]
	if s == nil {
		if c.seen == nil {
			c.seen = map[int32]*cnpSeen{}
		}
		if len(c.seen) < maxCNPFlows {
			c.seen[flow] = &cnpSeen{print: uint32(p.Print >> 32), time: p.Time}
		}
		return false
	}
	same := s.print == uint32(p.Print>>32)
	s.moves = s.moves || !same
	d := p.Time - s.time
	if same && p.IPVersion == 4 && d >= 0 && (s.moves && d <= cnpCopyWindow || moves && d < cnpNearest) {
		s.copies++
		return true
	}
	s.print, s.time = uint32(p.Print>>32), p.Time
	return false
}

// counts are the copies by flow.
func (c *cnpCopies) counts() map[int32]int64 {
	m := make(map[int32]int64, len(c.seen))
	for flow, s := range c.seen {
		m[flow] = s.copies
	}
	return m
}
