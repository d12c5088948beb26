package rc

import "rdmascope/decode/roce"

// candidate is what speaks for and against a flow of the other direction being
// the one whose requests this flow answers.
type candidate struct {
	g       *flow
	matches uint32
	against uint32
	last    roce.PSN
}

// fits looks whether a response can be an answer to requests of g seen so far:
// no answer comes before its request. A NAK may name the PSN behind the last.
func (c *candidate) fits(e *event) {
	h := &c.g.half
	if !h.have {
		return
	}
	limit := h.hi
	if e.op.Operation() == roce.OperationAcknowledge && e.syn.Kind() != roce.SyndromeACK {
		limit = limit.Add(1)
	}
	lo := e.psn.Sub(h.lo)
	switch {
	case e.psn.Sub(limit) >= 0, lo < -4096:
		c.against++
	case lo < 0: // before the capture began
	case c.matches > 0 && e.psn.Sub(c.last) < -4096:
		c.against++
	default:
		c.matches++
		if c.matches == 1 || e.psn.Sub(c.last) > 0 {
			c.last = e.psn
		}
	}
}

func (f *flow) candidate(g *flow) *candidate {
	for i := range f.cands {
		if f.cands[i].g == g {
			return &f.cands[i]
		}
	}
	return nil
}

// pairByPSN weighs all candidates with one more response of f.
func (s *Shard) pairByPSN(f *flow, e *event) {
	for _, g := range unpaired(f.opposite(), f, s.opt.MaxCandidates) {
		if g.uc || !g.half.have {
			continue
		}
		c := f.candidate(g)
		if c == nil {
			f.cands = append(f.cands, candidate{g: g})
			c = &f.cands[len(f.cands)-1]
		}
		c.fits(e)
	}
	for i := range f.cands {
		c := &f.cands[i]
		if c.g.peer != nil || c.against > 0 || int(c.matches)%s.opt.PairCertain != 0 || c.matches == 0 {
			continue
		}
		if method, ok := s.proven(f, c.g); ok {
			s.pair(f, c.g, method, Certain)
			return
		}
	}
}

// proven: enough matches, nothing against, and no rival with half as many. A
// rival whose port differs is none when the ports of the pair are equal.
func (s *Shard) proven(f, g *flow) (Method, bool) {
	sum, against := score(f, g)
	if against > 0 || int(sum) < s.opt.PairCertain {
		return MethodNone, false
	}
	method := MethodPSN
	for _, pair := range [2][2]*flow{{f, g}, {g, f}} {
		for _, x := range unpaired(pair[0].opposite(), pair[0], s.opt.MaxCandidates) {
			if x == pair[1] {
				continue
			}
			n, a := score(pair[0], x)
			if a > 0 || 2*n < sum || n == 0 {
				continue
			}
			if !samePort(f, g) || samePort(pair[0], x) {
				return MethodNone, false
			}
			method = MethodSport
		}
	}
	return method, true
}

// score adds up both directions.
func score(f, g *flow) (matches, against uint32) {
	if c := f.candidate(g); c != nil {
		matches, against = c.matches, c.against
	}
	if c := g.candidate(f); c != nil {
		matches, against = matches+c.matches, against+c.against
	}
	return matches, against
}
