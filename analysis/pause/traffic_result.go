package pause

// TrafficResult is a Traffic as it stands.
type TrafficResult struct {
	Quiet        []Quiet
	QuietDropped int64
	Untracked    int64 // packets of flows beyond the bound
	rows         []trafficRow
}

// Result returns what is known, with the silences that last to the capture's
// end. It shares nothing that changes.
func (t *Traffic) Result(end int64) TrafficResult {
	r := TrafficResult{QuietDropped: t.droppedQuiet, Untracked: t.untracked}
	r.Quiet = append(append(r.Quiet, t.quiet[t.oldest:]...), t.quiet[:t.oldest]...)
	r.rows = make([]trafficRow, len(t.rows))
	for i, tr := range t.rows {
		tr.marks = append([]uint8(nil), tr.marks...)
		tr.violators = append([]Violator(nil), tr.violators...)
		r.rows[i] = tr
	}
	if !t.tl.Visible() {
		return r
	}
	for i := range int32(t.flows.Len()) {
		f := t.flows.At(i)
		if !f.active {
			continue
		}
		if q, ok := t.silence(f, i, end); ok {
			q.Open = true
			r.Quiet = append(r.Quiet, q)
		}
	}
	return r
}

// mark returns the mark of interval n of row i, which has the generation gen.
func (r *TrafficResult) mark(i int, gen uint32, n int64) uint8 {
	if i >= len(r.rows) || r.rows[i].gen != gen {
		return 0
	}
	return r.rows[i].mark(n)
}

// mark returns the mark of interval n, 0 where there is none.
func (tr *trafficRow) mark(n int64) uint8 {
	if n >= tr.next || n < tr.next-int64(len(tr.marks)) {
		return 0
	}
	return tr.marks[int(n)&(len(tr.marks)-1)]
}
