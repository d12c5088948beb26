package iwarp

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// DDP header with the RDMAP control octet (RFC 5041 §4.2, §4.3; RFC 5040 §4.1).
// Tagged, 14 octets:
//
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-------+---+---+---+-------+-------------------------------+
//	|T|L| Resv  | DV| RV|Rsv| Opcode|            STag               |
//	+-+-+-------+---+---+---+-------+-------------------------------+
//	|            STag               |      Tagged Offset (64)       |
//
// Untagged, 18 octets: the STag's place is 0 or the STag to invalidate, and QN
// (32), MSN (32) and MO (32) follow.
const (
	TaggedLen   = 14
	UntaggedLen = 18
)

const (
	ddpFlagT    = 0x80
	ddpFlagL    = 0x40
	ddpReserved = 0x3c
	ddpVersion  = 0x03

	rdmapVersion  = 0xc0
	rdmapReserved = 0x30
	rdmapOpcode   = 0x0f
)

// DDP is the header of one DDP segment.
type DDP struct {
	Tagged       bool
	Last         bool  // the message's last segment
	Version      uint8 // DV: 1, or 0 of the RDMA consortium's draft
	RDMAPVersion uint8 // RV, likewise
	Opcode       Opcode
	// STag is the buffer of a tagged segment, and the STag to invalidate of a
	// Send with Invalidate; else it is 0.
	STag uint32
	TO   uint64 // tagged only: offset in the buffer
	QN   uint32 // untagged only: queue number
	MSN  MSN    // untagged only: message sequence number of the queue
	MO   uint32 // untagged only: the segment's offset in its message

	contents, payload []byte
}

// DecodeFromBytes reads a DDP header at the start of a ULPDU. It checks what
// can't be otherwise; whether queue and lengths fit is Check's business.
func (d *DDP) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	err := d.decode(data)
	if err == ErrTruncated {
		df.SetTruncated()
	}
	return err
}

func (d *DDP) decode(data []byte) error {
	*d = DDP{}
	if len(data) < 2 {
		return ErrTruncated
	}
	if err := d.decodeControl(data[0], data[1]); err != nil {
		return err
	}
	if len(data) < d.Len() {
		return ErrTruncated
	}
	d.contents, d.payload = data[:d.Len()], data[d.Len():]
	d.STag = binary.BigEndian.Uint32(data[2:])
	if d.Tagged {
		d.TO = binary.BigEndian.Uint64(data[6:])
		return nil
	}
	d.QN = binary.BigEndian.Uint32(data[6:])
	d.MSN = MSN(binary.BigEndian.Uint32(data[10:]))
	d.MO = binary.BigEndian.Uint32(data[14:])
	return nil
}

func (d *DDP) decodeControl(ddp, rdmap byte) error {
	d.Tagged = ddp&ddpFlagT != 0
	d.Last = ddp&ddpFlagL != 0
	d.Version = ddp & ddpVersion
	d.RDMAPVersion = rdmap >> 6
	d.Opcode = Opcode(rdmap & rdmapOpcode)
	switch {
	case ddp&ddpReserved != 0 || rdmap&rdmapReserved != 0:
		return ErrReserved
	case d.Version > 1 || d.Version != d.RDMAPVersion:
		return ErrVersion
	case !d.Opcode.Known():
		return ErrOpcode
	case d.Tagged != d.Opcode.Tagged():
		return ErrTagged
	}
	return nil
}

// Check tells whether the header fits a ULPDU of the given length: the length
// against the opcode's headers (ErrLength) and the queue number (ErrQueue).
func (d *DDP) Check(ulpdu uint16) error {
	if err := checkLength(d.Opcode, ulpdu); err != nil {
		return err
	}
	if qn, ok := d.Opcode.Queue(); ok && qn != d.QN {
		return ErrQueue
	}
	return nil
}

func checkLength(o Opcode, ulpdu uint16) error {
	have, want := int(ulpdu), o.HeaderLen()
	if have < want || have > want && opcodes[o].payload != noFixedLen {
		return ErrLength
	}
	return nil
}

// Len is the length of the DDP header.
func (d *DDP) Len() int {
	if d.Tagged {
		return TaggedLen
	}
	return UntaggedLen
}

func (d *DDP) LayerType() gopacket.LayerType     { return LayerTypeDDP }
func (d *DDP) CanDecode() gopacket.LayerClass    { return LayerTypeDDP }
func (d *DDP) NextLayerType() gopacket.LayerType { return d.Opcode.nextLayer() }
func (d *DDP) LayerContents() []byte             { return d.contents }
func (d *DDP) LayerPayload() []byte              { return d.payload }
