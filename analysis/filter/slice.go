package filter

import (
	"strconv"
	"strings"
)

// maxParts bounds the parts of one slice.
const maxParts = 64

// slicePart is one part of a slice: from an offset on, of which a negative one
// counts from the end.
type slicePart struct {
	from, to int  // to is the last octet with last, else how many
	last     bool // [i-j]
	rest     bool // [i:]
}

// cut gives the part of b; ok is false where b is too short.
func (p slicePart) cut(b []byte) (out []byte, ok bool) {
	from := p.from
	if from < 0 {
		from += len(b)
	}
	to := len(b)
	switch {
	case p.last:
		if to = p.to; to < 0 {
			to += len(b)
		}
		to++
	case !p.rest:
		to = from + p.to
	}
	if from < 0 || to <= from || to > len(b) {
		return nil, false
	}
	return b[from:to:to], true
}

// cutAll gives all parts of a slice, joined.
func cutAll(a *value, parts []slicePart) (value, bool) {
	if len(parts) == 1 {
		b, ok := parts[0].cut(a.b)
		return value{b: b}, ok
	}
	from := len(a.s.bytes)
	for _, p := range parts {
		b, ok := p.cut(a.b)
		if !ok || len(a.s.bytes)-from+len(b) > maxJoined {
			return value{}, false
		}
		a.s.bytes = append(a.s.bytes, b...)
	}
	return value{b: a.s.bytes[from:]}, true
}

// slice reads what stands in brackets, of which the first has been taken.
func (p *parser[E]) slice(open token) ([]slicePart, *Error) {
	at := p.at
	for ; p.toks[at].kind != tokEnd && (p.toks[at].kind != tokPunct || p.toks[at].text != "]"); at++ {
		if p.toks[at].kind == tokText {
			return nil, p.fault(p.toks[at], p.written(p.toks[at])+" is no offset", sliceForms)
		}
	}
	end := p.toks[at]
	if end.kind == tokEnd {
		return nil, p.fault(open, "the slice is never closed", "")
	}
	p.at = at + 1
	var parts []slicePart
	from := open.pos + open.len
	for text := range strings.SplitSeq(p.expr[from:end.pos], ",") {
		t := token{tokWord, strings.TrimSpace(text), from, len(text)}
		if t.text == "" {
			t.len = max(t.len, 1)
			return nil, p.fault(t, "an offset is missing", sliceForms)
		}
		t.pos += strings.Index(text, t.text)
		t.len = len(t.text)
		part, msg := readPart(t.text)
		if msg != "" {
			return nil, p.fault(t, printable(msg), sliceForms)
		}
		if parts = append(parts, part); len(parts) > maxParts {
			return nil, p.fault(t, "a slice has at most "+strconv.Itoa(maxParts)+" parts", "")
		}
		from += len(text) + 1
	}
	return parts, nil
}

const sliceForms = "write [offset], [offset:length], [first-last], [:length] or [offset:]"

// readPart reads one part, or tells what is wrong with it.
func readPart(s string) (p slicePart, msg string) {
	var ok bool
	if from, to, found := strings.Cut(s, ":"); found {
		from, to = strings.TrimSpace(from), strings.TrimSpace(to)
		if p.from, ok = offset(from); !ok && from != "" {
			return p, from + " is no offset"
		}
		if p.rest = to == ""; p.rest {
			return p, ""
		}
		if p.to, ok = offset(to); !ok || p.to <= 0 {
			return p, strconv.Quote(to) + " is no length: 1 or more"
		}
		return p, ""
	}
	if i := strings.LastIndexByte(s, '-'); i > 0 {
		j := i
		if k := strings.TrimRight(s[:i], " \t\r\n"); strings.HasSuffix(k, "-") && len(k) > 1 { // [i--j]
			j = len(k) - 1
		}
		from, to := strings.TrimSpace(s[:j]), strings.TrimSpace(s[j+1:])
		if p.from, ok = offset(from); !ok {
			return p, from + " is no offset"
		}
		if p.to, ok = offset(to); !ok {
			return p, to + " is no offset"
		}
		if p.last = true; (p.from < 0) == (p.to < 0) && p.to < p.from {
			return p, "the slice is empty: it goes backwards"
		}
		return p, ""
	}
	if p.from, ok = offset(s); !ok {
		return p, s + " is no offset"
	}
	p.to = 1
	return p, ""
}

func offset(s string) (int, bool) {
	v, err := strconv.ParseInt(s, 0, 32)
	return int(v), err == nil && !strings.ContainsAny(s, "_+")
}
