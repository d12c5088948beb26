package filter

import (
	"slices"
	"strings"
)

// expression is one side of a comparison that is more than a field or a
// constant. bound gives it its types; then a term is made of it.
type expression[E any] struct {
	op       string // "field", "constant", an operator, "slice", or a function's name
	tok      token  // of the field, the constant, the operator or the name
	from, to int    // its octets in the filter
	args     []*expression[E]
	f        *field[E]
	parts    []slicePart // of a slice
	typ      Type
	open     bool   // constants alone: what they are is told by the other side
	value    *value // of constants, once that is known
}

func (x *expression[E]) place() token { return token{pos: x.from, len: x.to - x.from} }

// isMath tells whether a token is an operator of arithmetic.
func (t token) isMath(signs string) bool {
	return t.kind == tokMath && strings.Contains(signs, t.text) || strings.Contains(signs, "-") && t.isMinus()
}

// isMinus tells a constant with a minus, which after an operand is an operator.
func (t token) isMinus() bool { return t.kind == tokWord && len(t.text) > 1 && t.text[0] == '-' }

// extends tells whether an operand goes on behind its first token.
func (p *parser[E]) extends(at int) bool {
	t := p.toks[min(at, len(p.toks)-1)]
	return t.isMath("+-*/%") || t.kind == tokPunct && (t.text == "[" || t.text == "(")
}

// operand reads bits of sums of products: & binds least, as in Wireshark.
func (p *parser[E]) operand() (*expression[E], *Error) {
	x, err := p.chain("+-", func() (*expression[E], *Error) { return p.chain("*/%", p.signed) })
	for err == nil && p.peek().kind == tokOp && p.peek().text == "&" {
		op := p.next()
		var y *expression[E]
		y, err = p.chain("+-", func() (*expression[E], *Error) { return p.chain("*/%", p.signed) })
		if err == nil {
			x, err = p.join(op, x, y)
		}
	}
	return x, err
}

func (p *parser[E]) chain(signs string, next func() (*expression[E], *Error)) (*expression[E], *Error) {
	x, err := next()
	for err == nil && p.peek().isMath(signs) {
		op := p.peek()
		if op.isMinus() { // "a -1": the minus is the operator
			t := &p.toks[p.at]
			op = token{tokMath, "-", t.pos, 1}
			*t = token{tokWord, t.text[1:], t.pos + 1, t.len - 1}
		} else {
			p.at++
		}
		var y *expression[E]
		if y, err = next(); err == nil {
			x, err = p.join(op, x, y)
		}
	}
	return x, err
}

func (p *parser[E]) join(op token, x, y *expression[E]) (*expression[E], *Error) {
	n := &expression[E]{op: op.text, tok: op, from: x.from, to: y.to, args: []*expression[E]{x, y}}
	return n, p.arithmetic(n)
}

// signed is an operand with signs in front.
func (p *parser[E]) signed() (*expression[E], *Error) {
	if p.depth++; p.depth > maxDepth {
		return nil, p.fault(p.peek(), "nested too deep", "")
	}
	defer func() { p.depth-- }()
	op := p.peek()
	if !(op.kind == tokMath && (op.text == "-" || op.text == "+")) {
		return p.primary()
	}
	p.at++
	x, err := p.signed()
	if err != nil || op.text == "+" && x.open {
		return x, err
	}
	n := &expression[E]{op: "negative", tok: op, from: op.pos, to: x.to, args: []*expression[E]{x}}
	if op.text == "+" {
		n.op = "positive"
	}
	return n, p.arithmetic(n)
}

// primary is a field, a constant, a function or a group, maybe a slice of it.
func (p *parser[E]) primary() (x *expression[E], err *Error) {
	t := p.peek()
	switch {
	case t.kind == tokPunct && (t.text == "{" || t.text == "("):
		x, err = p.group()
	case t.kind == tokWord && p.toks[p.at+1].kind == tokPunct && p.toks[p.at+1].text == "(":
		x, err = p.call()
	case t.kind == tokText || t.kind == tokWord && p.fields[t.text] == nil && isConstant(t.text):
		p.at++
		x = &expression[E]{op: "constant", tok: t, from: t.pos, to: t.pos + t.len, open: true}
	default:
		var f *field[E]
		if f, t, err = p.field(); err == nil {
			x = &expression[E]{op: "field", tok: t, from: t.pos, to: t.pos + t.len, f: f, typ: f.Type}
		}
	}
	for err == nil && p.peek().kind == tokPunct && p.peek().text == "[" {
		open := p.next()
		n := &expression[E]{op: "slice", tok: open, from: x.from, args: []*expression[E]{x}}
		if n.parts, err = p.slice(open); err == nil {
			n.to = p.toks[p.at-1].pos + 1
			err = p.sliceable(n)
			x = n
		}
	}
	return x, err
}

// isConstant tells a word that can be no field.
func isConstant(s string) bool {
	return s[0]-'0' < 10 || s[0] == '-' || s[0] == '.' || strings.Contains(s, ":")
}

// group is an operand in brackets: braces, as Wireshark wants them, or
// parentheses.
func (p *parser[E]) group() (*expression[E], *Error) {
	open := p.next()
	x, err := p.operand()
	if err != nil {
		return nil, err
	}
	if close := map[string]string{"{": "}", "(": ")"}[open.text]; !p.punct(close) {
		if p.peek().kind == tokEnd {
			return nil, p.fault(open, "the "+bracketNames[open.text]+" is never closed", "")
		}
		return nil, p.unexpected()
	}
	x.from, x.to = open.pos, p.toks[p.at-1].pos+1
	return x, nil
}

var bracketNames = map[string]string{"{": "brace", "(": "parenthesis"}

// grouped tells whether the parenthesis that comes next holds an operand, and
// no tests: the sign behind it wants one.
func (p *parser[E]) grouped() bool {
	if p.closes == nil {
		p.closes = matching(p.toks)
	}
	at := p.closes[p.at]
	if at == 0 {
		return false
	}
	t := p.toks[at+1]
	switch t.kind {
	case tokOp:
		return !slices.Contains([]string{"and", "or", "xor", "not"}, t.text) || t.text == "not" && p.toks[at+2].text == "in"
	case tokMath:
		return true
	}
	return t.isMinus() || t.kind == tokPunct && t.text == "["
}

// matching gives for each parenthesis the place of the one that closes it, or 0.
func matching(toks []token) []int {
	closes, open := make([]int, len(toks)), []int(nil)
	for i, t := range toks {
		switch {
		case t.kind == tokPunct && t.text == "(":
			open = append(open, i)
		case t.kind == tokPunct && t.text == ")" && len(open) > 0:
			closes[open[len(open)-1]] = i
			open = open[:len(open)-1]
		}
	}
	return closes
}
