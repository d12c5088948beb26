package iwarp_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/gopacket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/iwarp"
)

type header interface {
	gopacket.DecodingLayer
	gopacket.Layer
}

// headerCase is a header as octets, a field a line, and as values.
type headerCase struct {
	name  string
	bytes string
	into  header
	want  header
	next  gopacket.LayerType
}

func headerCases() []headerCase {
	zero := gopacket.LayerTypeZero
	return []headerCase{
		{"MPA request, revision 1",
			"4d504120494420526571204672616d65" + // key
				"c0" + // M C
				"01" + "0003" + "616263",
			&iwarp.MPAFrame{}, &iwarp.MPAFrame{Markers: true, CRC: true, Flags: 0xc0, Revision: 1, PrivateLength: 3, Private: []byte("abc")}, zero},
		{"MPA request, revision 2 with RTR",
			"4d504120494420526571204672616d65" + "50" + "02" + "0005" +
				"c010" + // A B, IRD 16
				"c020" + // C D, ORD 32
				"ee",
			&iwarp.MPAFrame{}, &iwarp.MPAFrame{CRC: true, Enhanced: true, Flags: 0x50, Revision: 2, PrivateLength: 5,
				PeerToPeer: true, RTRSend: true, RTRWrite: true, RTRRead: true, IRD: 16, ORD: 32, Private: []byte{0xee}}, zero},
		{"MPA reply, rejected, IRD and ORD not negotiated",
			"4d504120494420526570204672616d65" + "30" + "02" + "0004" + "3fff" + "3fff",
			&iwarp.MPAFrame{}, &iwarp.MPAFrame{Reply: true, Reject: true, Enhanced: true, Flags: 0x30, Revision: 2, PrivateLength: 4,
				IRD: iwarp.IRDORDNone, ORD: iwarp.IRDORDNone, Private: []byte{}}, zero},
		{"MPA request, revision 1 with the bit that is S in revision 2",
			"4d504120494420526571204672616d65" + "10" + "01" + "0004" + "00010002",
			&iwarp.MPAFrame{}, &iwarp.MPAFrame{Flags: 0x10, Revision: 1, PrivateLength: 4, Private: []byte{0, 1, 0, 2}}, zero},
		{"DDP tagged, last Write", "c1" + "40" + "01020304" + "0000000000001000",
			&iwarp.DDP{}, &iwarp.DDP{Tagged: true, Last: true, Version: 1, RDMAPVersion: 1, Opcode: iwarp.RDMAWrite, STag: 0x01020304, TO: 0x1000}, gopacket.LayerTypePayload},
		{"DDP tagged, Read Response", "81" + "42" + "ffffffff" + "fedcba9876543210",
			&iwarp.DDP{}, &iwarp.DDP{Tagged: true, Version: 1, RDMAPVersion: 1, Opcode: iwarp.RDMAReadResp, STag: 0xffffffff, TO: 0xfedcba9876543210}, gopacket.LayerTypePayload},
		{"DDP untagged, Send with Invalidate", "41" + "44" + "aaaa0001" + "00000000" + "00000002" + "00000003",
			&iwarp.DDP{}, &iwarp.DDP{Last: true, Version: 1, RDMAPVersion: 1, Opcode: iwarp.SendInvalidate, STag: 0xaaaa0001, MSN: 2, MO: 3}, gopacket.LayerTypePayload},
		{"DDP of the RDMA consortium, version 0", "40" + "03" + "00000000" + "00000000" + "00000001" + "00000000",
			&iwarp.DDP{}, &iwarp.DDP{Last: true, Opcode: iwarp.Send, MSN: 1}, gopacket.LayerTypePayload},
		{"Read Request", "aaaa0001" + "0000000000002000" + "00010000" + "bbbb0002" + "0000000000003000",
			&iwarp.ReadRequest{}, &iwarp.ReadRequest{SinkSTag: 0xaaaa0001, SinkTO: 0x2000, Size: 0x10000, SrcSTag: 0xbbbb0002, SrcTO: 0x3000}, zero},
		{"Atomic Request, CmpSwap",
			"00000002" + "00000099" + "cccc0003" + "0000000000004000" + "0000000000000005" + "ffffffffffffffff" + "0000000000000006" + "00000000ffffffff",
			&iwarp.AtomicRequest{}, &iwarp.AtomicRequest{Op: iwarp.CmpSwap, RequestID: 0x99, STag: 0xcccc0003, TO: 0x4000, AddSwap: 5,
				AddSwapMask: 0xffffffffffffffff, Compare: 6, CompareMask: 0xffffffff}, zero},
		{"Atomic Response", "00000099" + "0000000000000029",
			&iwarp.AtomicResponse{}, &iwarp.AtomicResponse{RequestID: 0x99, Original: 41}, zero},
		{"Immediate", "0011223344556677", &iwarp.Immediate{}, &iwarp.Immediate{Data: 0x0011223344556677}, zero},
		{"Terminate, RFC order, Read Request quoted",
			"01" + "00" + "e000" + // RDMAP, remote protection, invalid STag; M D R
				"002e" + "4141" + "00000000" + "00000001" + "00000007" + "00000000" +
				"aaaa0001" + "0000000000002000" + "00001000" + "bbbb0002" + "0000000000003000",
			&iwarp.Terminate{}, &iwarp.Terminate{TerminateError: iwarp.TerminateError{Layer: 0, EType: 1, Code: 0}, LengthValid: true, HasDDP: true, HasRDMAP: true,
				SegmentLength: 46, DDP: iwarp.DDP{Last: true, Version: 1, RDMAPVersion: 1, Opcode: iwarp.RDMAReadReq, QN: 1, MSN: 7}, DDPValid: true,
				Read: iwarp.ReadRequest{SinkSTag: 0xaaaa0001, SinkTO: 0x2000, Size: 0x1000, SrcSTag: 0xbbbb0002, SrcTO: 0x3000}, ReadValid: true}, zero},
		{"Terminate, siw's order",
			"21" + "02" + "0300" + // DDP, untagged, no buffer; M D in the low bits
				"021a" + "4143" + "00000000" + "00000000" + "00000001" + "00000000",
			&iwarp.Terminate{}, &iwarp.Terminate{TerminateError: iwarp.TerminateError{Layer: 1, EType: 2, Code: 2}, Order: iwarp.OrderSwapped, LengthValid: true, HasDDP: true,
				SegmentLength: 538, DDP: iwarp.DDP{Last: true, Version: 1, RDMAPVersion: 1, Opcode: iwarp.Send, MSN: 1}, DDPValid: true}, zero},
	}
}

