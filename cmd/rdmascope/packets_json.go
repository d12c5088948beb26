package main

import (
	"unicode/utf8"

	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
)

// jsonWriter prints packets in the shape of tshark -T json: layers of fields,
// values as texts. Names that occur more than once in a packet become lists,
// as with tshark's --no-duplicate-keys.
type jsonWriter struct {
	some bool
	text []byte
}

func (w *jsonWriter) begin(dst []byte) []byte { return append(dst, '[') }

func (w *jsonWriter) end(dst []byte) []byte { return append(dst, "\n]\n"...) }

func (w *jsonWriter) packet(dst []byte, p *wire.Packet) []byte {
	if w.some {
		dst = append(dst, ',')
	}
	w.some = true
	dst = append(dst, "\n{\"_source\":{\"layers\":"...)
	dst = w.object(dst, p, wire.Tree(p))
	return append(dst, "}}"...)
}

// object writes nodes as an object. A field that has parts has them in
// NAME_tree beside its value.
func (w *jsonWriter) object(dst []byte, p *wire.Packet, nodes []wire.Node) []byte {
	dst = append(dst, '{')
	first := true
	for i := range nodes {
		n := &nodes[i]
		if earlier(nodes[:i], n) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = appendJSONText(dst, keyOf(n))
		dst = append(dst, ':')
		dst = w.values(dst, p, nodes[i:], n)
		if isField(n) && len(n.Children) > 0 {
			dst = append(dst, ',')
			dst = appendJSONText(dst, keyOf(n)+"_tree")
			dst = append(dst, ':')
			dst = w.object(dst, p, n.Children)
		}
	}
	return append(dst, '}')
}

// values writes the nodes that have n's name: one as it is, several as a list.
func (w *jsonWriter) values(dst []byte, p *wire.Packet, rest []wire.Node, n *wire.Node) []byte {
	list := earlier(rest[1:], n)
	if list {
		dst = append(dst, '[')
	}
	first := true
	for i := range rest {
		if keyOf(&rest[i]) != keyOf(n) {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = w.value(dst, p, &rest[i])
	}
	if list {
		dst = append(dst, ']')
	}
	return dst
}

func (w *jsonWriter) value(dst []byte, p *wire.Packet, n *wire.Node) []byte {
	if !isField(n) && len(n.Children) > 0 {
		return w.object(dst, p, n.Children)
	}
	w.text = filter.AppendNode(w.text[:0], p, n)
	return appendJSONText(dst, string(w.text))
}

// isField tells fields from headers, which are nothing but their fields.
func isField(n *wire.Node) bool { return n.Numeric || len(n.Children) == 0 }

func keyOf(n *wire.Node) string {
	if n.Name != "" {
		return n.Name
	}
	return n.Label
}

func earlier(nodes []wire.Node, n *wire.Node) bool {
	for i := range nodes {
		if keyOf(&nodes[i]) == keyOf(n) {
			return true
		}
	}
	return false
}

// appendJSONText writes a JSON string (RFC 8259 §7). Control characters are
// escaped, so that none of a packet's reaches a terminal.
func appendJSONText(dst []byte, s string) []byte {
	const digits = "0123456789abcdef"
	dst = append(dst, '"')
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			switch {
			case c == '"' || c == '\\':
				dst = append(dst, '\\', c)
			case c < 0x20 || c == 0x7f:
				dst = append(dst, `\u00`...)
				dst = append(dst, digits[c>>4], digits[c&15])
			default:
				dst = append(dst, c)
			}
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			dst = append(dst, `\ufffd`...)
		case r < 0xa0:
			dst = append(dst, `\u00`...)
			dst = append(dst, digits[r>>4], digits[r&15])
		default:
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return append(dst, '"')
}
