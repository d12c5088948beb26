package pause

// Forget drops everything about a flow, so that its number may be used again.
// Silences and violations of it stay, as those of no flow (-1).
func (t *Traffic) Forget(flow int32) { t.ForgetAs(flow, -1) }

// ForgetAs is Forget with another number for what stays: one below -1, under
// which the caller knows the connection that the flow belonged to.
func (t *Traffic) ForgetAs(flow, as int32) {
	if flow < 0 || int(flow) >= t.flows.Len() {
		return
	}
	f := t.flows.At(flow)
	if f.active && t.tl.Visible() {
		if q, ok := t.silence(f, as, t.now); ok { // it never spoke again
			q.Open = true
			t.remember(q)
		}
	}
	*f = pace{}
	for i := range t.quiet {
		if q := &t.quiet[i]; q.Flow == flow {
			q.Flow = as
		}
	}
	for i := range t.rows {
		t.rows[i].rename(flow, as)
	}
}

// rename gives a violator another number; of two with the same one it makes one.
func (tr *trafficRow) rename(flow, as int32) {
	v := tr.violator(flow)
	if v == nil {
		return
	}
	if w := tr.violator(as); w != nil {
		w.join(*v)
		*v = tr.violators[len(tr.violators)-1]
		tr.violators = tr.violators[:len(tr.violators)-1]
		return
	}
	v.Flow = as
}
