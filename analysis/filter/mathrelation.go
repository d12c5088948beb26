package filter

import (
	"bytes"
	"slices"
)

// mirrored are the operators with their sides exchanged.
var mirrored = map[string]string{"eq": "eq", "ne": "ne", "all_eq": "all_eq", "any_ne": "any_ne", "lt": "gt", "gt": "lt", "le": "ge", "ge": "le"}

// bareTerm is an expression without a comparison: that it has a value or, with
// &, that a bit is set.
func (p *parser[E]) bareTerm(o operand[E], x *expression[E]) (node[E], *Error) {
	switch {
	case x.op == "field":
		return &existsNode[E]{x.f}, nil
	case x.open:
		return nil, p.noField(x)
	case functions[x.op].most > 0:
		return nil, p.fault(x.place(), x.op+"() has to be compared with something", "")
	}
	e := p.emitter()
	source, err := e.write(x)
	if err != nil {
		return nil, err
	}
	if x.op == "&" {
		prog, err := e.compile(x, e.call("Nonzero", callNonzero, source))
		return &termNode[E]{prog, o.every}, err
	}
	prog, err := e.compile(x, source)
	return &computedNode[E]{prog}, err
}

func (p *parser[E]) noField(x *expression[E]) *Error {
	return p.fault(x.place(), "there is no field to compare with", "")
}

// compare makes the term of a comparison of two expressions.
func (p *parser[E]) compare(o operand[E], a *expression[E], op token, b *expression[E]) (node[E], *Error) {
	if a.open && b.open {
		return nil, p.noField(a)
	}
	if a.open {
		other, ok := mirrored[op.text]
		if !ok {
			return nil, p.fault(op, p.written(op)+" wants the field on the left", "")
		}
		a, b, op.text = b, a, other
	}
	if a.op == "field" && (b.op == "field" || b.op == "constant") { // no work for expr
		o.f, o.tok = a.f, a.tok
		return p.plainRelation(o, op, b.tok)
	}
	if a.typ == TypeNone && a.op == "field" && op.text != "contains" && op.text != "matches" && b.typ != TypeBytes {
		return nil, p.notComparable(a.f.Name, op)
	}
	if b.open {
		return p.compareConstant(o, a, op, b)
	}
	return p.compareBoth(o, a, op, b)
}

// compareConstant compares an expression with a constant.
func (p *parser[E]) compareConstant(o operand[E], a *expression[E], op token, b *expression[E]) (node[E], *Error) {
	if !a.typ.numeric() {
		if b.op != "constant" {
			return nil, p.fault(b.place(), "an expression of numbers, compared with type "+a.typ.String(), "")
		}
		if a.typ == TypeText && op.text != "matches" {
			b.tok.kind = tokText
		}
		holds, err := p.octetsHold(op, b.tok)
		if err != nil {
			return nil, err
		}
		not, _ := o.quantified(op.text)
		return p.term(o, op, a, a.typ, func(v any) bool { return holds(v.(*value).b) != not })
	}
	if op.text == "contains" || op.text == "matches" {
		return nil, p.fault(op, op.text+" needs text or octets, this is of type "+a.typ.String(), "use string()")
	}
	if b.op == "constant" {
		c, typ, err := p.keySpan(a.typ, b.tok)
		if err != nil {
			return nil, err
		}
		return p.inSpans(o, op, a, typ, spansOf(op.text, c))
	}
	if err := p.settle(b, a.typ); err != nil {
		return nil, err
	}
	if v, ok := b.value.plain(b.typ); ok && a.op == "field" && b.typ == a.typ { // no work for expr
		o.f = a.f
		return o.number(spansOf(op.text, span{v, v}), op.text), nil
	}
	c := b.value.key(b.typ)
	return p.inSpans(o, op, a, b.typ, spansOf(op.text, span{c, c}))
}

// keySpan reads a constant as keys of values; typ is how it has to be compared.
func (p *parser[E]) keySpan(t Type, tok token) (c span, typ Type, err *Error) {
	if slices.Contains(addressTypes, t) { // with a prefix length, maybe
		s, fault := number(t, tok.text)
		if fault != nil {
			return span{}, t, p.fault(tok, printable(fault.Error()), p.meantName(tok))
		}
		return s, t, nil
	}
	x := &expression[E]{op: "constant", tok: tok, from: tok.pos, to: tok.pos + tok.len}
	if err := p.settle(x, t); err != nil {
		return span{}, t, err
	}
	return span{x.value.key(x.typ), x.value.key(x.typ)}, x.typ, nil
}

