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

// fits looks whether a response can be an answer to requests of g, of which h is
// known: no answer comes before its request.
func (c *candidate) fits(e *event, h *half) {
	if !h.have {
		return
	}
	lo := e.psn.Sub(h.lo)
	switch {
	case e.psn.Sub(h.hi) >= e.reach(), lo < -4096:
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

// reach is how far behind the last request a response may point: a NAK may name
// the PSN that is waited for.
func (e *event) reach() int32 {
	if e.op.Operation() == roce.OperationAcknowledge && e.syn.Kind() != roce.SyndromeACK {
		return 1
	}
	return 0
}

func (f *flow) candidate(g *flow) *candidate {
	if f.wait == nil {
		return nil
	}
	for i := range f.wait.cands {
		if f.wait.cands[i].g == g {
			return &f.wait.cands[i]
		}
	}
	return nil
}

// pairByPSN weighs all candidates with one more response of f.
func (s *Shard) pairByPSN(f *flow, e *event) {
	w := f.wait
	w.dropPaired()
	for i := range w.cands {
		w.cands[i].fits(e, w.cands[i].g.half())
	}
	s.newCandidates(f, e)
	for i := range w.cands {
		c := &w.cands[i]
		if c.g.peer != nil || c.against > 0 || int(c.matches)%s.opt.PairCertain != 0 || c.matches == 0 {
			continue
		}
		if method, ok := s.proven(f, c.g); ok {
			s.pair(f, c.g, method, Certain)
			return
		}
	}
}

// dropPaired forgets candidates that have found their partner.
func (w *waiting) dropPaired() {
	kept := w.cands[:0]
	for _, c := range w.cands {
		if c.g.alone() {
			kept = append(kept, c)
		}
	}
	clear(w.cands[len(kept):])
	w.cands = kept
}

// noCandidate takes f out of what others weigh.
func (f *flow) noCandidate() {
	for _, o := range f.opposite() {
		x := o.f
		if x == nil {
			continue
		}
		kept := x.wait.cands[:0]
		for _, c := range x.wait.cands {
			if c.g != f {
				kept = append(kept, c)
			}
		}
		clear(x.wait.cands[len(kept):])
		x.wait.cands = kept
	}
}

// newCandidates adds the flows that the response could answer. Between two
// hosts with a few queue pairs each flow is one, so that what speaks against it
// counts from the first response on. Where there are more than can be kept only
// those are taken that fit: with starting PSNs at random those are few.
func (s *Shard) newCandidates(f *flow, e *event) {
	w := f.wait
	among, known := f.opposite(), len(w.cands)
	many := f.grp.live[f.across()] > s.opt.MaxCandidates
	psn, reach := e.psn, e.reach()
	for i, looked := len(among)-1, 0; i >= 0 && looked < maxLooked && len(w.cands) < s.opt.MaxCandidates; i-- {
		o := &among[i]
		g := o.f
		if !o.have || g == f {
			continue
		}
		looked++
		if many && (psn.Sub(o.lo) < 0 || psn.Sub(o.hi) >= reach) || !g.alone() || has(w.cands[:known], g) {
			continue
		}
		c := candidate{g: g}
		c.fits(e, &o.half)
		w.cands = append(w.cands, c)
	}
}

// maxLooked bounds how many flows of the other direction are looked at for one
// packet.
const maxLooked = 4096

func has(list []candidate, g *flow) bool {
	for i := range list {
		if list[i].g == g {
			return true
		}
	}
	return false
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
		among := pair[0].opposite()
		for i, looked := len(among)-1, 0; i >= 0 && looked < maxLooked; i-- {
			x := among[i].f
			if x == nil || x == pair[0] || x == pair[1] || !x.alone() {
				continue
			}
			looked++
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
