package main

import (
	"rdmascope/decode/wire"
)

// nameWidth is where the words of a field begin, behind its name.
const nameWidth = 44

// appendTree writes the tree of a packet: headers by their names in words, each
// field with the name by which filters know it.
func appendTree(dst []byte, nodes []wire.Node, depth int) []byte {
	for i := range nodes {
		n := &nodes[i]
		if depth > 0 || len(n.Children) == 0 {
			dst = appendName(dst, n.Name, depth)
		}
		dst = appendClean(dst, n.Label)
		if n.Value != "" {
			dst = append(dst, ": "...)
			dst = appendClean(dst, n.Value)
		}
		dst = append(dst, '\n')
		dst = appendTree(dst, n.Children, depth+1)
	}
	return dst
}

func appendName(dst []byte, name string, depth int) []byte {
	start := len(dst)
	for range depth {
		dst = append(dst, "    "...)
	}
	dst = append(append(dst, name...), ' ')
	for len(dst)-start < nameWidth {
		dst = append(dst, ' ')
	}
	return dst
}

// appendHex writes octets with their offsets, 16 to a line, as tshark -x.
func appendHex(dst, b []byte) []byte {
	const digits = "0123456789abcdef"
	for off := 0; off < len(b); off += 16 {
		for shift := 12; shift >= 0; shift -= 4 {
			if shift == 12 && off > 0xffff {
				dst = append(dst, digits[off>>20&15], digits[off>>16&15])
			}
			dst = append(dst, digits[off>>shift&15])
		}
		dst = append(dst, ' ')
		row := b[off:min(off+16, len(b))]
		for i := range 16 {
			if i >= len(row) {
				dst = append(dst, "   "...)
				continue
			}
			dst = append(dst, ' ', digits[row[i]>>4], digits[row[i]&15])
		}
		dst = append(dst, "   "...)
		for _, c := range row {
			if c < 0x20 || c > 0x7e {
				c = '.'
			}
			dst = append(dst, c)
		}
		dst = append(dst, '\n')
	}
	return dst
}