// inSpans is the term that asks whether an expression lies in spans.
func (p *parser[E]) inSpans(o operand[E], op token, a *expression[E], typ Type, spans []span) (node[E], *Error) {
	t := &test{spans: spans}
	t.not, _ = o.quantified(op.text)
	return p.term(o, op, a, typ, func(v any) bool { return t.pass(v.(*value).key(typ)) })
}

// compareBoth compares two expressions.
func (p *parser[E]) compareBoth(o operand[E], a *expression[E], op token, b *expression[E]) (node[E], *Error) {
	typ, ok := common(a.typ, b.typ)
	if !ok {
		return nil, p.fault(op, "type "+a.typ.String()+" is not compared with type "+b.typ.String(), "")
	}
	octets := !typ.numeric()
	holds := orders[op.text]
	switch {
	case op.text == "contains" && octets:
	case op.text == "contains":
		return nil, p.fault(op, "contains needs text or octets, this is of type "+a.typ.String(), "")
	case holds == nil:
		return nil, p.fault(b.place(), p.written(op)+" needs a pattern in quotes", "")
	}
	for _, x := range []*expression[E]{a, b} {
		if x.headless() {
			return nil, p.headless(x)
		}
	}
	if op.text == "contains" && a.op == "field" {
		wide := *a
		wide.f, a = a.f.searched(), &wide
	}
	not, every := o.quantified(op.text)
	e := p.emitter()
	x, err := e.as(a, typ)
	if err != nil {
		return nil, err
	}
	y, err := e.as(b, typ)
	if err != nil {
		return nil, err
	}
	var fn func(x, y any) bool
	switch {
	case op.text == "contains":
		fn = func(x, y any) bool { return bytes.Contains(x.(*value).b, y.(*value).b) }
	case octets:
		fn = func(x, y any) bool { return holds(bytes.Compare(x.(*value).b, y.(*value).b)) != not }
	default:
		fn = func(x, y any) bool { return holds(x.(*value).key(typ).compare(y.(*value).key(typ))) != not }
	}
	prog, err := e.compile(a, e.call("Holds", fn, x, y))
	return &termNode[E]{prog, every}, err
}

// term is the node of an expression and what its value has to pass.
func (p *parser[E]) term(o operand[E], op token, a *expression[E], typ Type, pass func(any) bool) (node[E], *Error) {
	if a.headless() {
		return nil, p.headless(a)
	}
	e := p.emitter()
	if typ == TypeNone {
		typ = TypeBytes
	}
	source, err := e.as(a, typ)
	if err != nil {
		return nil, err
	}
	prog, err := e.compile(a, e.call("Passes", pass, source))
	_, every := o.quantified(op.text)
	return &termNode[E]{prog, every}, err
}

// expressionSet compiles `in {…}` for an expression.
func (p *parser[E]) expressionSet(o operand[E], op token, a *expression[E]) (node[E], *Error) {
	if a.open {
		return nil, p.noField(a)
	}
	if a.op == "field" {
		o.f, o.tok = a.f, a.tok
		return p.set(o)
	}
	typ := a.typ
	spans, list, err := p.elements(a.typ.numeric(), func(t token) (span, *Error) {
		s, exact, err := p.keySpan(typ, t)
		if err == nil && exact != a.typ {
			err = p.fault(t, p.written(t)+" is no whole number", "")
		}
		return s, err
	})
	if err != nil {
		return nil, err
	}
	if a.typ.numeric() {
		return p.inSpans(o, op, a, a.typ, joined(spans))
	}
	var wanted []func([]byte) bool
	for _, t := range list {
		if a.typ == TypeText {
			t.kind = tokText
		}
		holds, err := p.octetsHold(token{kind: tokOp, text: "eq"}, t)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, holds)
	}
	return p.term(o, op, a, a.typ, func(v any) bool {
		return slices.ContainsFunc(wanted, func(holds func([]byte) bool) bool { return holds(v.(*value).b) })
	})
}
