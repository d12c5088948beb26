package filter

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// order compiles a comparison of a number, an address or a time.
func (p *parser[E]) order(o operand[E], op, t token) (node[E], *Error) {
	if op.text == "contains" || op.text == "matches" {
		return nil, p.fault(op, op.text+" needs text or octets, "+o.f.Name+" is of type "+o.f.Type.String(), "")
	}
	c, err := p.constant(o.f, t)
	if err != nil {
		return nil, err
	}
	return o.number(spansOf(op.text, c), op.text), nil
}

// constant reads a constant for a field of numbers.
func (p *parser[E]) constant(f *field[E], t token) (span, *Error) {
	quoted := t.kind == tokText && (f.Type == TypeUint || f.Type == TypeInt || f.Type == TypeFloat)
	c, err := number(f.Type, t.text)
	if err == nil && !quoted {
		return c, nil
	}
	if quoted {
		hint := ""
		if f.Name == "infiniband.bth.opcode" {
			hint = "use rdma.opcode"
		}
		return span{}, p.fault(t, f.Name+" is a number: "+p.written(t)+" is text", hint)
	}
	return span{}, p.fault(t, printable(err.Error()), p.meantName(t))
}

// spansOf turns a comparison into the values for which it holds. For != and !==
// those for which it doesn't.
func spansOf(op string, c span) []span {
	switch op {
	case "gt", "ge":
		from, ok := c.lo, true
		if op == "gt" {
			from, ok = c.hi.next()
		}
		if ok {
			return []span{{from, maxNum}}
		}
		return nil
	case "lt", "le":
		to, ok := c.hi, true
		if op == "lt" {
			to, ok = c.lo.prev()
		}
		if ok {
			return []span{{num{}, to}}
		}
		return nil
	}
	return []span{c}
}

// number makes the node for a field of numbers.
func (o *operand[E]) number(spans []span, op string) node[E] {
	n := &numNode[E]{o.f, test{spans: spans, mask: o.mask}}
	n.not, n.every = o.quantified(op)
	if len(spans) == 1 && o.mask == 0 && len(o.f.get) == 1 {
		return &rangeNode[E]{f: o.f, get: o.f.get[0], span: spans[0], not: n.not, slow: n}
	}
	return n
}

// quantified tells how an operator deals with several values, unless any or all
// was written.
func (o *operand[E]) quantified(op string) (not, every bool) {
	not = op == "ne" || op == "any_ne"
	every = op == "ne" || op == "all_eq"
	if o.said {
		every = o.every
	}
	return not, every
}

// set compiles `in {a, b..c}`.
func (p *parser[E]) set(o operand[E]) (node[E], *Error) {
	spans, texts, err := p.elements(o.f.Type.numeric(), func(t token) (span, *Error) { return p.constant(o.f, t) })
	if err != nil {
		return nil, err
	}
	if o.f.Type.numeric() {
		return o.number(joined(spans), "in"), nil
	}
	return p.oneOf(o, texts)
}

// elements reads the elements of a set: spans of numbers, or texts.
func (p *parser[E]) elements(numeric bool, constant func(token) (span, *Error)) (spans []span, texts []token, err *Error) {
	if !p.punct("{") {
		if p.peek().kind == tokEnd {
			return nil, nil, p.unexpected()
		}
		return nil, nil, p.fault(p.peek(), p.written(p.peek())+" is no set", "write in {a, b..c}")
	}
	for {
		t := p.peek()
		if t.kind != tokWord && t.kind != tokText {
			return nil, nil, p.unexpected()
		}
		p.at++
		t = p.spaced(t)
		if !numeric {
			texts = append(texts, t)
		} else {
			s, err := p.element(t, constant)
			if err != nil {
				return nil, nil, err
			}
			spans = append(spans, s)
		}
		if p.punct("}") {
			return spans, texts, nil
		}
		if !p.punct(",") {
			return nil, nil, p.unexpected()
		}
	}
}

// spaced joins a range that has spaces in it, as "a .. b".
func (p *parser[E]) spaced(t token) token {
	for next := p.peek(); t.kind == tokWord && next.kind == tokWord && (strings.HasSuffix(t.text, "..") || strings.HasPrefix(next.text, "..")); next = p.peek() {
		t.text, t.len = t.text+next.text, next.pos+next.len-t.pos
		p.at++
	}
	return t
}

// element reads an element of a set: a constant, or a range of them.
func (p *parser[E]) element(t token, constant func(token) (span, *Error)) (span, *Error) {
	from, to, isRange := strings.Cut(t.text, "..")
	if t.kind == tokText || !isRange {
		return constant(t)
	}
	part := func(text string, at int) token { return token{tokWord, text, t.pos + at, len(text)} }
	a, err := constant(part(from, 0))
	if err != nil {
		return span{}, err
	}
	b, err := constant(part(to, t.len-len(to)))
	if err != nil {
		return span{}, err
	}
	if b.hi.less(a.lo) {
		return span{}, p.fault(t, "the range is empty: it goes backwards", "")
	}
	return span{a.lo, b.hi}, nil
}

