package roce

import (
	"fmt"
	"time"
)

// Syndrome is the first byte of an AETH (IBTA 9.7.5.2.4 and 9.7.5.2.5):
//
//	  7   6   5   4   3   2   1   0
//	+---+-------+-------------------+
//	| 0 | kind  |       code        |
//	+---+-------+-------------------+
//
// kind 0: ACK, the code is the credit count; 1: RNR NAK, the code is the timer;
// 2: reserved; 3: NAK, the code is a NAKCode. With bit 7 set it is reserved.
type Syndrome uint8

// SyndromeKind is what a syndrome says.
type SyndromeKind uint8

// Kinds of syndromes.
const (
	SyndromeACK SyndromeKind = iota
	SyndromeRNRNAK
	SyndromeReserved
	SyndromeNAK
)

// String returns "ACK", "RNR NAK", "NAK" or "reserved".
func (k SyndromeKind) String() string {
	switch k {
	case SyndromeACK:
		return "ACK"
	case SyndromeRNRNAK:
		return "RNR NAK"
	case SyndromeNAK:
		return "NAK"
	}
	return "reserved"
}

// Kind returns the kind; everything with bit 7 set is reserved.
func (s Syndrome) Kind() SyndromeKind {
	if s&0x80 != 0 {
		return SyndromeReserved
	}
	return SyndromeKind(s >> 5)
}

// Code returns the five bits whose meaning the kind decides.
func (s Syndrome) Code() uint8 { return uint8(s & 0x1f) }

// NAKCode is the reason of a NAK.
type NAKCode uint8

// NAK codes; 5 to 31 are reserved.
const (
	NAKSequenceError NAKCode = iota
	NAKInvalidRequest
	NAKRemoteAccessError
	NAKRemoteOperationalError
	NAKInvalidRDRequest
)

var nakNames = [...]string{
	"PSN sequence error", "invalid request", "remote access error",
	"remote operational error", "invalid RD request",
}

// String returns the reason in words.
func (c NAKCode) String() string {
	if int(c) < len(nakNames) {
		return nakNames[c]
	}
	return fmt.Sprintf("reserved NAK code %d", uint8(c))
}

// Fatal tells whether the code ends the connection: all but a sequence error,
// which is answered by sending again (IBTA 9.9.2).
func (c NAKCode) Fatal() bool { return c != NAKSequenceError }

// NAKCode returns the reason, valid when Kind is SyndromeNAK.
func (s Syndrome) NAKCode() NAKCode { return NAKCode(s & 0x1f) }

// creditCounts is the encoding of end-to-end credits (IBTA table 46). Code 31
// says that the responder gives none.
var creditCounts = [31]uint16{
	0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768,
	1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768,
}

// Credits returns the credit count of an ACK. ok is false when the syndrome is
// no ACK or carries no credits (code 31, as every queue pair with a shared
// receive queue sends).
func (s Syndrome) Credits() (count int, ok bool) {
	if s.Kind() != SyndromeACK || s.Code() == 31 {
		return 0, false
	}
	return int(creditCounts[s.Code()]), true
}

// rnrTimers is the encoding of the RNR NAK timer (IBTA table 45) in units of
// 10 µs. Code 0 is the longest, not the shortest.
var rnrTimers = [32]uint32{
	65536, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192,
	256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152,
}

// RNRTimer returns the time for which code asks the requester to wait before it
// sends again: a minimum, hardware may wait longer. Only bits 4:0 count.
func RNRTimer(code uint8) time.Duration {
	return time.Duration(rnrTimers[code&0x1f]) * 10 * time.Microsecond
}

// RNRTimer returns the wait that an RNR NAK asks for, valid when Kind is
// SyndromeRNRNAK.
func (s Syndrome) RNRTimer() time.Duration { return RNRTimer(s.Code()) }

// String returns "ACK", "RNR NAK 1.28ms", "NAK PSN sequence error" and so on.
func (s Syndrome) String() string {
	switch s.Kind() {
	case SyndromeACK:
		return "ACK"
	case SyndromeRNRNAK:
		return "RNR NAK " + s.RNRTimer().String()
	case SyndromeNAK:
		return "NAK " + s.NAKCode().String()
	}
	return fmt.Sprintf("reserved syndrome 0x%02x", uint8(s))
}
