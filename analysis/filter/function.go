package filter

import (
	"slices"
	"strconv"
	"strings"
)

// function is one of Wireshark's.
type function struct {
	most   int // arguments
	folds  bool
	takes  []Type
	wanted string
	gives  func(Type) Type
}

var addressTypes = []Type{TypeMAC, TypeIPv4, TypeIPv6, TypeIP}

func same(t Type) Type { return t }

func always(t Type) func(Type) Type { return func(Type) Type { return t } }

// functions are Wireshark 4.0's, on the types that it has them for.
var functions = map[string]function{
	"len":    {1, false, []Type{TypeText, TypeBytes, TypeNone, TypeMAC, TypeIPv4, TypeIPv6}, "text, octets, a header or an address", always(TypeInt)},
	"count":  {1, true, nil, "a field", always(TypeInt)},
	"upper":  {1, false, []Type{TypeText}, "text", same},
	"lower":  {1, false, []Type{TypeText}, "text", same},
	"string": {1, false, append([]Type{TypeUint, TypeInt, TypeFloat}, addressTypes...), "a number or an address", always(TypeText)},
	"abs":    {1, false, []Type{TypeUint, TypeInt, TypeFloat, TypeEpoch, TypeDuration}, "a number", same},
	"max":    {maxSlots, true, append([]Type{TypeUint, TypeInt, TypeFloat, TypeTime, TypeEpoch, TypeDuration}, addressTypes...), "numbers, addresses or times", same},
	"min":    {maxSlots, true, append([]Type{TypeUint, TypeInt, TypeFloat, TypeTime, TypeEpoch, TypeDuration}, addressTypes...), "numbers, addresses or times", same},
}

// call reads a function and its arguments.
func (p *parser[E]) call() (*expression[E], *Error) {
	name := p.next()
	fn, known := functions[name.text]
	if !known {
		return nil, p.fault(name, "no function "+printable(name.text), p.meantFunction(name.text))
	}
	open := p.next()
	x := &expression[E]{op: name.text, tok: name, from: name.pos}
	for !p.punct(")") {
		if len(x.args) > 0 && !p.punct(",") {
			if p.peek().kind == tokEnd {
				return nil, p.fault(open, "the parenthesis is never closed", "")
			}
			return nil, p.unexpected()
		}
		arg, err := p.operand()
		if err != nil {
			return nil, err
		}
		if x.args = append(x.args, arg); len(x.args) > fn.most {
			return nil, p.fault(arg.place(), name.text+" takes at most "+plural(fn.most, "argument"), "")
		}
	}
	x.to = p.toks[p.at-1].pos + 1
	if len(x.args) == 0 {
		return nil, p.fault(name, name.text+" needs an argument", "")
	}
	return x, p.applied(x, fn)
}

func plural(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// meantFunction proposes a function for a name that is none.
func (p *parser[E]) meantFunction(written string) string {
	if p.fields[written] != nil {
		return "it is a field: leave the parenthesis out"
	}
	names := make([]string, 0, len(functions))
	for name := range functions {
		names = append(names, name)
	}
	slices.Sort(names)
	if name := nearest(strings.ToLower(written), names); name != "" {
		return "did you mean " + name + "?"
	}
	return "there are " + strings.Join(names, ", ")
}

// applied checks what a function is given, and gives it its type.
func (p *parser[E]) applied(x *expression[E], fn function) *Error {
	if err := p.counted(x); err != nil {
		return err
	}
	first := x.args[0]
	for _, arg := range x.args {
		switch {
		case arg.open && arg == first:
			return p.fault(arg.place(), x.op+" needs a field", "")
		case x.op == "count" && arg.op != "field":
			return p.fault(arg.place(), "count needs a field", "")
		case arg.open:
			if err := p.settle(arg, first.typ); err != nil {
				return err
			}
		case fn.takes != nil && !slices.Contains(fn.takes, arg.typ):
			return p.fault(arg.place(), x.op+" needs "+fn.wanted+", this is of type "+arg.typ.String(), "")
		case x.op == "len" && arg.headless():
			return p.headless(arg)
		}
	}
	x.typ = fn.gives(first.typ)
	for _, arg := range x.args[1:] {
		typ, ok := common(x.typ, arg.typ)
		if !ok {
			return p.fault(arg.place(), x.op+" needs arguments of one type: "+x.typ.String()+" and "+arg.typ.String(), "")
		}
		x.typ = typ
	}
	return nil
}

// headless tells a header of which the tree has no octets.
func (x *expression[E]) headless() bool {
	return x.op == "field" && x.f.Type == TypeNone && x.f.exact == nil
}

func (p *parser[E]) headless(x *expression[E]) *Error {
	return p.fault(x.place(), "where "+x.f.Name+" begins and ends is not known", "use frame, or a header such as infiniband.bth or ip")
}

// sliceable checks what a slice is taken of.
func (p *parser[E]) sliceable(n *expression[E]) *Error {
	if err := p.counted(n); err != nil {
		return err
	}
	x := n.args[0]
	switch {
	case x.headless():
		return p.headless(x)
	case x.open:
		return p.fault(x.place(), "a slice needs a field", "")
	case x.typ == TypeText, x.typ == TypeBytes, x.typ == TypeNone:
	case (x.typ == TypeMAC || x.typ == TypeIPv4 || x.typ == TypeIPv6) && x.op == "field":
	default:
		hint := ""
		if x.typ == TypeUint {
			hint = "use &, or string()"
		}
		return p.fault(x.place(), "a slice needs text, octets, a header or an address, this is of type "+x.typ.String(), hint)
	}
	n.typ = TypeBytes
	if x.typ == TypeText {
		n.typ = TypeText
	}
	return nil
}
