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

	closes   []int // of each parenthesis, once asked for
	size     int   // operators of arithmetic
	programs int   // that expr runs
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

// and puts the terms that expr runs behind the others: so it runs only for what
// passed those.
func (p *parser[E]) and() (node[E], *Error) {
	var quick, slow node[E]
	for {
		before := p.programs
		x, err := p.unary()
		switch {
		case err != nil:
			return nil, err
		case p.programs > before:
			slow = both(slow, x)
		default:
			quick = both(quick, x)
		}
		if !p.op("and") {
			return both(quick, slow), nil
		}
	}
}

func both[E any](a, b node[E]) node[E] {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &andNode[E]{a, b}
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
	if p.peek().kind == tokPunct && p.peek().text == "(" && !p.grouped() {
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
	if c := written[0]; c == '@' {
		return "raw octets: take a slice of frame or of a header"
	} else if c-'0' < 10 || c == '-' {
		return "the field stands on the left"
	}
	if hint, ok := substitutes[written]; ok {
		return hint
	}
	if name, _, ok := strings.Cut(written, "-"); ok && p.fields[name] != nil {
		return "write a space in front of -"
	}
	if name, _, ok := strings.Cut(written, "#"); ok && p.fields[name] != nil {
		return "layers can't be chosen: leave # out"
	}
	_, packet := packetFields()[written]
	_, flow := flowFields()[written]
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
