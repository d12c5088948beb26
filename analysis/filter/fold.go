package filter

// fold is a function that makes one value of many: max, min and count.
type fold[E any] struct {
	op   string
	typ  Type
	f    *field[E] // of count
	args []*program[E]
	also []*value // arguments that are constants
}

// folded takes a place for max, min or count.
func (e *emitter[E]) folded(x *expression[E]) (string, *Error) {
	f := &fold[E]{op: x.op, typ: x.typ}
	if x.op == "count" {
		f.f = x.args[0].f
		return e.slot(x, slot[E]{fold: f})
	}
	for _, arg := range x.args {
		inner := e.p.emitter()
		source, err := inner.as(arg, x.typ)
		if err != nil {
			return "", err
		}
		if len(inner.from) == 0 { // a constant
			for _, v := range inner.inline {
				f.also = append(f.also, v.(*value))
			}
			continue
		}
		prog, err := inner.compile(arg, source)
		if err != nil {
			return "", err
		}
		f.args = append(f.args, prog)
	}
	return e.slot(x, slot[E]{fold: f})
}

// value computes it. What is absent has no part in it, but a constant always
// has; where all is absent there is no value, not even a count of 0: so it is in
// Wireshark.
func (f *fold[E]) value(m *machine[E]) (best value, found bool) {
	if f.op == "count" {
		n := f.f.count(m)
		return integer(uint64(n), false), n > 0
	}
	take := func(v *value) {
		if c := v.key(f.typ).compare(best.key(f.typ)); !found || c > 0 == (f.op == "max") && c != 0 {
			best, found = *v, true
		}
	}
	for _, arg := range f.args {
		st := arg.start(m)
		for more := st != nil; more; more = st.next() {
			if out, ok := st.run(m.vm, arg.code); ok {
				take(out.(*value))
			}
		}
	}
	for _, v := range f.also {
		take(v)
	}
	return best, found
}

// count is how often a field occurs.
func (f *field[E]) count(m *machine[E]) int {
	switch {
	case f.Type == TypeText:
		m.texts = f.texts(m.env, m.texts[:0])
		return len(m.texts)
	case !f.Type.numeric(): // of headers each one
		m.octets = f.span()(m.env, m.octets[:0])
		return len(m.octets)
	}
	m.nums = f.values(m, m.nums[:0])
	return len(m.nums)
}
