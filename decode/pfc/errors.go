package pfc

import "errors"

// How a frame can fail to decode. A malformed frame's error is one of the
// reasons below; a MAC control opcode that is neither PFC nor PAUSE is
// ErrOpcode.
var (
	// ErrTruncated: the capture cut the frame before its last field.
	ErrTruncated = errors.New("pfc: cut by the capture")
	// ErrOpcode: a MAC control frame of another kind.
	ErrOpcode = errors.New("pfc: unknown MAC control opcode")
	// ErrMalformed: errors.Is(err, ErrMalformed) holds for every Reason.
	ErrMalformed = errors.New("pfc: malformed")
)

// Reason tells why a frame is malformed. A malformed frame changes no pause
// state. Quanta of disabled classes, an empty enable vector and missing padding
// are no reasons.
type Reason uint8

// Reasons, in the order in which they are looked for.
const (
	ReasonNone        Reason = iota
	ReasonShort              // less on the wire than the fields need
	ReasonDestination        // not 01-80-C2-00-00-01
	ReasonVector             // high byte of the enable vector not 0
)

// reasonErrors are allocated once, so that the hot path can return them.
var reasonErrors = [...]error{nil, malformed(ReasonShort), malformed(ReasonDestination), malformed(ReasonVector)}

type malformed Reason

func (m malformed) Error() string        { return "pfc: " + Reason(m).String() }
func (m malformed) Is(target error) bool { return target == ErrMalformed }

// String returns the reason in words.
func (r Reason) String() string {
	switch r {
	case ReasonNone:
		return "well-formed"
	case ReasonShort:
		return "shorter than its fields"
	case ReasonDestination:
		return "destination is not 01-80-C2-00-00-01"
	case ReasonVector:
		return "high byte of the class-enable vector is not 0"
	}
	return "invalid"
}