// joined sorts spans and joins those that overlap, as test wants them.
func joined(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return a.lo.compare(b.lo) })
	out := spans[:0]
	for _, s := range spans {
		if n := len(out); n > 0 && !out[n-1].hi.less(s.lo) {
			if out[n-1].hi.less(s.hi) {
				out[n-1].hi = s.hi
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// oneOf compiles a set of texts or of octets.
func (p *parser[E]) oneOf(o operand[E], list []token) (node[E], *Error) {
	var n node[E]
	for _, t := range list {
		x, err := p.plain(o, token{kind: tokOp, text: "eq"}, t)
		if err != nil {
			return nil, err
		}
		if n == nil {
			n = x
		} else {
			n = &orNode[E]{n, x}
		}
	}
	return n, nil
}

func (p *parser[E]) plain(o operand[E], op, t token) (node[E], *Error) {
	if o.f.Type == TypeText {
		return p.text(o, op, t)
	}
	return p.octets(o, op, t)
}

// orders is which results of a comparison an operator wants.
var orders = map[string]func(int) bool{
	"eq": func(c int) bool { return c == 0 }, "ne": func(c int) bool { return c == 0 },
	"all_eq": func(c int) bool { return c == 0 }, "any_ne": func(c int) bool { return c == 0 },
	"lt": func(c int) bool { return c < 0 }, "le": func(c int) bool { return c <= 0 },
	"gt": func(c int) bool { return c > 0 }, "ge": func(c int) bool { return c >= 0 },
}

// text compiles a comparison of text.
func (p *parser[E]) text(o operand[E], op, t token) (node[E], *Error) {
	n := &textNode[E]{f: o.f}
	n.not, n.every = o.quantified(op.text)
	want := t.text
	switch op.text {
	case "contains":
		n.holds = func(s string) bool { return strings.Contains(s, want) }
	case "matches":
		re, err := p.regexp(t)
		if err != nil {
			return nil, err
		}
		n.holds = re.MatchString
	default:
		holds := orders[op.text]
		if holds == nil {
			return nil, p.fault(op, p.written(op)+" does not apply to text", "")
		}
		n.holds = func(s string) bool { return holds(strings.Compare(s, want)) }
	}
	return n, nil
}

// octets compiles a comparison of octets.
func (p *parser[E]) octets(o operand[E], op, t token) (node[E], *Error) {
	holds, err := p.octetsHold(op, t)
	if err != nil {
		return nil, err
	}
	n := &octetsNode[E]{f: o.f.searched(), holds: holds}
	n.not, n.every = o.quantified(op.text)
	return n, nil
}

// octetsHold is what an operator asks of octets.
func (p *parser[E]) octetsHold(op, t token) (func([]byte) bool, *Error) {
	if op.text == "matches" {
		re, err := p.regexp(t)
		if err != nil {
			return nil, err
		}
		return re.Match, nil
	}
	want, err := p.octetsOf(t)
	if err != nil {
		return nil, err
	}
	switch holds := orders[op.text]; {
	case op.text == "contains":
		return func(b []byte) bool { return bytes.Contains(b, want) }, nil
	case holds != nil:
		return func(b []byte) bool { return holds(bytes.Compare(b, want)) }, nil
	}
	return nil, p.fault(op, p.written(op)+" does not apply to octets", "")
}

// octetsOf reads a constant of octets. One in quotes stands for its own.
func (p *parser[E]) octetsOf(t token) ([]byte, *Error) {
	if t.kind != tokWord {
		return []byte(t.text), nil
	}
	want, ok := octetString(t.text)
	if !ok {
		return nil, p.fault(t, p.written(t)+" are no octets", cmp.Or(p.meantName(t), "write them as aa:bb:cc, or text in quotes"))
	}
	return want, nil
}

// regexp compiles the pattern of matches, which looks at no case, as in
// Wireshark.
func (p *parser[E]) regexp(t token) (*regexp.Regexp, *Error) {
	if t.kind != tokText {
		return nil, p.fault(t, "matches needs a pattern in quotes", "")
	}
	re, err := regexp.Compile("(?i)" + t.text)
	if err != nil {
		msg := strings.TrimPrefix(err.Error(), "error parsing regexp: ")
		return nil, p.fault(t, "not a regular expression: "+printable(msg), "")
	}
	return re, nil
}

// pair compiles a comparison of two fields.
func (p *parser[E]) pair(o operand[E], op token, other *field[E], t token) (node[E], *Error) {
	holds := orders[op.text]
	if holds == nil || o.mask != 0 || !o.f.Type.numeric() {
		return nil, p.fault(t, p.written(t)+" is a field: "+p.written(op)+" needs a constant here", "")
	}
	if o.f.Type != other.Type && !(counts(o.f.Type) && counts(other.Type)) {
		return nil, p.fault(t, o.f.Name+" is of type "+o.f.Type.String()+", "+other.Name+" of type "+other.Type.String(), "")
	}
	not, every := o.quantified(op.text)
	if not {
		equal := holds
		holds = func(c int) bool { return !equal(c) }
	}
	return &pairNode[E]{a: o.f, b: other, holds: holds, every: every}, nil
}

// counts tells the types that are mapped to plain unsigned numbers.
func counts(t Type) bool { return t == TypeUint || t == TypeBool }
