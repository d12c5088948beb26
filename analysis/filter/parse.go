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
	if every, ok := quantifiers[p.peek().text]; ok && p.toks[p.at].kind == tokWord && p.quantifies(p.toks[p.at+1]) {
		o.every, o.said = every, true
		p.at++
	}
	if !p.simple() {
		return p.expression(o)
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
	switch p.relates() {
	case "in":
		return p.set(o)
	case "not in":
		x, err := p.set(o)
		return &notNode[E]{x}, err
	case "":
		return p.bare(o)
	}
	return p.relation(o)
}

// quantifies tells whether any or all may stand in front of a token.
func (p *parser[E]) quantifies(t token) bool {
	return t.kind == tokWord || t.kind == tokMath || t.kind == tokPunct && (t.text == "{" || t.text == "(" && p.toks[min(p.at+2, len(p.toks)-1)].kind != tokEnd)
}

// simple tells whether the left side is a field, maybe with a mask: what needs no
// arithmetic and no expr.
func (p *parser[E]) simple() bool {
	t := p.peek()
	if t.kind != tokWord || p.fields[t.text] == nil && isConstant(t.text) || p.extends(p.at+1) {
		return t.kind == tokEnd || t.kind == tokOp || t.kind == tokPunct && t.text != "{" && t.text != "("
	}
	if next := p.toks[p.at+1]; next.kind == tokOp && next.text == "&" {
		mask := p.toks[p.at+2:]
		return mask[0].kind == tokEnd || mask[0].kind == tokOp ||
			mask[0].kind == tokWord && p.fields[mask[0].text] == nil && !p.extends(p.at+3) && mask[1].text != "&" && p.masks(t.text)
	}
	return true
}

// masks tells whether the field is a number, of which & takes bits.
func (p *parser[E]) masks(name string) bool {
	return p.fields[name] == nil || p.fields[name].Type.numeric()
}

// relates tells the relation that comes next, "" when there is none. Of a set
// it takes the operator.
func (p *parser[E]) relates() string {
	t := p.peek()
	switch {
	case t.kind != tokOp || t.text == "and" || t.text == "or" || t.text == "xor":
		return ""
	case t.text == "in":
		p.at++
		return "in"
	case t.text == "not":
		if next := p.toks[p.at+1]; next.kind == tokOp && next.text == "in" {
			p.at += 2
			return "not in"
		}
		return ""
	}
	return t.text
}

// expression compiles a comparison whose left side is more than a field.
func (p *parser[E]) expression(o operand[E]) (node[E], *Error) {
	a, err := p.operand()
	if err != nil {
		return nil, err
	}
	op := p.peek()
	switch p.relates() {
	case "in":
		return p.expressionSet(o, op, a)
	case "not in":
		x, err := p.expressionSet(o, token{kind: tokOp, text: "in"}, a)
		return &notNode[E]{x}, err
	case "":
		return p.bareTerm(o, a)
	}
	return p.against(o, a)
}

// against reads the operator and the right side.
func (p *parser[E]) against(o operand[E], a *expression[E]) (node[E], *Error) {
	op := p.next()
	t := p.peek()
	if single := (t.kind == tokWord || t.kind == tokText) && !p.extends(p.at+1) && p.toks[p.at+1].text != "&"; single && p.fields[t.text] == nil {
		p.at++
		return p.compare(o, a, op, &expression[E]{op: "constant", tok: t, from: t.pos, to: t.pos + t.len, open: true})
	}
	b, err := p.operand()
	if err != nil {
		return nil, err
	}
	return p.compare(o, a, op, b)
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

// relation reads the operator and what a field is compared with.
func (p *parser[E]) relation(o operand[E]) (node[E], *Error) {
	op := p.peek()
	t := p.toks[p.at+1]
	switch {
	case t.kind == tokEnd:
		p.at++
		return nil, p.unexpected()
	case t.kind != tokWord && t.kind != tokText && t.kind != tokMath && !(t.kind == tokPunct && (t.text == "{" || t.text == "(")):
		p.at++
		return nil, p.unexpected()
	case t.kind == tokWord || t.kind == tokText:
		if !p.extends(p.at+2) && p.toks[p.at+2].text != "&" {
			p.at += 2
			return p.plainRelation(o, op, t)
		}
	}
	return p.against(o, p.left(o))
}

// left is the left side as an expression.
func (p *parser[E]) left(o operand[E]) *expression[E] {
	x := &expression[E]{op: "field", tok: o.tok, from: o.tok.pos, to: o.tok.pos + o.tok.len, f: o.f, typ: o.f.Type}
	if o.mask == 0 {
		return x
	}
	mask := integer(o.mask, false)
	bits := &expression[E]{op: "constant", tok: o.tok, from: x.from, to: x.to, typ: TypeInt, value: &mask}
	return &expression[E]{op: "&", tok: o.tok, from: x.from, to: x.to, typ: TypeInt, args: []*expression[E]{x, bits}}
}

// plainRelation compares a field with a constant or a field.
func (p *parser[E]) plainRelation(o operand[E], op, t token) (node[E], *Error) {
	other := p.fields[t.text]
	if t.kind != tokWord {
		other = nil
	}
	if o.f.Type == TypeNone && op.text != "contains" && op.text != "matches" && other == nil {
		return nil, p.notComparable(o.f.Name, op)
	}
	if other != nil && op.text != "contains" && op.text != "matches" {
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

func (p *parser[E]) notComparable(name string, op token) *Error {
	return p.fault(op, name+" is a header: it is there or it isn't", "leave the comparison out, or name one of its fields")
}
