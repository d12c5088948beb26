package filter

import "github.com/expr-lang/expr/vm"

// field is one name that a filter over E may use.
type field[E any] struct {
	Field
	digits int // of its hexadecimal form, 0 for decimal

	// get are its values where they can be read at once: a field such as
	// ip.addr has two. Not asked where the machine is deep.
	get []func(E) (num, bool)
	// all appends its values, wherever they come from; nil: get says it all.
	all func(E, []num) []num
	// texts and octets are the same for fields that are no numbers. For a header
	// octets tells whether it is there.
	texts  func(E, []string) []string
	octets func(E, [][]byte) [][]byte
	// exact are the octets of a header themselves, and onward what contains and
	// matches search: of a protocol, what it carries too, as in Wireshark.
	exact, onward func(E, [][]byte) [][]byte
}

// Field describes a name that filters may use.
type Field struct {
	Name  string
	Type  Type
	Doc   string
	Scope Scope
}

// Scope says what a field belongs to.
type Scope uint8

// Scopes.
const (
	ScopePacket Scope = iota // filters over packets
	ScopeFlow                // filters over flows
)

// machine is what evaluation needs beside the filter: the thing that is looked
// at, and room for values. Each compiled filter has its own, so that matching
// allocates nothing.
type machine[E any] struct {
	env    E
	deep   bool // headers repeat: get would see the innermost alone
	nums   []num
	other  []num
	texts  []string
	octets [][]byte
	vm     *vm.VM       // of the terms that expr runs, once there are any
	states []*termState // of each of them
}

// node is a compiled expression.
type node[E any] interface {
	eval(m *machine[E]) bool
}

// values gives all values of a numeric field, in buf.
func (f *field[E]) values(m *machine[E], buf []num) []num {
	if f.all != nil && (m.deep || len(f.get) == 0) {
		return f.all(m.env, buf)
	}
	for _, get := range f.get {
		if v, ok := get(m.env); ok {
			buf = append(buf, v)
		}
	}
	return buf
}
