package filter

import (
	"strings"
	"unicode/utf8"
)

type kind uint8

const (
	tokEnd   kind = iota
	tokWord       // a field, a keyword, or a constant without quotes
	tokText       // a constant in quotes; text holds it without them
	tokOp         // an operator of signs, by its canonical name
	tokMath       // one of + - * / %
	tokPunct      // one of ( ) { } [ ] ,
)

type token struct {
	kind     kind
	text     string
	pos, len int // in the filter
}

// signs are the operators of signs, longest first, and their canonical names.
var signs = []struct{ sign, name string }{
	{"===", "all_eq"}, {"!==", "any_ne"},
	{"==", "eq"}, {"!=", "ne"}, {"~=", "any_ne"}, {">=", "ge"}, {"<=", "le"}, {"&&", "and"}, {"||", "or"}, {"^^", "xor"},
	{">", "gt"}, {"<", "lt"}, {"!", "not"}, {"&", "&"}, {"~", "matches"},
}

// keywords are the operators in letters, and their canonical names.
var keywords = map[string]string{
	"eq": "eq", "ne": "ne", "gt": "gt", "lt": "lt", "ge": "ge", "le": "le", "any_eq": "eq", "all_ne": "ne", "all_eq": "all_eq", "any_ne": "any_ne",
	"and": "and", "or": "or", "xor": "xor", "not": "not", "in": "in", "contains": "contains", "matches": "matches", "bitwise_and": "&",
}

// wordEnds are the signs at which a word ends; mathSigns do so mostly.
const (
	wordEnds  = " \t\r\n\"'()[]{},=!<>&|~^"
	mathSigns = "+*/%"
)

// wordLen is the length of the word that s begins with. A sign of arithmetic is
// part of it in an address with a prefix length or a zone, in a time with a zone
// and in an exponent. A minus always is: names, times and addresses have it, and
// so Wireshark wants a space in front of an operator too.
func wordLen(s string) int {
	for i := range len(s) {
		switch c := s[i]; {
		case strings.IndexByte(wordEnds, c) >= 0:
			return i
		case strings.IndexByte(mathSigns, c) >= 0 && !inWord(s[:i], c):
			return i
		}
	}
	return len(s)
}

func inWord(before string, c byte) bool {
	switch {
	case strings.Contains(before, ":"):
		return c != '*'
	case c == '/':
		return before != "" && strings.Count(before, ".") == 3 && before[0]-'0' < 10
	case c == '+':
		return len(before) > 1 && before[len(before)-1]|0x20 == 'e' && strings.Trim(before[:len(before)-1], "0123456789.") == ""
	}
	return false
}

// lex splits a filter into tokens.
func lex(expr string) ([]token, *Error) {
	var toks []token
	for at := 0; ; {
		for at < len(expr) && strings.IndexByte(" \t\r\n", expr[at]) >= 0 {
			at++
		}
		if at == len(expr) {
			return append(toks, token{kind: tokEnd, pos: at}), nil
		}
		t, err := lexOne(expr, at)
		if err != nil {
			return nil, err
		}
		toks = append(toks, t)
		at += t.len
	}
}

// isNegative tells a minus that belongs to a number.
func isNegative(s string) bool {
	return len(s) > 1 && (s[1]-'0' < 10 || s[1] == '.' && len(s) > 2 && s[2]-'0' < 10)
}

func lexOne(expr string, at int) (token, *Error) {
	rest := expr[at:]
	switch c := rest[0]; {
	case strings.IndexByte("(){}[],", c) >= 0:
		return token{tokPunct, rest[:1], at, 1}, nil
	case c == '"' || c == '\'':
		return lexText(expr, at)
	}
	for _, s := range signs {
		if strings.HasPrefix(rest, s.sign) {
			return token{tokOp, s.name, at, len(s.sign)}, nil
		}
	}
	if c := rest[0]; strings.IndexByte(mathSigns, c) >= 0 || c == '-' && !isNegative(rest) {
		return token{tokMath, rest[:1], at, 1}, nil
	}
	n := wordLen(rest)
	if n == 0 { // = | ^ alone
		hints := map[byte]string{'=': "write == to compare", '|': "write || or or", '^': "write ^^ or xor"}
		return token{}, &Error{Expr: expr, Pos: at, Len: 1, Msg: "no operator " + rest[:1], Hint: hints[rest[0]]}
	}
	if op := keywords[rest[:n]]; op != "" {
		return token{tokOp, op, at, n}, nil
	}
	return token{tokWord, rest[:n], at, n}, nil
}

// lexText reads a constant in quotes, with C's escapes.
func lexText(expr string, at int) (token, *Error) {
	quote := expr[at]
	var b strings.Builder
	for i := at + 1; i < len(expr); i++ {
		switch c := expr[i]; c {
		case quote:
			return token{tokText, b.String(), at, i + 1 - at}, nil
		case '\\':
			n, ok := escape(&b, expr[i+1:])
			if !ok {
				_, size := utf8.DecodeRuneInString(expr[min(i+1, len(expr)):])
				return token{}, &Error{Expr: expr, Pos: i, Len: 1 + size, Msg: "no such escape in a text", Hint: `write \\ for a backslash`}
			}
			i += n
		default:
			b.WriteByte(c)
		}
	}
	return token{}, &Error{Expr: expr, Pos: at, Len: len(expr) - at, Msg: "the text has no end", Hint: "close it with " + string(quote)}
}

// escape writes what the escape in front of s stands for, and returns how much
// of s it takes. What is an escape only to a regular expression stays as it is.
func escape(b *strings.Builder, s string) (n int, ok bool) {
	if s == "" {
		return 0, false
	}
	if i := strings.IndexByte(`\"'abfnrtv`, s[0]); i >= 0 {
		b.WriteByte("\\\"'\a\b\f\n\r\t\v"[i])
		return 1, true
	}
	if s[0] == 'x' && len(s) >= 3 && isHex(s[1]) && isHex(s[2]) {
		b.WriteByte(unhex(s[1])<<4 | unhex(s[2]))
		return 3, true
	}
	if strings.IndexByte(`.dwsDWSB+*?()[]{}^$|/`, s[0]) >= 0 {
		b.WriteByte('\\')
		b.WriteByte(s[0])
		return 1, true
	}
	return 0, false
}

func isHex(c byte) bool { return c-'0' < 10 || c|0x20-'a' < 6 }

func unhex(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}