func sameHeader(t *testing.T, want, got header, name string) {
	t.Helper()
	opt := cmpopts.IgnoreUnexported(iwarp.MPAFrame{}, iwarp.DDP{}, iwarp.ReadRequest{}, iwarp.AtomicRequest{}, iwarp.AtomicResponse{}, iwarp.Immediate{}, iwarp.Terminate{})
	assert.Empty(t, cmp.Diff(want, got, opt), name)
}

func TestHeaderFields(t *testing.T) {
	for _, c := range headerCases() {
		b := append(unhex(c.bytes), 0xaa, 0xbb)
		require.NoError(t, c.into.DecodeFromBytes(b, gopacket.NilDecodeFeedback), c.name)
		sameHeader(t, c.want, c.into, c.name)
		assert.Equal(t, b[:len(b)-2], c.into.LayerContents(), c.name)
		assert.Equal(t, []byte{0xaa, 0xbb}, c.into.LayerPayload(), c.name)
		assert.Equal(t, c.next, c.into.NextLayerType(), c.name)
		assert.True(t, c.into.CanDecode().Contains(c.into.LayerType()), c.name)
	}
}

// truncation is a DecodeFeedback that remembers.
type truncation bool

func (c *truncation) SetTruncated() { *c = true }

func TestHeaderPrefixes(t *testing.T) {
	for _, c := range headerCases() {
		b := unhex(c.bytes)
		for n := range len(b) {
			var cut truncation
			err := c.into.DecodeFromBytes(b[:n:n], &cut)
			require.ErrorIs(t, err, iwarp.ErrTruncated, "%s: %d octets", c.name, n)
			assert.True(t, bool(cut), "%s: %d octets", c.name, n)
			assert.NotErrorIs(t, err, iwarp.ErrMalformed)
		}
	}
}

func TestHeadersDoNotAllocate(t *testing.T) {
	for _, c := range headerCases() {
		b := unhex(c.bytes)
		n := testing.AllocsPerRun(100, func() { _ = c.into.DecodeFromBytes(b, gopacket.NilDecodeFeedback) })
		assert.Zero(t, n, c.name)
	}
}

func TestDDPRefuses(t *testing.T) {
	rest := "000000000000000000000000000000000000"
	for _, c := range []struct {
		control string
		want    error
	}{
		{"c540", iwarp.ErrReserved}, {"e140", iwarp.ErrReserved}, {"c150", iwarp.ErrReserved}, {"c160", iwarp.ErrReserved},
		{"c240", iwarp.ErrVersion}, {"c340", iwarp.ErrVersion}, {"c140", nil}, {"c100", iwarp.ErrVersion}, {"c0c0", iwarp.ErrVersion},
		{"414c", iwarp.ErrOpcode}, {"414f", iwarp.ErrOpcode}, {"c14d", iwarp.ErrOpcode},
		{"4140", iwarp.ErrTagged}, {"4142", iwarp.ErrTagged}, {"c143", iwarp.ErrTagged}, {"c147", iwarp.ErrTagged},
	} {
		var d iwarp.DDP
		err := d.DecodeFromBytes(unhex(c.control+rest), gopacket.NilDecodeFeedback)
		if c.want == nil {
			assert.NoError(t, err, c.control)
			continue
		}
		assert.ErrorIs(t, err, c.want, c.control)
		assert.ErrorIs(t, err, iwarp.ErrMalformed, c.control)
	}
}

