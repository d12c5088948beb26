package synth

import (
	"encoding/hex"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestIWARPVectors rebuilds the TCP payloads of the iWARP vectors, and from
// them the frames.
func TestIWARPVectors(t *testing.T) {
	eight := []byte{0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17}
	five := []byte{1, 2, 3, 4, 5}
	fpdu := func(u []byte) []byte { return AppendFPDU(nil, u, true) }
	read := Untagged(RDMAPReadRequest, true, 0, 1, 1, 0, ReadRequestBody(0xaaaa0001, 0x2000, 0x10000, 0xbbbb0002, 0x3000))
	seventh := Untagged(RDMAPReadRequest, true, 0, 1, 7, 0, ReadRequestBody(0xaaaa0001, 0x2000, 0x1000, 0xbbbb0002, 0x3000))
	write := Tagged(RDMAPWrite, true, 0x01020304, 0x1000, eight)
	atomic := hexa("0000000000000099cccc000300000000000040000000000000000005ffffffffffffffff0000000000000000ffffffffffffffff")
	marked := Markers([][]byte{Untagged(RDMAPSend, true, 0, 0, 1, 0, make([]byte, 24))}, true)
	payload := map[string][]byte{
		"mpa_req_rev1":                         MPAFrame(false, MPACRC, 1, []byte("hello")),
		"mpa_rep_rev1":                         MPAFrame(true, MPACRC, 1, nil),
		"mpa_req_rev2_ird_ord":                 MPAFrame(false, MPACRC|MPAEnhanced, 2, append(MPADepths(0b1011, 16, 32), hexa("000001007f008000000000000000000000000000000000000000000000000000")...)),
		"mpa_rep_rev2_reject":                  MPAFrame(true, MPACRC|MPAReject|MPAEnhanced, 2, MPADepths(0b1010, 32, 16)),
		"iwarp_rdma_write":                     fpdu(write),
		"iwarp_rdma_write_notlast":             fpdu(Tagged(RDMAPWrite, false, 0x01020304, 0x1000, five)),
		"iwarp_read_request":                   fpdu(read),
		"iwarp_read_response":                  fpdu(Tagged(RDMAPReadResponse, true, 0xaaaa0001, 0x2000, eight)),
		"iwarp_send":                           fpdu(Untagged(RDMAPSend, true, 0, 0, 1, 0, eight)),
		"iwarp_send_inval":                     fpdu(Untagged(RDMAPSendInv, true, 0xaaaa0001, 0, 2, 0, eight)),
		"iwarp_send_se":                        fpdu(Untagged(RDMAPSendSE, true, 0, 0, 3, 0, eight)),
		"iwarp_send_se_inval":                  fpdu(Untagged(RDMAPSendSEInv, true, 0xaaaa0001, 0, 4, 0, eight)),
		"iwarp_terminate_rdmap_invalid_stag":   fpdu(Untagged(RDMAPTerminate, true, 0, 2, 1, 0, slices.Concat(hexa("0100e000002e"), seventh))),
		"iwarp_terminate_llp_insufficient_ird": fpdu(Untagged(RDMAPTerminate, true, 0, 2, 1, 0, hexa("20060000"))),
		"iwarp_atomic_fetchadd_req":            fpdu(Untagged(RDMAPAtomicRequest, true, 0, 1, 2, 0, atomic)),
		"iwarp_atomic_response":                fpdu(Untagged(RDMAPAtomicResponse, true, 0, 3, 1, 0, hexa("000000990000000000000029"))),
		"iwarp_immediate":                      fpdu(Untagged(RDMAPImmediate, true, 0, 0, 5, 0, hexa("0011223344556677"))),
		"iwarp_two_fpdus_one_segment":          slices.Concat(fpdu(Untagged(RDMAPSend, true, 0, 0, 1, 0, five)), fpdu(write)),
		"mpa_marker_first_fpdu_rfc5044_fig5":   marked,
	}
	built := 0
	for _, v := range vectors(t, "iwarp") {
		want, ok := payload[v.Name]
		if !ok {
			continue // needs the frames before it
		}
		built++
		got := v.frame[54:]
		require.Equal(t, hex.EncodeToString(got), hex.EncodeToString(want), v.Name)
		path := pathA // the vectors keep the MACs in both directions
		s := Segment{Flags: PSH | ACKFlag, Window: 0x1000, Payload: want,
			SrcPort: be.Uint16(v.frame[34:]), DstPort: be.Uint16(v.frame[36:]), Seq: be.Uint32(v.frame[38:]), Ack: be.Uint32(v.frame[42:])}
		if s.SrcPort == 0xbb81 {
			path.Src, path.Dst = addrB, addrA
		}
		assert.Equal(t, v.Hex, hex.EncodeToString(AppendTCP(nil, &path, &s)), v.Name)
	}
	assert.Equal(t, len(payload), built)
}

// TestMarkersInside is RFC 5044 figure 6: a marker 20 octets into its FPDU.
func TestMarkersInside(t *testing.T) {
	first := Untagged(RDMAPSend, true, 0, 0, 1, 0, make([]byte, 462)) // 492 octets with the marker at 0
	second := Untagged(RDMAPSend, true, 0, 0, 2, 0, make([]byte, 24))
	out := Markers([][]byte{first, second}, true)
	require.Equal(t, []byte{0, 0, 0, 20}, out[512:516])
	for _, v := range vectors(t, "iwarp") {
		if v.Name == "mpa_marker_in_fpdu_rfc5044_fig6" {
			require.Equal(t, hex.EncodeToString(v.frame[54:]), hex.EncodeToString(out[492:]))
		}
	}
}

func hexa(s string) []byte {
	b, err := hex.DecodeString(s)
	if err != nil {
		panic(err)
	}
	return b
}
