package filter

import (
	"encoding/binary"

	"github.com/expr-lang/expr/vm"
)

// termNode is a comparison with arithmetic, functions or slices: expr computes
// it, for every combination of the values of its fields.
type termNode[E any] struct {
	*program[E]
	every bool
}

func (n *termNode[E]) eval(m *machine[E]) bool {
	st := n.start(m)
	held := false
	for more := st != nil; more; more = st.next() {
		out, ok := st.run(m.vm, n.code)
		if !ok {
			continue
		}
		if out == true != n.every {
			return !n.every
		}
		held = true
	}
	return n.every && held
}

// computedNode holds where an expression has a value at all.
type computedNode[E any] struct{ *program[E] }

func (n *computedNode[E]) eval(m *machine[E]) bool {
	st := n.start(m)
	for more := st != nil; more; more = st.next() {
		if _, ok := st.run(m.vm, n.code); ok {
			return true
		}
	}
	return false
}

// termState is what one machine needs to run one program.
type termState struct {
	env   slots
	lists [][]value // of each slot
	at    []int     // the combination
	spent int
	bytes []byte // of texts and addresses among the values
	s     scratch
}

// start reads the values of all slots and chooses the first combination; nil:
// one of them has no value.
func (n *program[E]) start(m *machine[E]) *termState {
	for len(m.states) <= n.id {
		m.states = append(m.states, nil)
	}
	if m.vm == nil {
		m.vm = new(vm.VM)
	}
	st := m.states[n.id]
	if st == nil {
		st = &termState{lists: make([][]value, len(n.from)), at: make([]int, len(n.from)), s: scratch{regs: make([]value, n.regs)}}
		m.states[n.id] = st
	}
	st.bytes, st.spent = st.bytes[:0], 0
	for i := range n.from {
		st.lists[i] = n.from[i].load(m, st, st.lists[i][:0])
		if len(st.lists[i]) == 0 {
			return nil
		}
		st.at[i] = 0
	}
	places := st.env.list()
	for i := range st.lists {
		for j := range st.lists[i] {
			st.lists[i][j].s = &st.s
		}
		*places[i] = &st.lists[i][0]
	}
	return st
}

// next chooses the next combination.
func (st *termState) next() bool {
	if st.spent++; st.spent >= maxCombinations {
		return false
	}
	places := st.env.list()
	for i := range st.lists {
		st.at[i]++
		if st.at[i] < len(st.lists[i]) {
			*places[i] = &st.lists[i][st.at[i]]
			return true
		}
		st.at[i] = 0
		*places[i] = &st.lists[i][0]
	}
	return false
}

// run runs the program for a combination. It has no result where an operator
// has none.
func (st *termState) run(m *vm.VM, code *vm.Program) (out any, ok bool) {
	st.s.reset()
	out, err := m.Run(code, &st.env)
	return out, err == nil && !st.s.failed
}

// load appends the values of a slot.
func (s *slot[E]) load(m *machine[E], st *termState, buf []value) []value {
	switch f := s.f; {
	case s.fold != nil:
		if v, ok := s.fold.value(m); ok {
			buf = append(buf, v)
		}
	case f.Type == TypeText:
		m.texts = f.texts(m.env, m.texts[:0])
		for _, text := range m.texts {
			buf = append(buf, st.keep(append(st.bytes, text...)))
		}
	case !f.Type.numeric():
		m.octets = f.span()(m.env, m.octets[:0])
		for _, b := range m.octets {
			buf = append(buf, value{b: b})
		}
	default:
		m.nums = f.values(m, m.nums[:0])
		for _, n := range m.nums {
			if s.octets {
				buf = append(buf, st.keep(appendOctets(st.bytes, f.Type, n)))
				continue
			}
			var v value
			v.of(f.Type, n)
			buf = append(buf, v)
		}
	}
	return buf
}

// keep is a value of the octets that bytes has more than before.
func (st *termState) keep(bytes []byte) value {
	from := len(st.bytes)
	st.bytes = bytes
	return value{b: bytes[from:len(bytes):len(bytes)]}
}

// appendOctets appends the octets of an address.
func appendOctets(dst []byte, t Type, n num) []byte {
	switch t {
	case TypeIPv6:
		dst = binary.BigEndian.AppendUint64(dst, n.hi)
		return binary.BigEndian.AppendUint64(dst, n.lo)
	case TypeMAC:
		dst = binary.BigEndian.AppendUint16(dst, uint16(n.lo>>32))
	}
	return binary.BigEndian.AppendUint32(dst, uint32(n.lo))
}

// span is where the octets of a field come from. For a header these are its own;
// what octets gives tells only that it is there.
func (f *field[E]) span() func(E, [][]byte) [][]byte {
	if f.Type == TypeNone && f.exact != nil {
		return f.exact
	}
	return f.octets
}

// searched is the field as contains and matches see it.
func (f *field[E]) searched() *field[E] {
	if f.Type != TypeNone || f.onward == nil {
		return f
	}
	wide := *f
	wide.octets, wide.exact = f.onward, f.onward
	return &wide
}
