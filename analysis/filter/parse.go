package filter

import (
	"strconv"
	"strings"
)

// Bounds of what a filter may be: both far beyond what people and reports
// write, and small enough that none can exhaust the stack.
const (
	maxExpr  = 1 << 20
	maxDepth = 500
)

// parser compiles while it reads.
type parser[E any] struct {
	expr   string
	toks   []token
	at     int
	depth  int
	fields map[string]*field[E]
	used   []*field[E] // what the filter asks for
}

// compile turns a filter into a node. An empty one holds for everything.
func compile[E any](expr string, fields map[string]*field[E]) (node[E], []*field[E], error) {
	if len(expr) > maxExpr {
		return nil, nil, &Error{Expr: expr[:40] + "…", Len: 40, Msg: "the filter is longer than " + strconv.Itoa(maxExpr) + " octets"}
	}
	toks, fault := lex(expr)
	if fault != nil {
		return nil, nil, fault
	}
	p := &parser[E]{expr: expr, toks: toks, fields: fields}
	if p.peek().kind == tokEnd {
		return nil, nil, nil
	}
	n, fault := p.or()
	if fault == nil && p.peek().kind != tokEnd {
		fault = p.unexpected()
	}
	if fault != nil {
		return nil, nil, fault
	}
	return n, p.used, nil
}

func (p *parser[E]) peek() token { return p.toks[p.at] }

func (p *parser[E]) next() token {
	t := p.toks[p.at]
	if t.kind != tokEnd {
		p.at++
	}
	return t
}

// op takes the next token if it is the operator, by its canonical name.
func (p *parser[E]) op(name string) bool {
	t := p.peek()
	if t.kind != tokOp || t.text != name {
		return false
	}
	p.at++
	return true
}

func (p *parser[E]) punct(sign string) bool {
	t := p.peek()
	if t.kind != tokPunct || t.text != sign {
		return false
	}
	p.at++
	return true
}

func (p *parser[E]) fault(t token, msg, hint string) *Error {
	return &Error{Expr: p.expr, Pos: t.pos, Len: t.len, Msg: msg, Hint: hint}
}

func (p *parser[E]) written(t token) string { return printable(p.expr[t.pos : t.pos+t.len]) }

// unexpected is the fault of a token that nothing waits for.
func (p *parser[E]) unexpected() *Error {
	t := p.peek()
	switch {
	case t.kind == tokEnd:
		return p.fault(t, "the filter ends too early", "")
	case t.kind == tokPunct && t.text == "[":
		return p.fault(t, "slices are not supported", "use contains, matches, &, or a prefix length")
	case t.kind == tokPunct && t.text == "(" && p.at > 0 && p.toks[p.at-1].kind == tokWord:
		return p.fault(p.toks[p.at-1], "functions are not supported", "")
	case t.kind == tokWord && keywords[strings.ToLower(t.text)] != "":
		return p.fault(t, p.written(t)+" was unexpected here", "operators are written small: "+strings.ToLower(t.text))
	}
	return p.fault(t, p.written(t)+" was unexpected here", "")
}

// or, xor, and, unary: from the loosest to the closest.
func (p *parser[E]) or() (node[E], *Error) {
	a, err := p.xor()
	for err == nil && p.op("or") {
		var b node[E]
		if b, err = p.xor(); err == nil {
			a = &orNode[E]{a, b}
		}
	}
	return a, err
}

func (p *parser[E]) xor() (node[E], *Error) {
	a, err := p.and()
	for err == nil && p.op("xor") {
		var b node[E]
		if b, err = p.and(); err == nil {
			a = &xorNode[E]{a, b}
		}
	}
	return a, err
}

func (p *parser[E]) and() (node[E], *Error) {
	a, err := p.unary()
	for err == nil && p.op("and") {
		var b node[E]
		if b, err = p.unary(); err == nil {
			a = &andNode[E]{a, b}
		}
	}
	return a, err
}

func (p *parser[E]) unary() (node[E], *Error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fault(p.peek(), "nested too deep", "")
	}
	defer func() { p.depth-- }()
	if p.op("not") {
		x, err := p.unary()
		return &notNode[E]{x}, err
	}
	if p.peek().kind == tokPunct && p.peek().text == "(" {
		open := p.next()
		x, err := p.or()
		if err == nil && !p.punct(")") {
			if p.peek().kind == tokEnd {
				return nil, p.fault(open, "the parenthesis is never closed", "")
			}
			return nil, p.unexpected()
		}
		return x, err
	}
	return p.comparison()
}

// quantifiers of Wireshark 4, in front of a field.
var quantifiers = map[string]bool{"any": false, "all": true}

