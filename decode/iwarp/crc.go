package iwarp

import (
	"encoding/binary"
	"hash/crc32"
)

// castagnoli is CRC32C as MPA uses it (RFC 5044 §4.1, the iSCSI polynomial).
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// CRC32C of the octets that an FPDU's CRC covers: the length field to the pad,
// every marker in between, and a marker directly before the length field.
func CRC32C(b []byte) uint32 { return crc32.Checksum(b, castagnoli) }

// CheckCRC tells whether the last four octets of an FPDU, markers included, are
// the CRC of those before. The value stands in the order that iSCSI fixed,
// least significant octet first (RFC 5044 Figures 5 and 6 show it).
func CheckCRC(fpdu []byte) bool {
	n := len(fpdu) - CRCLen
	return n > 0 && CRC32C(fpdu[:n]) == binary.LittleEndian.Uint32(fpdu[n:])
}

// CRCState is what is known of one FPDU's CRC.
type CRCState uint8

const (
	// CRCUndecided: whether CRCs are on isn't known (no handshake seen), and
	// this one does not verify.
	CRCUndecided CRCState = iota
	CRCGood
	// CRCBad: CRCs are on, and this one is wrong.
	CRCBad
	// CRCNotNegotiated: the field means nothing, whatever it holds.
	CRCNotNegotiated
	// CRCUnchecked: CRCs may be on, but octets of the FPDU are missing.
	CRCUnchecked
)

func (c CRCState) String() string {
	switch c {
	case CRCUndecided:
		return "undecided"
	case CRCGood:
		return "good"
	case CRCBad:
		return "bad"
	case CRCNotNegotiated:
		return "not negotiated"
	case CRCUnchecked:
		return "not checkable"
	}
	return "unknown"
}
