package filter

import (
	"encoding/binary"
	"encoding/hex"
	"net/netip"
	"strconv"
	"time"

	"rdmascope/decode/wire"
)

// Column reads one field of packets as text, as tshark -T fields does. It isn't
// safe for concurrent use.
type Column struct {
	f   *packetField
	env packetEnv
	m   machine[*packetEnv]
}

// CompileColumn looks a field up by its name. The error is an *Error.
func CompileColumn(name string) (*Column, error) {
	f := packetFields()[name]
	if f == nil {
		p := parser[*packetEnv]{fields: packetFields()}
		e := &Error{Expr: name, Len: len(name), Msg: "no field " + printable(name)}
		if name != "" {
			e.Hint = p.meant(name)
		}
		return nil, e
	}
	c := &Column{f: f}
	c.m.env = &c.env
	return c, nil
}

// Name is the field's name.
func (c *Column) Name() string { return c.f.Name }

// SetStart sets what frame.time_relative counts from.
func (c *Column) SetStart(ns int64) { c.env.start, c.env.started = ns, true }

// Append appends the field's values, with sep between them. A packet without
// the field has none.
func (c *Column) Append(dst []byte, p *wire.Packet, sep string) []byte {
	first := true
	next := func() {
		if !first {
			dst = append(dst, sep...)
		}
		first = false
	}
	if !c.env.started && !p.Has(wire.FlagNoTime) {
		c.SetStart(p.Time)
	}
	c.env.p, c.env.built = p, false
	c.m.deep = repeats(p)
	switch f := c.f; {
	case f.Type == TypeText:
		c.m.texts = f.texts(&c.env, c.m.texts[:0])
		for _, s := range c.m.texts {
			next()
			dst = append(dst, s...)
		}
	case f.Type == TypeBytes:
		c.m.octets = f.octets(&c.env, c.m.octets[:0])
		for _, b := range c.m.octets {
			next()
			dst = hex.AppendEncode(dst, b)
		}
	case f.Type == TypeNone:
		c.m.octets = f.octets(&c.env, c.m.octets[:0])
		if len(c.m.octets) > 0 {
			dst = append(dst, f.Name...)
		}
	default:
		c.m.nums = f.values(&c.m, c.m.nums[:0])
		for _, v := range c.m.nums {
			next()
			dst = appendNum(dst, f.Type, f.digits, v)
		}
	}
	c.env.p, c.env.tree = nil, nil
	return dst
}

// appendNum writes a number as its type is written.
func appendNum(dst []byte, t Type, digits int, v num) []byte {
	switch t {
	case TypeInt:
		return strconv.AppendInt(dst, v.int(), 10)
	case TypeFloat:
		return strconv.AppendFloat(dst, v.float(), 'g', -1, 64)
	case TypeMAC:
		for i := range 6 {
			if i > 0 {
				dst = append(dst, ':')
			}
			dst = hex.AppendEncode(dst, []byte{byte(v.lo >> (40 - 8*i))})
		}
		return dst
	case TypeIPv4:
		return netip.AddrFrom4([4]byte{byte(v.lo >> 24), byte(v.lo >> 16), byte(v.lo >> 8), byte(v.lo)}).AppendTo(dst)
	case TypeIPv6:
		var b [16]byte
		binary.BigEndian.PutUint64(b[:], v.hi)
		binary.BigEndian.PutUint64(b[8:], v.lo)
		return netip.AddrFrom16(b).AppendTo(dst)
	case TypeTime:
		return time.Unix(0, v.int()).UTC().AppendFormat(dst, "2006-01-02 15:04:05.000000000 UTC")
	case TypeEpoch, TypeDuration:
		return appendSeconds(dst, v.int())
	}
	if digits == 0 {
		return strconv.AppendUint(dst, v.lo, 10)
	}
	dst = append(dst, "0x"...)
	for i := digits - 1; i >= 0; i-- {
		dst = append(dst, "0123456789abcdef"[v.lo>>(4*i)&15])
	}
	return dst
}

// appendSeconds writes nanoseconds as seconds with nine decimals.
func appendSeconds(dst []byte, ns int64) []byte {
	u := uint64(ns)
	if ns < 0 {
		dst, u = append(dst, '-'), -u
	}
	dst = strconv.AppendUint(dst, u/1e9, 10)
	dst = append(dst, '.')
	frac := strconv.AppendUint(nil, u%1e9+1e9, 10)
	return append(dst, frac[1:]...)
}

// AppendNode appends the value of a node of a packet's tree as Column writes it:
// the number itself and not what it means.
func AppendNode(dst []byte, p *wire.Packet, n *wire.Node) []byte {
	f := packetFields()[n.Name]
	switch {
	case f == nil:
		return append(dst, n.Value...)
	case f.Type == TypeBytes && n.Len > 0:
		return hex.AppendEncode(dst, octetsOf(p, n))
	case f.Type.numeric() && n.Len > 0:
		if v, ok := nodeNum(p, n, f.Type); ok {
			return appendNum(dst, f.Type, f.digits, v)
		}
	}
	return append(dst, n.Value...)
}
