package filter

import (
	"errors"
	"strconv"
	"strings"
)

// common is the type in which two values are comparable.
func common(a, b Type) (Type, bool) {
	whole := func(t Type) bool { return t == TypeUint || t == TypeInt || t == TypeBool }
	octets := func(t Type) bool { return t == TypeBytes || t == TypeNone }
	switch {
	case a == b && !octets(a):
		return a, true
	case whole(a) && whole(b):
		return TypeInt, true
	case whole(a) && b == TypeFloat, a == TypeFloat && whole(b):
		return TypeFloat, true
	case (a == TypeEpoch || a == TypeDuration) && (b == TypeEpoch || b == TypeDuration):
		return TypeDuration, true
	case octets(a) && (octets(b) || b.hasOctets()), a.hasOctets() && octets(b):
		return TypeBytes, true
	}
	return 0, false
}

// hasOctets tells the addresses that may be compared with octets.
func (t Type) hasOctets() bool { return t == TypeMAC || t == TypeIPv4 || t == TypeIPv6 }

// operatorTypes are the types that an operator takes beside octets, which have
// & alone. Wireshark has it so too: seconds are added, not multiplied.
func takesOperator(op string, t Type) bool {
	switch t {
	case TypeUint, TypeInt:
		return true
	case TypeFloat:
		return op != "&" && op != "%"
	case TypeEpoch, TypeDuration:
		return op != "&" && op != "%" && op != "*" && op != "/"
	case TypeBool, TypeBytes, TypeNone:
		return op == "&"
	}
	return false
}

// arithmetic checks an operator and its operands, and gives it its type.
// Constants alone stay open until they meet something with a type.
func (p *parser[E]) arithmetic(n *expression[E]) *Error {
	if err := p.counted(n); err != nil {
		return err
	}
	n.open = true
	for _, x := range n.args {
		if x.open {
			continue
		}
		if !takesOperator(n.tok.text, x.typ) || x.headless() && n.op == "&" {
			return p.fault(x.place(), n.tok.text+" does not apply to type "+x.typ.String(), refusals[x.typ])
		}
		n.open = false
	}
	if n.open {
		return nil
	}
	n.typ = n.args[0].typ
	if n.args[0].open {
		n.typ = n.args[1].typ
	}
	for _, x := range n.args {
		if x.open {
			if err := p.settle(x, n.typ); err != nil {
				return err
			}
		}
		typ, ok := common(n.typ, x.typ)
		if !ok {
			return p.fault(n.tok, n.tok.text+" needs operands of one type: "+n.args[0].typ.String()+" and "+n.args[1].typ.String(), "")
		}
		n.typ = typ
	}
	if n.typ == TypeUint || n.typ == TypeBool {
		n.typ = TypeInt // a difference may be negative
	}
	return p.divisor(n)
}

// counted bounds what one filter may have of operators, functions and slices.
func (p *parser[E]) counted(n *expression[E]) *Error {
	if p.size++; p.size > maxTermSize {
		return p.fault(n.tok, "too much arithmetic in one filter", "")
	}
	return nil
}

// refusals say what to do instead.
var refusals = map[Type]string{
	TypeTime: "use frame.time_epoch or frame.time_relative", TypeText: "use len()", TypeBool: "compare it, or use &",
	TypeMAC: "take a slice: [0:3]", TypeIPv4: "take a slice, or a prefix length", TypeIPv6: "take a slice, or a prefix length",
}

// divisor refuses a division that never has a result.
func (p *parser[E]) divisor(n *expression[E]) *Error {
	if n.op != "/" && n.op != "%" || n.args[1].value == nil {
		return nil
	}
	if v := n.args[1].value; v.num.lo == 0 && v.f == 0 {
		return p.fault(n.args[1].place(), "nothing can be divided by 0", "")
	}
	return nil
}