func TestDDPCheck(t *testing.T) {
	for _, c := range []struct {
		d      iwarp.DDP
		length uint16
		want   error
	}{
		{iwarp.DDP{Tagged: true, Opcode: iwarp.RDMAWrite}, 14, nil}, // the zero-length RTR
		{iwarp.DDP{Tagged: true, Opcode: iwarp.RDMAWrite}, 13, iwarp.ErrLength},
		{iwarp.DDP{Opcode: iwarp.Send}, 18, nil},
		{iwarp.DDP{Opcode: iwarp.Send}, 17, iwarp.ErrLength},
		{iwarp.DDP{Opcode: iwarp.Send, QN: 1}, 18, iwarp.ErrQueue},
		{iwarp.DDP{Opcode: iwarp.RDMAReadReq, QN: 1}, 46, nil},
		{iwarp.DDP{Opcode: iwarp.RDMAReadReq, QN: 1}, 47, iwarp.ErrLength},
		{iwarp.DDP{Opcode: iwarp.RDMAReadReq}, 46, iwarp.ErrQueue},
		{iwarp.DDP{Opcode: iwarp.Terminated, QN: 2}, 22, nil},
		{iwarp.DDP{Opcode: iwarp.Terminated, QN: 2}, 21, iwarp.ErrLength},
		{iwarp.DDP{Opcode: iwarp.ImmediateData}, 26, nil},
		{iwarp.DDP{Opcode: iwarp.ImmediateSE}, 34, iwarp.ErrLength},
		{iwarp.DDP{Opcode: iwarp.AtomicReq, QN: 1}, 70, nil},
		{iwarp.DDP{Opcode: iwarp.AtomicResp, QN: 3}, 30, nil},
		{iwarp.DDP{Opcode: iwarp.AtomicResp, QN: 1}, 30, iwarp.ErrQueue},
	} {
		assert.Equal(t, c.want, c.d.Check(c.length), "%v %d", c.d.Opcode, c.length)
	}
}

func TestMPAFrameRefuses(t *testing.T) {
	var m iwarp.MPAFrame
	nil2 := gopacket.NilDecodeFeedback
	assert.ErrorIs(t, m.DecodeFromBytes([]byte("MPA ID Rex Frame...."), nil2), iwarp.ErrKey)
	long := mpaFrame(false, 0, 1, string(pattern(513)))
	assert.ErrorIs(t, m.DecodeFromBytes(long, nil2), iwarp.ErrPrivate)
	assert.NoError(t, m.DecodeFromBytes(mpaFrame(true, 0, 1, string(pattern(512))), nil2))
	assert.Len(t, m.Private, 512)
	// S says that four octets are there, PD_Length that they aren't.
	assert.ErrorIs(t, m.DecodeFromBytes(mpaFrame(false, 0x10, 2, "abc"), nil2), iwarp.ErrLength)
	assert.False(t, m.Enhanced)
}

func TestOpcodeNames(t *testing.T) {
	want := []string{"RDMA_WRITE", "READ_REQUEST", "READ_RESPONSE", "SEND", "SEND_INV", "SEND_SE", "SEND_SE_INV",
		"TERMINATE", "IMMEDIATE", "IMMEDIATE_SE", "ATOMIC_REQUEST", "ATOMIC_RESPONSE", "RESERVED"}
	for i, w := range want {
		assert.Equal(t, w, iwarp.Opcode(i).String())
	}
	assert.False(t, iwarp.Opcode(12).Known())
	queues := map[iwarp.Opcode]uint32{1: 1, 3: 0, 4: 0, 5: 0, 6: 0, 7: 2, 8: 0, 9: 0, 10: 1, 11: 3}
	for o := iwarp.Opcode(0); o < 16; o++ {
		qn, ok := o.Queue()
		w, has := queues[o]
		assert.Equal(t, has, ok, o.String())
		assert.Equal(t, w, qn, o.String())
	}
}

func TestMSN(t *testing.T) {
	last := iwarp.MSN(0xffffffff)
	assert.Equal(t, iwarp.MSN(1), last.Add(2))
	assert.True(t, last.Before(1))
	assert.False(t, iwarp.FirstMSN.Before(last))
	assert.EqualValues(t, 2, iwarp.MSN(1).Sub(last))
}
