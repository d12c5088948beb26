package iwarp

import (
	"errors"
	"fmt"
)

// The sentinels of the package. ErrTruncated says that the octets ended before
// the header did: a capture cut short, nothing against the sender. All others
// wrap ErrMalformed: the octets are there and cannot be right.
var (
	ErrTruncated = errors.New("iwarp: octets end inside the header")
	ErrMalformed = errors.New("iwarp: malformed")

	ErrKey      = fmt.Errorf("%w: no MPA key", ErrMalformed)
	ErrPrivate  = fmt.Errorf("%w: MPA private data above 512 octets", ErrMalformed)
	ErrLength   = fmt.Errorf("%w: ULPDU length does not fit the header", ErrMalformed)
	ErrReserved = fmt.Errorf("%w: reserved bits set", ErrMalformed)
	ErrVersion  = fmt.Errorf("%w: DDP or RDMAP version unknown", ErrMalformed)
	ErrOpcode   = fmt.Errorf("%w: RDMAP opcode unknown", ErrMalformed)
	ErrTagged   = fmt.Errorf("%w: tagged bit contradicts the opcode", ErrMalformed)
	ErrQueue    = fmt.Errorf("%w: queue number does not belong to the opcode", ErrMalformed)
	ErrMarker   = fmt.Errorf("%w: no marker where one must be", ErrMalformed)
)
