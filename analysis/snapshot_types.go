package analysis

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"
)

// Int gives a nullable figure that is known.
func Int(v int64) *int64 { return &v }

// Bool gives a nullable answer that is known.
func Bool(v bool) *bool { return &v }

// Time is a moment of the capture's clock in ns since the Unix epoch. Zero
// means unknown: no capture of RDMA dates from 1970, and a file without
// timestamps carries zeros.
type Time int64

const timeLayout = "2006-01-02T15:04:05.000000000Z"

// Known tells whether there is a time at all.
func (t Time) Known() bool { return t != 0 }

// UTC converts to the standard library's type.
func (t Time) UTC() time.Time { return time.Unix(0, int64(t)).UTC() }

// String gives RFC 3339 in UTC with nine decimals, or "" when unknown.
func (t Time) String() string {
	if t == 0 {
		return ""
	}
	return t.UTC().Format(timeLayout)
}

// MarshalJSON writes a string: ns since the epoch exceed the 2^53 that JSON
// numbers carry safely.
func (t Time) MarshalJSON() ([]byte, error) {
	if t == 0 {
		return []byte("null"), nil
	}
	return t.UTC().AppendFormat(make([]byte, 0, len(timeLayout)+2), `"`+timeLayout+`"`), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (t *Time) UnmarshalJSON(b []byte) error {
	if string(b) == "null" {
		*t = 0
		return nil
	}
	v, err := time.Parse(`"`+time.RFC3339Nano+`"`, string(b))
	if err != nil {
		return fmt.Errorf("report time %s: %w", b, err)
	}
	*t = Time(v.UnixNano())
	return nil
}

// Text is a string of which "" means unknown: JSON null.
type Text string

// MarshalJSON writes null for the empty text.
func (t Text) MarshalJSON() ([]byte, error) {
	if t == "" {
		return []byte("null"), nil
	}
	return marshal(string(t))
}

// Decimal is a ratio or a rate, made from integers when the snapshot is
// formed. JSON carries at most nine decimals, so that no float noise shows.
type Decimal float64

// Quotient divides two counts; nil where there is nothing to divide by.
func Quotient(part, whole int64) *Decimal {
	if whole == 0 {
		return nil
	}
	d := Decimal(float64(part) / float64(whole))
	return &d
}

// MarshalJSON writes plain decimals, never an exponent.
func (d Decimal) MarshalJSON() ([]byte, error) {
	v := float64(d)
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return []byte("null"), nil
	}
	b := strconv.AppendFloat(nil, v, 'f', 9, 64)
	b = bytes.TrimRight(b, "0")
	b = bytes.TrimSuffix(b, []byte("."))
	if string(b) == "-0" {
		b = b[1:]
	}
	return b, nil
}

// List is a slice that is [] in JSON when empty, never null.
type List[T any] []T

// MarshalJSON writes [] for nil.
func (l List[T]) MarshalJSON() ([]byte, error) {
	if len(l) == 0 {
		return []byte("[]"), nil
	}
	return marshal([]T(l))
}

// Map is a map with text keys that is {} in JSON when empty, never null;
// encoding/json sorts its keys.
type Map[T any] map[string]T

// MarshalJSON writes {} for nil.
func (m Map[T]) MarshalJSON() ([]byte, error) {
	if len(m) == 0 {
		return []byte("{}"), nil
	}
	return marshal(map[string]T(m))
}

// Counts is how many of each name.
type Counts = Map[int64]

// ByNumber is how many of each small number (DSCP, PCP, timer code); JSON
// keys are the numbers in decimal, in numeric order.
type ByNumber map[int]int64

// MarshalJSON writes {} for nil and keeps numeric order, which the standard
// library would turn into the order of the decimal strings.
func (m ByNumber) MarshalJSON() ([]byte, error) {
	b := []byte{'{'}
	for i, k := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendInt(b, int64(k), 10)
		b = append(b, '"', ':')
		b = strconv.AppendInt(b, m[k], 10)
	}
	return append(b, '}'), nil
}

// marshal is json.Marshal without the escapes for HTML: the Wireshark filters
// of a report are full of "&&" and must stay readable. Whether the whole is
// escaped is then the outer encoder's choice.
func marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
