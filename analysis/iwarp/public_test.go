package iwarp_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	decoded "rdmascope/decode/iwarp"
)

type ops map[string]int64

// TestPublicCaptures: the first softiwarp, by others' captures. Its figures were
// read off tshark's output, and its flaws by hand: Read Requests are little
// endian, one MSN counter serves all queues, and its responder sends the first
// FPDU, which RFC 5044 §7.1.2 leaves to the initiator. The rejecting reply was
// made with an editor: its checksum is wrong, and the initiator acknowledges it.
func TestPublicCaptures(t *testing.T) {
	for _, c := range []struct {
		name                 string
		initiator, responder ops
		crc                  decoded.CRCMode
		markers              int64
		reject, early        bool
		reads                int64
	}{
		{name: "connect_C00_M00", crc: decoded.CRCOff},
		{name: "connect_C00_M00_reject", crc: decoded.CRCOff, reject: true},
		{name: "connect_C00_M11", crc: decoded.CRCOff, markers: 1},
		{name: "connect_C11_M00", crc: decoded.CRCOn},
		{name: "send_recv_snd_recv", initiator: ops{"SEND": 1}, responder: ops{"SEND": 1}, crc: decoded.CRCOff, early: true},
		{name: "send_recv_snd_recv_crc", initiator: ops{"SEND": 1}, responder: ops{"SEND": 1}, crc: decoded.CRCOn, early: true},
		{name: "send_recv_snd_recv_inv", initiator: ops{"SEND_INV": 1}, responder: ops{"SEND": 1}, crc: decoded.CRCOff, early: true},
		{name: "send_recv_snd_recv_mrkr", initiator: ops{"SEND": 1}, responder: ops{"SEND": 1}, crc: decoded.CRCOff, markers: 1, early: true},
		{name: "send_recv_snd_recv_se", initiator: ops{"SEND_SE": 1}, responder: ops{"SEND": 1}, crc: decoded.CRCOff, early: true},
		{name: "rdma_write", initiator: ops{"SEND": 1}, responder: ops{"SEND": 2, "RDMA_WRITE": 1}, crc: decoded.CRCOff, early: true},
		{name: "rdma_write_crc", initiator: ops{"SEND": 1}, responder: ops{"SEND": 2, "RDMA_WRITE": 1}, crc: decoded.CRCOn, early: true},
		{name: "rdma_read", initiator: ops{"SEND": 1, "READ_RESPONSE": 1},
			responder: ops{"SEND": 2, "RDMA_WRITE": 1, "READ_REQUEST": 1}, crc: decoded.CRCOff, early: true, reads: 1},
		{name: "rdma_read_write_long_run", initiator: ops{"SEND": 1, "READ_RESPONSE": 20},
			responder: ops{"SEND": 2, "RDMA_WRITE": 20, "READ_REQUEST": 20}, crc: decoded.CRCOff, early: true, reads: 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			files, err := filepath.Glob(filepath.Join(sharedDir(t), "captures-public", "*iwarp_"+c.name+".pcap"))
			require.NoError(t, err)
			if len(files) == 0 {
				t.Skip("no public captures")
			}
			r := track(packets(t, files[0]), iwarp.Options{})
			require.Len(t, r.Connections, 1)
			conn := r.Connections[0]
			require.GreaterOrEqual(t, conn.Initiator, 0)
			i, p := &conn.Flows[conn.Initiator], &conn.Flows[1-conn.Initiator]
			assert.Equal(t, c.reject, conn.Rejected)
			assert.Equal(t, c.crc, conn.CRC)
			assert.Equal(t, iwarp.ByFin, conn.Closed.How)
			for k, want := range map[*iwarp.Flow]ops{i: c.initiator, p: c.responder} {
				if want == nil {
					want = ops{}
				}
				assert.Equal(t, map[string]int64(want), k.Opcodes)
				assert.Equal(t, iwarp.Known(c.markers), k.MPA.Markers)
				assert.Equal(t, iwarp.Known(0), k.UnseenBytes)
				assert.Equal(t, uint8(1), k.MPA.Frame.Revision)
				assert.Zero(t, k.TCP.Retransmitted)
				assert.Zero(t, k.ChecksumBad)
				for _, q := range k.Queues {
					assert.Zero(t, q.Gaps)
				}
			}
			assert.Equal(t, "active\x00", string(i.MPA.Frame.Private()))
			assert.Equal(t, c.reads, p.Reads.Answered)
			assert.Equal(t, c.reads, p.Reads.ByOrder)
			assert.Equal(t, c.reads > 0, p.Reads.LittleEndian)
			assert.Equal(t, c.reads > 0, p.SharedMSN)
			assert.Empty(t, i.Faults)
			assert.Equal(t, c.early, len(p.Faults) == 1 && p.Faults[0].Kind == iwarp.FaultEarly)
		})
	}
}
