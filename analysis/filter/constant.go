package filter

import (
	"encoding/hex"
	"errors"
	"math"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"rdmascope/decode/wire"
)

// number reads a constant for a numeric field. It is a span because an address
// may have a prefix length.
func number(t Type, s string) (span, error) {
	var v num
	var err error
	switch t {
	case TypeUint:
		v, err = unsigned(s)
	case TypeInt:
		var i int64
		i, err = strconv.ParseInt(s, 0, 64)
		v = intNum(i)
	case TypeBool:
		v, err = boolean(s)
	case TypeFloat:
		var f float64
		if f, err = strconv.ParseFloat(s, 64); err == nil && math.IsNaN(f) {
			err = strconv.ErrSyntax
		}
		v = floatNum(f + 0) // −0 is 0
	case TypeMAC:
		v, err = macAddress(s)
	case TypeIPv4, TypeIPv6, TypeIP:
		return address(t, s)
	case TypeTime:
		v, err = moment(s)
	default:
		v, err = seconds(s)
	}
	if err != nil {
		if errors.Is(err, strconv.ErrRange) {
			return span{}, errors.New(strconv.Quote(s) + " is too big a number")
		}
		return span{}, errors.New(strconv.Quote(s) + " is not " + wants[t])
	}
	return span{v, v}, nil
}

var wants = [...]string{
	TypeUint: "an unsigned number", TypeInt: "a number", TypeBool: "0, 1, true or false", TypeFloat: "a number",
	TypeMAC: "an Ethernet address", TypeIPv4: "an IPv4 address", TypeIPv6: "an IPv6 address", TypeIP: "an IP address",
	TypeTime: "a time such as \"2026-03-04 10:15:02.113\" (UTC)", TypeEpoch: "a number of seconds", TypeDuration: "a number of seconds",
}

// unsigned reads a number, or octets: Wireshark has immediate data and the R_Key
// of IETH as octets.
func unsigned(s string) (num, error) {
	if b, ok := octetString(s); ok && len(b) <= 8 && strings.Contains(s, ":") {
		var v uint64
		for _, x := range b {
			v = v<<8 | uint64(x)
		}
		return uintNum(v), nil
	}
	v, err := strconv.ParseUint(s, 0, 64)
	return uintNum(v), err
}

func boolean(s string) (num, error) {
	switch s {
	case "1", "true", "True", "TRUE":
		return boolNum(true), nil
	case "0", "false", "False", "FALSE":
		return boolNum(false), nil
	}
	return num{}, strconv.ErrSyntax
}

// macAddress reads aa:bb:cc:dd:ee:ff, with - or . between, also in pairs of
// octets as Cisco writes them.
func macAddress(s string) (num, error) {
	digits := strings.Map(func(r rune) rune {
		if r == ':' || r == '-' || r == '.' {
			return -1
		}
		return r
	}, s)
	b, err := hex.DecodeString(digits)
	if n := len(s); err != nil || len(b) != 6 || n != 17 && n != 14 {
		return num{}, strconv.ErrSyntax
	}
	return macNum(wire.MAC(b)), nil
}

func macNum(m wire.MAC) num {
	var v uint64
	for _, x := range m {
		v = v<<8 | uint64(x)
	}
	return num{0, v}
}

func addrNum(a wire.Addr) num { return num{a.Hi, a.Lo} }

func ipNum(ip netip.Addr) num {
	b := ip.As16()
	var v num
	for i := range 8 {
		v.hi = v.hi<<8 | uint64(b[i])
		v.lo = v.lo<<8 | uint64(b[8+i])
	}
	return v
}

// address reads an address, with a prefix length or without. TypeIP has IPv4 in
// the mapped form, as wire.Addr.
func address(t Type, s string) (span, error) {
	if lid, ok := strings.CutPrefix(s, "lid:"); ok && t == TypeIP { // InfiniBand without a GRH
		if v, err := strconv.ParseUint(lid, 10, 16); err == nil {
			n := addrNum(wire.AddrLID(uint16(v)))
			return span{n, n}, nil
		}
	}
	fault := errors.New(strconv.Quote(s) + " is not " + wants[t] + " (names are not resolved)")
	text, length, isBlock := strings.Cut(s, "/")
	ip, err := netip.ParseAddr(text)
	if err != nil || ip.Zone() != "" || t == TypeIPv4 && !ip.Is4() || t == TypeIPv6 && ip.Is4() {
		return span{}, fault
	}
	bits := ip.BitLen()
	v := ipNum(ip)
	if t == TypeIPv4 {
		v = num{0, v.lo & math.MaxUint32}
	}
	if !isBlock {
		return span{v, v}, nil
	}
	n, err := strconv.Atoi(length)
	if err != nil || n < 0 || n > bits || length[0] == '+' {
		return span{}, errors.New("/" + length + " is no prefix length: 0 to " + strconv.Itoa(bits))
	}
	return block(v, bits-n), nil
}

// seconds reads seconds with up to nine decimals, as nanoseconds.
func seconds(s string) (num, error) {
	whole, frac, _ := strings.Cut(s, ".")
	negative := strings.HasPrefix(whole, "-")
	sec, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return num{}, err
	}
	if len(frac) > 9 || strings.ContainsAny(frac, "+-_") {
		return num{}, strconv.ErrSyntax
	}
	ns, err := strconv.ParseInt((frac + "000000000")[:9], 10, 64)
	if err != nil {
		return num{}, err
	}
	const most = math.MaxInt64/1_000_000_000 - 1
	if sec > most || sec < -most {
		return num{}, strconv.ErrRange
	}
	if negative {
		ns = -ns
	}
	return intNum(sec*1e9 + ns), nil
}

// moment reads a time. What names no zone is UTC, as all times that this
// program prints.
func moment(s string) (num, error) {
	s = strings.TrimSuffix(strings.TrimSuffix(s, " UTC"), "Z")
	for _, layout := range []string{"2006-01-02 15:04:05", "2006-01-02T15:04:05", "2006-01-02 15:04", "2006-01-02", "Jan _2, 2006 15:04:05",
		"2006-01-02T15:04:05Z07:00", "2006-01-02 15:04:05Z07:00"} {
		if t, err := time.Parse(layout, s); err == nil && t.Year() > 1700 && t.Year() < 2260 {
			return intNum(t.UnixNano()), nil
		}
	}
	return num{}, strconv.ErrSyntax
}

// octetString reads octets: aa:bb:cc, with - or . between, or 0xaabbcc.
func octetString(s string) ([]byte, bool) {
	digits := s
	if len(s) == 1 || len(s) == 3 && strings.HasPrefix(s, "0x") { // one octet
		digits, s = "0"+s[len(s)-1:], ""
	}
	if t, ok := strings.CutPrefix(s, "0x"); ok {
		digits = t
	} else if strings.ContainsAny(s, ":-.") {
		parts := strings.FieldsFunc(s, func(r rune) bool { return r == ':' || r == '-' || r == '.' })
		for _, p := range parts {
			if len(p)%2 != 0 {
				return nil, false
			}
		}
		digits = strings.Join(parts, "")
	}
	b, err := hex.DecodeString(digits)
	return b, err == nil && len(b) > 0
}
