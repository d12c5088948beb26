package iwarp

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// Atomic Operation Request (RFC 7306 §5.2.1) and Response (§5.2.2):
//
//	|              Reserved (28)                        | AOpCode 4 |
//	|                    Request Identifier (32)                    |
//	|                      Remote STag (32)                         |
//	|                  Remote Tagged Offset (64)                    |
//	|                 Add or Swap Data (64)                         |
//	|                 Add or Swap Mask (64)                         |
//	|                    Compare Data (64)                          |
//	|                    Compare Mask (64)                          |
//
//	|               Original Request Identifier (32)                |
//	|               Original Remote Data Value (64)                 |
const (
	AtomicRequestLen  = 52
	AtomicResponseLen = 12
)

// AtomicOpcode is what an Atomic Request asks for.
type AtomicOpcode uint8

const (
	FetchAdd AtomicOpcode = 0
	CmpSwap  AtomicOpcode = 2
)

func (a AtomicOpcode) String() string {
	switch a {
	case FetchAdd:
		return "FetchAdd"
	case CmpSwap:
		return "CmpSwap"
	}
	return "reserved"
}

// AtomicRequest works on the 64 bits at TO of buffer STag.
type AtomicRequest struct {
	Op          AtomicOpcode
	RequestID   uint32
	STag        uint32
	TO          uint64
	AddSwap     uint64
	AddSwapMask uint64
	Compare     uint64
	CompareMask uint64

	contents, payload []byte
}

func (a *AtomicRequest) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	*a = AtomicRequest{}
	if len(data) < AtomicRequestLen {
		df.SetTruncated()
		return ErrTruncated
	}
	a.Op = AtomicOpcode(data[3] & 0x0f)
	a.RequestID = binary.BigEndian.Uint32(data[4:])
	a.STag = binary.BigEndian.Uint32(data[8:])
	a.TO = binary.BigEndian.Uint64(data[12:])
	a.AddSwap = binary.BigEndian.Uint64(data[20:])
	a.AddSwapMask = binary.BigEndian.Uint64(data[28:])
	a.Compare = binary.BigEndian.Uint64(data[36:])
	a.CompareMask = binary.BigEndian.Uint64(data[44:])
	a.contents, a.payload = data[:AtomicRequestLen], data[AtomicRequestLen:]
	return nil
}

func (a *AtomicRequest) LayerType() gopacket.LayerType     { return LayerTypeAtomicRequest }
func (a *AtomicRequest) CanDecode() gopacket.LayerClass    { return LayerTypeAtomicRequest }
func (a *AtomicRequest) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }
func (a *AtomicRequest) LayerContents() []byte             { return a.contents }
func (a *AtomicRequest) LayerPayload() []byte              { return a.payload }

// AtomicResponse answers the request of the same identifier.
type AtomicResponse struct {
	RequestID uint32
	Original  uint64 // the value before the operation

	contents, payload []byte
}

func (a *AtomicResponse) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	*a = AtomicResponse{}
	if len(data) < AtomicResponseLen {
		df.SetTruncated()
		return ErrTruncated
	}
	a.RequestID = binary.BigEndian.Uint32(data)
	a.Original = binary.BigEndian.Uint64(data[4:])
	a.contents, a.payload = data[:AtomicResponseLen], data[AtomicResponseLen:]
	return nil
}

func (a *AtomicResponse) LayerType() gopacket.LayerType     { return LayerTypeAtomicResponse }
func (a *AtomicResponse) CanDecode() gopacket.LayerClass    { return LayerTypeAtomicResponse }
func (a *AtomicResponse) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }
func (a *AtomicResponse) LayerContents() []byte             { return a.contents }
func (a *AtomicResponse) LayerPayload() []byte              { return a.payload }
