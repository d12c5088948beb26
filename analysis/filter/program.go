package filter

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// Bounds of the terms that expr runs. Whoever writes a filter may be tired, and
// may have pasted it: no text may make a filter that takes seconds a packet.
const (
	maxSlots        = 16      // fields in one term
	maxTermSize     = 500     // operators, functions and slices in one filter
	maxPrograms     = 200     // programs of one filter
	maxCombinations = 1 << 14 // of the values of repeated fields that one term looks at
)

// slots is the environment of a program: the values that the operators are
// given, one for each place where the term names a field.
type slots struct {
	V0, V1, V2, V3, V4, V5, V6, V7, V8, V9, V10, V11, V12, V13, V14, V15 *value
}

func (s *slots) list() [maxSlots]**value {
	return [...]**value{&s.V0, &s.V1, &s.V2, &s.V3, &s.V4, &s.V5, &s.V6, &s.V7, &s.V8, &s.V9, &s.V10, &s.V11, &s.V12, &s.V13, &s.V14, &s.V15}
}

// program is a term, or a part of one, that expr runs.
type program[E any] struct {
	id   int // of its state in the machine
	code *vm.Program
	from []slot[E]
	regs int
}

// slot is where the values of one place in a term come from.
type slot[E any] struct {
	f      *field[E]
	octets bool // an address as its octets
	fold   *fold[E]
}

// emitter writes an expression as expr's source. Nothing that the user wrote
// gets into it: fields are the slots V0 to V15, and constants and operators are
// names that inline replaces by Go's values.
type emitter[E any] struct {
	p      *parser[E]
	inline inline
	from   []slot[E]
	regs   int
}

// inline puts constants and operators into the tree, so that the program finds
// them without looking for names: expr calls a function of the types used here
// directly, neither by reflection nor with arguments on the heap.
type inline map[string]any

// Visit replaces a name.
func (in inline) Visit(node *ast.Node) {
	if id, ok := (*node).(*ast.IdentifierNode); ok {
		if v, known := in[id.Value]; known {
			ast.Patch(node, &ast.ConstantNode{Value: v})
		}
	}
}

// constant is the name of a value.
func (e *emitter[E]) constant(v any) string {
	name := "K" + strconv.Itoa(len(e.inline))
	e.inline[name] = v
	return name
}

// call writes the call of an operator.
func (e *emitter[E]) call(name string, fn any, args ...string) string {
	e.regs++
	e.inline[name] = fn
	return name + "(" + strings.Join(args, ", ") + ")"
}

// compile makes the program of a source.
func (e *emitter[E]) compile(x *expression[E], source string) (*program[E], *Error) {
	p := e.p
	if p.programs++; p.programs > maxPrograms {
		return nil, p.fault(x.place(), "too much arithmetic in one filter", "")
	}
	code, err := expr.Compile(source, expr.Env(slots{}), expr.DisableAllBuiltins(), expr.DisableIfOperator(),
		expr.Optimize(false), expr.MaxNodes(4*maxTermSize), expr.Patch(e.inline))
	if err != nil { // never: it was checked before
		return nil, p.fault(x.place(), printable(fmt.Sprintf("this can't be computed: %v", err)), "")
	}
	return &program[E]{id: p.programs - 1, code: code, from: e.from, regs: e.regs}, nil
}

func (p *parser[E]) emitter() *emitter[E] { return &emitter[E]{p: p, inline: make(inline)} }

// slot takes a place for a field.
func (e *emitter[E]) slot(x *expression[E], s slot[E]) (string, *Error) {
	if len(e.from) == maxSlots {
		return "", e.p.fault(x.place(), "one comparison has at most "+strconv.Itoa(maxSlots)+" fields", "")
	}
	e.from = append(e.from, s)
	return "V" + strconv.Itoa(len(e.from)-1), nil
}

// as writes an expression whose result has to be of a type.
func (e *emitter[E]) as(x *expression[E], t Type) (string, *Error) {
	switch {
	case t == TypeFloat && x.typ != TypeFloat && x.value != nil:
		f, _ := toFloat(x.value)
		return e.constant(&f), nil
	case t == TypeFloat && x.typ != TypeFloat:
		s, err := e.write(x)
		return e.call("Decimal", callDecimal, s), err
	case t == TypeBytes && x.op == "field":
		return e.slot(x, slot[E]{f: x.f, octets: true})
	case t == TypeBytes && x.typ.hasOctets():
		return "", e.p.fault(x.place(), "only a field's octets can be compared", "")
	}
	return e.write(x)
}

// write writes an expression.
func (e *emitter[E]) write(x *expression[E]) (string, *Error) {
	if x.value != nil {
		return e.constant(x.value), nil
	}
	switch x.op {
	case "field":
		return e.slot(x, slot[E]{f: x.f})
	case "max", "min", "count":
		return e.folded(x)
	case "slice":
		s, err := e.as(x.args[0], octetsUnlessText(x.args[0].typ))
		return e.call("Cut", callCut, s, e.constant(&x.parts)), err
	case "len":
		s, err := e.as(x.args[0], octetsUnlessText(x.args[0].typ))
		return e.call("Length", callLength, s), err
	case "string":
		s, err := e.write(x.args[0])
		return e.call("Written", callWritten, s, e.constant(x.args[0].typ)), err
	case "positive":
		return e.write(x.args[0])
	}
	var args []string
	for _, arg := range x.args {
		s, err := e.as(arg, x.typ)
		if err != nil {
			return "", err
		}
		args = append(args, s)
	}
	c := calls[x.op]
	if x.typ == TypeFloat && c.float != nil {
		return e.call(c.name+"Decimals", c.float, args...), nil
	}
	if x.typ == TypeBytes {
		return e.call("AndOctets", callAndOctets, args...), nil
	}
	return e.call(c.name, c.whole, args...), nil
}

func octetsUnlessText(t Type) Type {
	if t == TypeText {
		return TypeText
	}
	return TypeBytes
}
