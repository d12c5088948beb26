package iwarp_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/iwarp"
)

// The public captures of an old softiwarp, FPDUs counted by hand from the
// octets (their lengths make it easy: 40, 1044, 52 and 28).
func TestPublicCaptures(t *testing.T) {
	dir := filepath.Join(sharedDir(t), "captures-public")
	type counts = map[string]int
	one := counts{"SEND": 1}
	for _, c := range []struct {
		name              string
		initiator, answer counts
		flags             string // of both frames: M, C, R (reply only)
	}{
		{"connect_C00_M00", counts{}, counts{}, ""},
		{"connect_C00_M00_reject", counts{}, counts{}, "R"},
		{"connect_C00_M11", counts{}, counts{}, "M"},
		{"connect_C11_M00", counts{}, counts{}, "C"},
		{"send_recv_snd_recv", one, one, ""},
		{"send_recv_snd_recv_crc", one, one, "C"},
		{"send_recv_snd_recv_inv", counts{"SEND_INV": 1}, one, ""},
		{"send_recv_snd_recv_mrkr", one, one, "M"},
		{"send_recv_snd_recv_se", counts{"SEND_SE": 1}, one, ""},
		{"rdma_write", one, counts{"SEND": 2, "RDMA_WRITE": 1}, ""},
		{"rdma_write_crc", one, counts{"SEND": 2, "RDMA_WRITE": 1}, "C"},
		{"rdma_read", counts{"SEND": 1, "READ_RESPONSE": 1}, counts{"SEND": 2, "RDMA_WRITE": 1, "READ_REQUEST": 1}, ""},
		// No marker stands anywhere in this one: M is 0 in both frames and the
		// payload is 0x02 throughout. Its odd FPDU lies over two segments.
		{"rdma_read_write_long_run", counts{"SEND": 1, "READ_RESPONSE": 20}, counts{"SEND": 2, "RDMA_WRITE": 20, "READ_REQUEST": 20}, ""},
	} {
		files, err := filepath.Glob(filepath.Join(dir, "*iwarp_"+c.name+".pcap"))
		require.NoError(t, err)
		if len(files) == 0 {
			t.Skip("no public captures")
		}
		segs := readCapture(t, files[0], false)
		got, _ := run(segs)
		a, b := got[segs[0].flow], got[segs[0].back]
		assert.Equal(t, c.initiator, a.ops, c.name)
		assert.Equal(t, c.answer, b.ops, c.name)
		for i, x := range []*collector{a, b} {
			require.Len(t, x.mpa, 1, c.name)
			m := x.mpa[0]
			assert.Equal(t, i == 1, m.Reply, c.name)
			assert.Equal(t, strings.Contains(c.flags, "M"), m.Markers, c.name)
			assert.Equal(t, strings.Contains(c.flags, "C"), m.CRC, c.name)
			assert.Equal(t, i == 1 && strings.Contains(c.flags, "R"), m.Reject, c.name)
			assert.EqualValues(t, 1, m.Revision, c.name)
			assert.Equal(t, [2]string{"active", "passive"}[i], strings.Trim(string(m.Private), "\x00"), c.name)
			assert.Empty(t, x.notices, c.name)
			want := iwarp.CRCNotNegotiated
			if c.flags == "C" {
				want = iwarp.CRCGood
			}
			assert.Equal(t, len(x.fpdus), x.crcs[want], c.name)
		}
	}
}

// softiwarp's Read Requests are little-endian: only that reading names the
// STag and the offset to which the response then goes.
func TestPublicLittleEndianReads(t *testing.T) {
	dir := filepath.Join(sharedDir(t), "captures-public")
	files, err := filepath.Glob(filepath.Join(dir, "*iwarp_rdma_read.pcap"))
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no public captures")
	}
	segs := readCapture(t, files[0], false)
	ks := map[string]*keep{}
	r := newReassembler(func(flow string) iwarp.Handler {
		ks[flow] = &keep{collector: newCollector()}
		return ks[flow]
	})
	for _, s := range segs {
		r.add(s)
	}
	r.flush()
	var request iwarp.ReadRequest
	for i := range ks[segs[0].back].all {
		if f := &ks[segs[0].back].all[i]; f.DDP.Opcode == iwarp.RDMAReadReq {
			require.NoError(t, request.DecodeFromBytes(f.Body(), gopacket.NilDecodeFeedback))
			assert.EqualValues(t, 2, f.DDP.MSN, "one counter over all queues: the Send before was 1")
		}
	}
	var response *iwarp.FPDU
	for i := range ks[segs[0].flow].all {
		if f := &ks[segs[0].flow].all[i]; f.DDP.Opcode == iwarp.RDMAReadResp {
			response = f
		}
	}
	require.NotNil(t, response)
	le := request.LittleEndian()
	assert.NotEqual(t, response.DDP.STag, request.SinkSTag)
	assert.Equal(t, response.DDP.STag, le.SinkSTag)
	assert.EqualValues(t, response.PayloadLength(), le.Size)
}