// operand is the left side of a comparison.
type operand[E any] struct {
	f     *field[E]
	tok   token
	mask  uint64 // of field & mask, 0: none
	every bool
	said  bool // any or all was written
}

func (p *parser[E]) comparison() (node[E], *Error) {
	o := operand[E]{}
	if every, ok := quantifiers[p.peek().text]; ok && p.toks[p.at].kind == tokWord && p.toks[p.at+1].kind == tokWord {
		o.every, o.said = every, true
		p.at++
	}
	var err *Error
	if o.f, o.tok, err = p.field(); err != nil {
		return nil, err
	}
	if t := p.peek(); p.op("&") {
		if err := p.mask(&o, t); err != nil {
			return nil, err
		}
	}
	t := p.peek()
	if t.kind == tokPunct && (t.text == "[" || t.text == "(") {
		return nil, p.unexpected()
	}
	if t.kind == tokOp && t.text == "not" && p.toks[p.at+1].text == "in" && p.toks[p.at+1].kind == tokOp {
		p.at++
		x, err := p.relation(o)
		return &notNode[E]{x}, err
	}
	if t.kind == tokOp && t.text != "and" && t.text != "or" && t.text != "xor" && t.text != "not" {
		return p.relation(o)
	}
	return p.bare(o)
}

// bare is a field without an operator: that it is there, or that one of the
// bits asked for is set.
func (p *parser[E]) bare(o operand[E]) (node[E], *Error) {
	if o.mask != 0 {
		zero := test{spans: []span{{}}, not: true, mask: o.mask, every: o.every}
		return &numNode[E]{o.f, zero}, nil
	}
	return &existsNode[E]{o.f}, nil
}

// field reads the name of a field.
func (p *parser[E]) field() (*field[E], token, *Error) {
	t := p.peek()
	if t.kind != tokWord {
		if t.kind == tokText {
			return nil, t, p.fault(t, p.written(t)+" is no field", "the field stands on the left")
		}
		return nil, t, p.unexpected()
	}
	p.at++
	f := p.fields[t.text]
	if f == nil {
		if p.peek().kind == tokPunct && p.peek().text == "(" {
			return nil, t, p.unexpected()
		}
		return nil, t, p.fault(t, "no field "+printable(t.text), p.meant(t.text))
	}
	p.used = append(p.used, f)
	return f, t, nil
}

// meant proposes a field for a name that is none.
func (p *parser[E]) meant(written string) string {
	if c := written[0]; c-'0' < 10 || c == '-' {
		return "the field stands on the left"
	}
	if hint, ok := substitutes[written]; ok {
		return hint
	}
	_, packet := packetFields[written]
	_, flow := flowFields[written]
	switch {
	case packet:
		return "it is a field of packets, not of flows"
	case flow:
		return "it is a field of flows, not of packets"
	}
	names := make([]string, 0, len(p.fields))
	for name := range p.fields {
		names = append(names, name)
	}
	if name := nearest(strings.ToLower(written), names); name != "" {
		return "did you mean " + name + "?"
	}
	return ""
}

// mask reads what follows &.
func (p *parser[E]) mask(o *operand[E], op token) *Error {
	if o.f.Type != TypeUint && o.f.Type != TypeBool {
		return p.fault(op, "& needs an unsigned number, "+o.f.Name+" is of type "+o.f.Type.String(), "")
	}
	t := p.next()
	v, err := number(TypeUint, t.text)
	switch {
	case t.kind == tokEnd:
		return p.unexpected()
	case t.kind != tokWord || err != nil:
		return p.fault(t, p.written(t)+" is not an unsigned number", "")
	case v.lo == num{}:
		return p.fault(t, "no bit of 0 is ever set", "")
	}
	o.mask = v.lo.lo
	return nil
}

// relation reads the operator and what it compares with.
func (p *parser[E]) relation(o operand[E]) (node[E], *Error) {
	op := p.next()
	if o.f.Type == TypeNone && op.text != "contains" && op.text != "matches" {
		return nil, p.fault(op, o.f.Name+" is a header: it is there or it isn't", "leave the comparison out, or name one of its fields")
	}
	if op.text == "in" {
		return p.set(o)
	}
	t := p.next()
	if t.kind == tokEnd {
		return nil, p.unexpected()
	}
	if t.kind != tokWord && t.kind != tokText {
		p.at--
		return nil, p.unexpected()
	}
	if other := p.fields[t.text]; other != nil && t.kind == tokWord && op.text != "contains" && op.text != "matches" {
		p.used = append(p.used, other)
		return p.pair(o, op, other, t)
	}
	switch {
	case o.f.Type == TypeText:
		return p.text(o, op, t)
	case !o.f.Type.numeric():
		return p.octets(o, op, t)
	}
	return p.order(o, op, t)
}
