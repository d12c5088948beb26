package roce

import "errors"

// The three ways in which a packet can fail to decode. They are never mixed:
// a cut packet says something about the capture, a malformed one about its
// sender, an unknown one about this program. Test with errors.Is.
var (
	// ErrTruncated: the packet was longer on the wire; the capture cut it.
	ErrTruncated = errors.New("roce: cut by the capture")
	// ErrMalformed: the packet's own lengths or fields contradict each other.
	ErrMalformed = errors.New("roce: malformed")
	// ErrUnknown: an opcode or version that isn't looked into.
	ErrUnknown = errors.New("roce: unknown")
)

// Error tells the header at which decoding ended and why. All values are
// preallocated: the hot path returns them as they are, and they can be compared
// and used as map keys.
type Error struct {
	Class  error // ErrTruncated, ErrMalformed or ErrUnknown
	Header Header
	Reason string // in words, without the header's name
}

// Error returns "RETH: reason".
func (e *Error) Error() string { return e.Header.String() + ": " + e.Reason }

// Is makes errors.Is(err, ErrTruncated) and the like work.
func (e *Error) Is(target error) bool { return target == e.Class }

// Sentinels of single faults. Those of cut and crowded-out headers are one per
// header: see Header.Cut and Header.NoRoom.
var (
	// ErrPad: PadCnt asks for more bytes than there are between the headers and
	// the ICRC.
	ErrPad = &Error{ErrMalformed, HeaderBTH, "pad count larger than what is left for the payload"}
	// ErrVersion: TVer is not 0 (IBTA 9.2.4); no such transport is defined, and
	// usually such bytes are no BTH at all.
	ErrVersion = &Error{ErrUnknown, HeaderBTH, "transport header version is not 0"}
	// ErrOpcode: reserved or manufacturer opcode, the headers are not known.
	ErrOpcode = &Error{ErrUnknown, HeaderBTH, "unknown opcode"}
	// ErrRD: the opcode is of the RD group, but the RD headers don't fit. The
	// group is in use for NVIDIA's DC transport, whose headers are not public.
	ErrRD = &Error{ErrUnknown, HeaderBTH, "RD opcode without room for RD headers (vendor DC transport?)"}
	// ErrGRHVersion: IPVer of a GRH is not 6 (IBTA 8.3.1).
	ErrGRHVersion = &Error{ErrMalformed, HeaderGRH, "IP version is not 6"}
	// ErrLRHVersion: LVer of an LRH is not 0 (IBTA 7.7.2).
	ErrLRHVersion = &Error{ErrUnknown, HeaderLRH, "link version is not 0"}
	// ErrLRHLength: PktLen leaves no room for the LRH itself and an ICRC.
	ErrLRHLength = &Error{ErrMalformed, HeaderLRH, "packet length is too small"}
	// ErrMADVersion: BaseVersion of a MAD is not 1 (IBTA 13.4.2).
	ErrMADVersion = &Error{ErrUnknown, HeaderMAD, "base version is not 1"}
	// ErrMADLength: a MAD is 256 bytes long (IBTA 13.4.1), this one is shorter.
	ErrMADLength = &Error{ErrMalformed, HeaderMAD, "shorter than 256 bytes"}
	// ErrCMVersion: ClassVersion of a CM MAD is not 2 (IBTA 12.6, 16.7.1).
	ErrCMVersion = &Error{ErrUnknown, HeaderCM, "class version is not 2"}
	// ErrCMAttribute: not one of the connection management messages.
	ErrCMAttribute = &Error{ErrUnknown, HeaderCM, "unknown attribute"}
)

var cutErrors, roomErrors = func() (c, r [headerCount]*Error) {
	for h := range headerCount {
		c[h] = &Error{ErrTruncated, h, "cut by the capture"}
		r[h] = &Error{ErrMalformed, h, "no room: the packet's length ends before it"}
	}
	return c, r
}()

// Cut returns the error that says: the capture cut the packet inside h.
func (h Header) Cut() *Error { return cutErrors[h] }

// NoRoom returns the error that says: the packet's length has no room for h.
func (h Header) NoRoom() *Error { return roomErrors[h] }
