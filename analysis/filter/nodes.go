package filter

type notNode[E any] struct{ x node[E] }

func (n *notNode[E]) eval(m *machine[E]) bool { return !n.x.eval(m) }

type andNode[E any] struct{ a, b node[E] }

func (n *andNode[E]) eval(m *machine[E]) bool { return n.a.eval(m) && n.b.eval(m) }

type orNode[E any] struct{ a, b node[E] }

func (n *orNode[E]) eval(m *machine[E]) bool { return n.a.eval(m) || n.b.eval(m) }

type xorNode[E any] struct{ a, b node[E] }

func (n *xorNode[E]) eval(m *machine[E]) bool { return n.a.eval(m) != n.b.eval(m) }

// existsNode holds where the field is there at all.
type existsNode[E any] struct{ f *field[E] }

func (n *existsNode[E]) eval(m *machine[E]) bool {
	switch {
	case n.f.Type == TypeText:
		m.texts = n.f.texts(m.env, m.texts[:0])
		return len(m.texts) > 0
	case !n.f.Type.numeric():
		m.octets = n.f.octets(m.env, m.octets[:0])
		return len(m.octets) > 0
	}
	m.nums = n.f.values(m, m.nums[:0])
	return len(m.nums) > 0
}

// test is what one value is asked: whether it lies in a span, or in none.
type test struct {
	spans []span // sorted, apart
	not   bool
	every bool   // all values must pass, not one
	mask  uint64 // bits that are looked at, 0: all
}

func (t *test) pass(v num) bool {
	if t.mask != 0 {
		v = num{0, v.lo & t.mask}
	}
	return t.in(v) != t.not
}

func (t *test) in(v num) bool {
	spans := t.spans
	for len(spans) > 8 { // sets as long as a report's evidence
		if half := len(spans) / 2; v.less(spans[half].lo) {
			spans = spans[:half]
		} else {
			spans = spans[half:]
		}
	}
	for i := range spans {
		if spans[i].has(v) {
			return true
		}
	}
	return false
}

func (t *test) passAll(values []num) bool {
	for _, v := range values {
		if t.pass(v) != t.every {
			return !t.every
		}
	}
	return t.every && len(values) > 0
}

// numNode asks the values of a field.
type numNode[E any] struct {
	f *field[E]
	test
}

func (n *numNode[E]) eval(m *machine[E]) bool {
	if m.deep || len(n.f.get) == 0 {
		m.nums = n.f.values(m, m.nums[:0])
		return n.passAll(m.nums)
	}
	found := false
	for _, get := range n.f.get {
		v, ok := get(m.env)
		if !ok {
			continue
		}
		if found = true; n.pass(v) != n.every {
			return !n.every
		}
	}
	return n.every && found
}

// rangeNode is numNode for what most terms are: one value, one range.
type rangeNode[E any] struct {
	f   *field[E]
	get func(E) (num, bool)
	span
	not  bool
	slow *numNode[E]
}

func (n *rangeNode[E]) eval(m *machine[E]) bool {
	if m.deep {
		return n.slow.eval(m)
	}
	v, ok := n.get(m.env)
	return ok && n.has(v) != n.not
}

// pairNode compares two fields with each other.
type pairNode[E any] struct {
	a, b  *field[E]
	holds func(order int) bool
	every bool
}

func (n *pairNode[E]) eval(m *machine[E]) bool {
	m.nums, m.other = n.a.values(m, m.nums[:0]), n.b.values(m, m.other[:0])
	for _, v := range m.nums {
		for _, w := range m.other {
			if n.holds(v.compare(w)) != n.every {
				return !n.every
			}
		}
	}
	return n.every && len(m.nums) > 0 && len(m.other) > 0
}

// textNode and octetsNode ask the values of fields that are no numbers.
type textNode[E any] struct {
	f          *field[E]
	holds      func(string) bool
	not, every bool
}

func (n *textNode[E]) eval(m *machine[E]) bool {
	m.texts = n.f.texts(m.env, m.texts[:0])
	for _, s := range m.texts {
		if (n.holds(s) != n.not) != n.every {
			return !n.every
		}
	}
	return n.every && len(m.texts) > 0
}

type octetsNode[E any] struct {
	f          *field[E]
	holds      func([]byte) bool
	not, every bool
}

func (n *octetsNode[E]) eval(m *machine[E]) bool {
	m.octets = n.f.octets(m.env, m.octets[:0])
	for _, b := range m.octets {
		if (n.holds(b) != n.not) != n.every {
			return !n.every
		}
	}
	return n.every && len(m.octets) > 0
}
