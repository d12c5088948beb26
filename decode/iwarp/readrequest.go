package iwarp

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// RDMA Read Request header (RFC 5040 §4.4):
//
//	|                     Data Sink STag (32)                       |
//	|                 Data Sink Tagged Offset (64)                  |
//	|                 RDMA Read Message Size (32)                   |
//	|                    Data Source STag (32)                      |
//	|                Data Source Tagged Offset (64)                 |
const ReadRequestLen = 28

// ReadRequest asks the peer for Size octets of its buffer SrcSTag; they come
// as Read Responses to SinkSTag.
type ReadRequest struct {
	SinkSTag uint32
	SinkTO   uint64
	Size     uint32
	SrcSTag  uint32
	SrcTO    uint64

	contents, payload []byte
}

func (r *ReadRequest) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	*r = ReadRequest{}
	if len(data) < ReadRequestLen {
		df.SetTruncated()
		return ErrTruncated
	}
	r.SinkSTag = binary.BigEndian.Uint32(data)
	r.SinkTO = binary.BigEndian.Uint64(data[4:])
	r.Size = binary.BigEndian.Uint32(data[12:])
	r.SrcSTag = binary.BigEndian.Uint32(data[16:])
	r.SrcTO = binary.BigEndian.Uint64(data[20:])
	r.contents, r.payload = data[:ReadRequestLen], data[ReadRequestLen:]
	return nil
}

// LittleEndian is the same header read the wrong way round. The first
// softiwarp (before Linux had siw) sent its Read Requests so; a reader that
// finds no response to match takes this reading and says so.
func (r *ReadRequest) LittleEndian() ReadRequest {
	var le ReadRequest
	if len(r.contents) == ReadRequestLen {
		le.SinkSTag = binary.LittleEndian.Uint32(r.contents)
		le.SinkTO = binary.LittleEndian.Uint64(r.contents[4:])
		le.Size = binary.LittleEndian.Uint32(r.contents[12:])
		le.SrcSTag = binary.LittleEndian.Uint32(r.contents[16:])
		le.SrcTO = binary.LittleEndian.Uint64(r.contents[20:])
		le.contents, le.payload = r.contents, r.payload
	}
	return le
}

func (r *ReadRequest) LayerType() gopacket.LayerType     { return LayerTypeReadRequest }
func (r *ReadRequest) CanDecode() gopacket.LayerClass    { return LayerTypeReadRequest }
func (r *ReadRequest) NextLayerType() gopacket.LayerType { return gopacket.LayerTypeZero }
func (r *ReadRequest) LayerContents() []byte             { return r.contents }
func (r *ReadRequest) LayerPayload() []byte              { return r.payload }
