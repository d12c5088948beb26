package filter

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
	if other != nil && op.text == "contains" && o.mask == 0 {
		if typ, ok := common(o.f.Type, other.Type); ok && !typ.numeric() {
			p.used = append(p.used, other)
			return p.compareBoth(o, p.left(o), op, p.left(operand[E]{f: other, tok: t}))
		}
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