// settle gives constants the type of what they meet, and their value.
func (p *parser[E]) settle(x *expression[E], t Type) *Error {
	x.open, x.typ = false, t
	if x.op == "constant" {
		return p.literal(x, t)
	}
	for _, y := range x.args {
		if err := p.settle(y, t); err != nil {
			return err
		}
		if y.typ == TypeFloat {
			x.typ = TypeFloat
		}
	}
	if !takesOperator(x.tok.text, x.typ) {
		return p.fault(x.tok, x.tok.text+" does not apply to type "+x.typ.String(), refusals[x.typ])
	}
	if err := p.divisor(x); err != nil {
		return err
	}
	return p.folded(x)
}

// folded computes constants at once.
func (p *parser[E]) folded(x *expression[E]) *Error {
	if x.typ == TypeBytes || x.typ == TypeNone || x.typ == TypeBool {
		return p.fault(x.place(), x.tok.text+" of two constants", "write the result")
	}
	args := make([]*value, 0, 2)
	for _, y := range x.args {
		v := y.value
		if x.typ == TypeFloat && y.typ != TypeFloat {
			f, _ := toFloat(v)
			v = &f
		}
		args = append(args, v)
	}
	var v value
	ok := true
	if len(args) == 1 {
		v = *args[0]
		if x.op == "negative" {
			v, ok = negate(args[0])
		}
	} else {
		v, ok = operatorOf(x.op, x.typ)(args[0], args[1])
	}
	if !ok {
		return p.fault(x.place(), "the result is too big", "")
	}
	x.value = &v
	return nil
}

// literal reads a constant that is part of an expression.
func (p *parser[E]) literal(x *expression[E], t Type) *Error {
	text, v, err := x.tok.text, value{}, error(nil)
	quoted := x.tok.kind == tokText
	switch t {
	case TypeUint, TypeInt:
		if v, err = wholeNumber(text); err != nil && t == TypeInt && errors.Is(err, strconv.ErrSyntax) {
			var s span
			if s, err = number(TypeFloat, text); err == nil {
				x.typ, v.f = TypeFloat, s.lo.float()
			}
		}
		if errors.Is(err, strconv.ErrRange) {
			err = errors.New(strconv.Quote(text) + " is too big a number")
		} else if err != nil {
			err = errors.New(strconv.Quote(text) + " is not a number")
		}
	case TypeText:
		v.b, quoted = []byte(text), false
	case TypeBytes, TypeNone:
		var fault *Error
		v.b, fault = p.octetsOf(x.tok)
		if fault != nil {
			return fault
		}
		quoted = false
	default:
		var s span
		if s, err = number(t, text); err == nil && s.lo != s.hi {
			err = errors.New(strconv.Quote(text) + " is a block of addresses")
		}
		quoted = quoted && t == TypeFloat
		v.of(t, s.lo)
	}
	if quoted && err == nil {
		err = errors.New(p.written(x.tok) + " is text, no number")
	}
	if err != nil {
		return p.fault(x.tok, printable(err.Error()), p.meantOperator(x.tok))
	}
	x.value = &v
	return nil
}

// meantName proposes a field for a constant that looks like the name of one.
func (p *parser[E]) meantName(t token) string {
	if t.kind != tokWord || !strings.Contains(t.text, ".") || strings.ContainsAny(t.text, ":/") || t.text[0]|0x20 < 'a' {
		return ""
	}
	return p.meant(t.text)
}

// meantOperator is for "a-1", which is one word.
func (p *parser[E]) meantOperator(t token) string {
	if hint := p.meantName(t); hint != "" {
		return hint
	}
	for i := 1; i < len(t.text) && t.kind == tokWord; i++ {
		if t.text[i] == '-' {
			return "write a space in front of -"
		}
	}
	return ""
}

// wholeNumber reads an integer of 64 bits and a sign.
func wholeNumber(s string) (value, error) {
	digits, neg := s, false
	if len(s) > 1 && s[0] == '-' {
		digits, neg = s[1:], true
	}
	v, err := strconv.ParseUint(digits, 0, 64)
	return integer(v, neg), err
}
