package main

import (
	"fmt"
	"strconv"
	"time"
	"unicode/utf8"

	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
)

func (a *app) warnf(format string, args ...any) {
	fmt.Fprintf(a.stderr, "rdmascope: warning: "+format+"\n", args...)
}

// timeForm is how the column of times is written.
type timeForm uint8

const (
	sinceFirst timeForm = iota
	sinceBefore
	sincePrinted
	timeOfDay
	dateAndTime
	sinceEpoch
)

// timeForms are tshark's -t. All times are UTC, so u is a.
var timeForms = map[string]timeForm{"r": sinceFirst, "d": sinceBefore, "dd": sincePrinted, "a": timeOfDay, "ad": dateAndTime, "u": timeOfDay, "ud": dateAndTime, "e": sinceEpoch}

// packetClock knows the times that others are counted from.
type packetClock struct {
	form            timeForm
	started         bool
	first           int64
	now             int64 // of the packet at hand
	before, printed int64
}

// tick takes the next packet, printed or not.
func (c *packetClock) tick(p *wire.Packet) {
	if p.Has(wire.FlagNoTime) {
		return
	}
	if !c.started {
		c.started, c.first, c.now, c.printed = true, p.Time, p.Time, p.Time
	}
	c.before, c.now = c.now, p.Time
}

func (c *packetClock) append(dst []byte, p *wire.Packet) []byte {
	if p.Has(wire.FlagNoTime) {
		return append(dst, '-')
	}
	defer func() { c.printed = p.Time }()
	switch c.form {
	case sinceBefore:
		return appendNanos(dst, p.Time-c.before)
	case sincePrinted:
		return appendNanos(dst, p.Time-c.printed)
	case timeOfDay:
		return time.Unix(0, p.Time).UTC().AppendFormat(dst, "15:04:05.000000000")
	case dateAndTime:
		return time.Unix(0, p.Time).UTC().AppendFormat(dst, "2006-01-02 15:04:05.000000000")
	case sinceEpoch:
		return appendNanos(dst, p.Time)
	}
	return appendNanos(dst, p.Time-c.first)
}

// appendNanos writes nanoseconds as seconds with nine decimals.
func appendNanos(dst []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		dst, u = append(dst, '-'), -u
	}
	dst = strconv.AppendUint(dst, u/1e9, 10)
	dst = append(dst, '.')
	for div := uint64(1e8); div > 0; div /= 10 {
		dst = append(dst, byte('0'+u%1e9/div%10))
	}
	return dst
}

// textWriter prints a line a packet, or with -V its tree, or with -x its octets
// too.
type textWriter struct {
	clock        packetClock
	verbose, hex bool
	field        []byte
}

func (w *textWriter) tick(p *wire.Packet) { w.clock.tick(p) }

func (w *textWriter) begin(dst []byte) []byte { return dst }

func (w *textWriter) end(dst []byte) []byte { return dst }

func (w *textWriter) packet(dst []byte, p *wire.Packet) []byte {
	if w.verbose {
		dst = appendTree(dst, wire.Tree(p), 0)
	} else {
		dst = w.line(dst, p)
	}
	if w.hex && !p.Has(wire.FlagPart) { // with the first of its frame
		dst = appendHex(dst, p.Data)
	}
	if w.verbose || w.hex {
		dst = append(dst, '\n')
	}
	return dst
}

// Widths of the columns: what is longer pushes the rest to the right, as in
// tshark, since nobody knows the widest before the end.
const (
	numberWidth   = 5
	timeWidth     = 11
	addressWidth  = 12
	protocolWidth = 6
	lengthWidth   = 4
)

func (w *textWriter) line(dst []byte, p *wire.Packet) []byte {
	w.field = strconv.AppendInt(w.field[:0], p.Number, 10)
	dst = append(right(dst, w.field, numberWidth), ' ')
	w.field = w.clock.append(w.field[:0], p)
	dst = append(right(dst, w.field, timeWidth), ' ')
	w.field = appendHost(w.field[:0], p, p.Src, p.EthSrc)
	dst = append(right(dst, w.field, addressWidth), " → "...)
	w.field = appendHost(w.field[:0], p, p.Dst, p.EthDst)
	dst = append(left(dst, w.field, addressWidth), ' ')
	w.field = append(w.field[:0], filter.Protocol(p)...)
	dst = append(left(dst, w.field, protocolWidth), ' ')
	w.field = strconv.AppendUint(w.field[:0], uint64(p.Wire), 10)
	dst = append(right(dst, w.field, lengthWidth), ' ')
	dst = appendClean(dst, wire.Summary(p))
	for dst[len(dst)-1] == ' ' {
		dst = dst[:len(dst)-1]
	}
	return append(dst, '\n')
}

// appendHost writes the network address, or else the Ethernet address.
func appendHost(dst []byte, p *wire.Packet, a wire.Addr, m wire.MAC) []byte {
	if _, lid := a.LID(); lid {
		return append(dst, a.String()...)
	}
	switch {
	case p.Has(wire.FlagNet):
		return a.IP().AppendTo(dst)
	case p.Has(wire.FlagEth):
		const digits = "0123456789abcdef"
		for i, x := range m {
			if i > 0 {
				dst = append(dst, ':')
			}
			dst = append(dst, digits[x>>4], digits[x&15])
		}
	}
	return dst
}

func right(dst, field []byte, width int) []byte {
	for n := len(field); n < width; n++ {
		dst = append(dst, ' ')
	}
	return append(dst, field...)
}

func left(dst, field []byte, width int) []byte {
	dst = append(dst, field...)
	for n := len(field); n < width; n++ {
		dst = append(dst, ' ')
	}
	return dst
}

// appendClean appends text that may come from a packet without what would
// steer a terminal: control characters (C0, DEL, C1), and octets that are no
// UTF-8.
func appendClean(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c < 0x20 || c == 0x7f {
				c = '.'
			}
			dst = append(dst, c)
			i++
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		// Beside C1, the marks that turn the direction of writing (UAX #9).
		if r == utf8.RuneError && n == 1 || r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 || r == 0x200e || r == 0x200f {
			dst = append(dst, '.')
		} else {
			dst = append(dst, s[i:i+n]...)
		}
		i += n
	}
	return dst
}
