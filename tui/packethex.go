package tui

import (
	"fmt"
	"strconv"
)

func uintText(v uint64) string { return strconv.FormatUint(v, 10) }

// hexLine is how many octets a line of the dump has.
const hexLine = 16

// drawHex dumps the octets with those of a field highlighted; the field is
// scrolled into sight.
func drawHex(r region, data []byte, off, length int) {
	lines := (len(data) + hexLine - 1) / hexLine
	first := 0
	if length > 0 {
		first = off / hexLine
		last := (off + length - 1) / hexLine
		if last-first < r.h {
			first -= (r.h - (last - first + 1)) / 2
		}
	}
	first = max(min(first, lines-r.h), 0)
	for y := 0; y < r.h && first+y < lines; y++ {
		at := (first + y) * hexLine
		r.print(1, y, faint, fmt.Sprintf("%04x", at))
		for i := 0; i < hexLine && at+i < len(data); i++ {
			b := data[at+i]
			x := 7 + 3*i
			if i >= hexLine/2 {
				x++
			}
			l := plain
			if length > 0 && at+i >= off && at+i < off+length {
				l = match
			}
			r.print(x, y, l, fmt.Sprintf("%02x", b))
			c := "."
			if b >= 0x20 && b < 0x7f {
				c = string(rune(b))
			}
			r.print(58+i, y, l, c)
		}
	}
}
