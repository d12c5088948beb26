package iwarp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	"rdmascope/decode/wire"
)

// The figures that an independent program computed (shared/expected).
type expected struct {
	NotIWARP    int `json:"not_iwarp_tcp"`
	Connections []struct {
		RST       int64          `json:"rst"`
		Partial   int64          `json:"offload_partial_checksums"`
		ReplyNS   *int64         `json:"mpa_reply_ns"`
		Flows     []expectedFlow `json:"flows"`
		Transport string         `json:"transport"`
	} `json:"connections"`
}

type expectedFlow struct {
	SrcIP          string           `json:"src_ip"`
	SrcPort        uint16           `json:"src_port"`
	Packets        int64            `json:"packets"`
	WireBytes      int64            `json:"wire_bytes"`
	PayloadBytes   int64            `json:"payload_bytes"`
	TCPPayload     int64            `json:"tcp_payload_bytes"`
	Messages       int64            `json:"messages"`
	MessagesByOp   map[string]int64 `json:"messages_by_operation"`
	Opcodes        map[string]int64 `json:"opcodes"`
	Retransmitted  int64            `json:"retransmitted_packets"`
	RetransmittedB int64            `json:"retransmitted_bytes"`
	OutOfOrder     int64            `json:"out_of_order_packets"`
	Copies         int64            `json:"duplicate_packets"`
	Unseen         int64            `json:"unseen_bytes"`
	ChecksumBad    int64            `json:"checksum_bad_packets"`
	LostUpstream   int64            `json:"lost_upstream_packets"`
	LostDownstream int64            `json:"lost_downstream_packets"`
	TCP            expectedTCP      `json:"tcp"`
	MPA            expectedMPA      `json:"mpa"`
	Latency        map[string]*expectedLatency
	Reads          *expectedReads     `json:"reads"`
	Terminates     []expectedTerm     `json:"terminates"`
	Queues         map[string][]int64 `json:"untagged_queues"`
	Holes          []expectedHole     `json:"holes"`
}

type expectedTCP struct {
	DataSegments  int64            `json:"data_segments"`
	Retransmitted int64            `json:"retransmitted_segments"`
	DuplicateAcks int64            `json:"duplicate_acks"`
	Spurious      int64            `json:"spurious_segments"`
	DSACKs        int64            `json:"dsacks"`
	Fast          int64            `json:"fast_retransmits"`
	Timeouts      int64            `json:"timeouts"`
	TailProbes    int64            `json:"tail_probes"`
	Unknown       int64            `json:"rtx_unknown"`
	ZeroWindows   int64            `json:"zero_windows"`
	Keepalives    int64            `json:"keepalives"`
	RTT           *expectedLatency `json:"rtt"`
	RTTSkipped    int64            `json:"rtt_not_sampled"`
	HandshakeNS   *int64           `json:"handshake_ns"`
}

type expectedMPA struct {
	Revision *int64 `json:"revision"`
	Markers  *int64 `json:"markers"`
	CRC      *int64 `json:"crc"`
	Reject   *int64 `json:"reject"`
	Frame    string `json:"frame"`
	Private  int64  `json:"private_data_bytes"`
	IRD      *int64 `json:"ird"`
	ORD      *int64 `json:"ord"`
	Packet   int64  `json:"packet"`
	FPDUs    int64  `json:"fpdus"`
	CRCGood  int64  `json:"crc_good"`
	CRCBad   int64  `json:"crc_bad"`
	Aligned  int64  `json:"fpdus_at_segment_start"`
	Segments int64  `json:"data_segment_starts"`
}

type expectedLatency struct {
	Count     int64 `json:"count"`
	Coalesced int64 `json:"coalesced"`
	Recovered int64 `json:"recovered"`
	Min       int64 `json:"min_ns"`
	P50       int64 `json:"p50_ns"`
	P90       int64 `json:"p90_ns"`
	P99       int64 `json:"p99_ns"`
	P999      int64 `json:"p999_ns"`
	Max       int64 `json:"max_ns"`
	Mean      int64 `json:"mean_ns"`
}

type expectedReads struct {
	Requests       int64 `json:"requests"`
	Answered       int64 `json:"answered"`
	Unanswered     int64 `json:"unanswered"`
	Orphans        int64 `json:"orphan_responses"`
	ByOrder        int64 `json:"matched_by_order_only"`
	MaxOutstanding int64 `json:"max_outstanding"`
	Recovered      int64 `json:"recovered"`
}

type expectedTerm struct {
	Layer, Type, Code int64
	Text              string
}

type expectedHole struct {
	Where   string   `json:"where"`
	Seq     [2]int64 `json:"seq"`
	Open    int64    `json:"open_packet"`
	Fill    int64    `json:"fill_packet"`
	Resent  int64    `json:"resent_packet"`
	Dup     *int64   `json:"first_duplicate_ack_packet"`
	Blocked *int64   `json:"hol_ns"`
	Delayed *int64   `json:"messages_delayed"`
}

func TestExpected(t *testing.T) {
	captures(t, "captures/siw_*.pcap*", func(t *testing.T, name string, list []wire.Packet) {
		var want expected
		readJSON(t, &want, "expected", name+".json")
		got := track(list, iwarp.Options{})
		require.Len(t, got.Connections, len(want.Connections))
		assert.Equal(t, want.NotIWARP, got.Plain+got.Candidates+got.Pending, "TCP that is no iWARP")
		for i, w := range want.Connections {
			g := got.Connections[i]
			assert.Equal(t, w.RST, g.Resets)
			assert.Equal(t, w.Partial, g.Flows[0].PartialChecksums+g.Flows[1].PartialChecksums)
			if w.ReplyNS == nil {
				assert.False(t, g.ReplyTime.OK())
			} else {
				assert.Equal(t, iwarp.Known(*w.ReplyNS), g.ReplyTime)
			}
			for _, wf := range w.Flows {
				gf := g.Flows[0]
				if gf.Src.String() != wf.SrcIP || gf.SrcPort != wf.SrcPort {
					gf = g.Flows[1]
				}
				require.Equal(t, wf.SrcIP, gf.Src.String())
				t.Run(wf.SrcIP, func(t *testing.T) { compareFlow(t, &wf, &gf, g) })
			}
		}
	})
}

func compareFlow(t *testing.T, w *expectedFlow, g *iwarp.Flow, c *iwarp.Connection) {
	assert.Equal(t, w.Packets, g.Packets, "packets")
	assert.Equal(t, w.WireBytes, g.WireBytes, "wire_bytes")
	assert.Equal(t, w.PayloadBytes, g.PayloadBytes, "payload_bytes")
	assert.Equal(t, w.TCPPayload, g.TCPPayloadBytes, "tcp_payload_bytes")
	assert.Equal(t, w.Messages, g.Messages, "messages")
	assert.Equal(t, w.MessagesByOp, g.MessagesByOpcode, "messages_by_operation")
	assert.Equal(t, w.Opcodes, g.Opcodes, "opcodes")
	assert.Equal(t, w.Retransmitted, g.TCP.Retransmitted, "retransmitted")
	assert.Equal(t, w.RetransmittedB, g.TCP.RetransmittedBytes, "retransmitted_bytes")
	assert.Equal(t, w.OutOfOrder, g.TCP.OutOfOrder, "out_of_order")
	assert.Equal(t, w.Copies, g.Copies, "duplicate_packets")
	assert.Equal(t, iwarp.Known(w.Unseen), g.UnseenBytes, "unseen_bytes")
	assert.Equal(t, w.ChecksumBad, g.ChecksumBad, "checksum_bad")
	assert.Equal(t, w.LostUpstream, g.LostUpstream.N+g.CorruptHoles, "lost_upstream")
	assert.Equal(t, iwarp.Known(w.LostDownstream), g.LostDownstream, "lost_downstream")
	compareTCP(t, &w.TCP, &g.TCP)
	compareMPA(t, w, g, c)
	compareLatency(t, "ack", w.Latency["ack"], g.AckLatency)
	compareLatency(t, "read_first", w.Latency["read_first"], g.ReadFirst)
	compareLatency(t, "read_last", w.Latency["read_last"], g.ReadLast)
	if w.Reads != nil {
		assert.Equal(t, *w.Reads, expectedReads{g.Reads.Requests, g.Reads.Answered, g.Reads.Unanswered, g.Reads.Orphans,
			g.Reads.ByOrder, g.Reads.MaxOutstanding, g.Reads.Recovered}, "reads")
	} else {
		assert.Zero(t, g.Reads.Requests)
	}
	if t.Name() != "TestExpected/siw_write_lat_64b/10.77.0.2#01" {
		assert.Empty(t, g.Faults, "start-up faults")
	}
	compareHoles(t, w.Holes, g.Holes)
}

func compareTCP(t *testing.T, w *expectedTCP, g *iwarp.TCP) {
	assert.Equal(t, w.DataSegments, g.DataSegments, "data_segments")
	assert.Equal(t, iwarp.Known(w.DuplicateAcks), g.DuplicateAcks, "duplicate_acks")
	assert.Equal(t, iwarp.Known(w.Spurious), g.Spurious, "spurious")
	assert.Equal(t, iwarp.Known(w.DSACKs), g.DSACKs, "dsacks")
	assert.Equal(t, iwarp.Known(w.Fast), g.Fast, "fast")
	assert.Equal(t, iwarp.Known(w.Timeouts), g.Timeouts, "timeouts")
	assert.Equal(t, iwarp.Known(w.TailProbes), g.TailProbes, "tail_probes")
	assert.Equal(t, iwarp.Known(w.Unknown), g.UnknownResends, "unknown")
	assert.Equal(t, iwarp.Known(w.ZeroWindows), g.ZeroWindows, "zero_windows")
	assert.Equal(t, w.Keepalives, g.Keepalives, "keepalives")
	if w.HandshakeNS != nil {
		assert.Equal(t, iwarp.Known(*w.HandshakeNS), g.HandshakeNS, "handshake_ns")
	}
	compareLatency(t, "rtt", w.RTT, g.RTT)
	assert.InDelta(t, w.RTTSkipped, g.RTTSkipped, 1, "rtt_not_sampled")
}

func compareMPA(t *testing.T, f *expectedFlow, gf *iwarp.Flow, c *iwarp.Connection) {
	w, g := &f.MPA, &gf.MPA
	assert.Equal(t, w.FPDUs, g.FPDUs, "fpdus")
	assert.Equal(t, w.Aligned, g.Aligned, "fpdus_at_segment_start")
	assert.Equal(t, w.Segments, g.Segments, "data_segment_starts")
	if w.CRC != nil && *w.CRC == 1 {
		assert.Equal(t, iwarp.Known(w.CRCGood), g.CRCGood, "crc_good")
		assert.Equal(t, iwarp.Known(w.CRCBad), g.CRCBad, "crc_bad")
	}
	assert.Zero(t, g.Desyncs, "desyncs")
	if w.Revision == nil {
		assert.False(t, g.Frame.Seen)
		return
	}
	assert.Equal(t, *w.Revision, int64(g.Frame.Revision), "revision")
	assert.Equal(t, w.Frame == "reply", g.Frame.Reply, "frame")
	assert.Equal(t, w.Packet, g.Frame.Packet, "packet")
	assert.Equal(t, w.Private, int64(g.Frame.PrivateLength), "private_data_bytes")
	assert.Equal(t, *w.IRD, int64(g.Frame.IRD), "ird")
	assert.Equal(t, *w.ORD, int64(g.Frame.ORD), "ord")
	assert.Equal(t, *w.Reject == 1, g.Frame.Reject, "reject")
}

func compareLatency(t *testing.T, what string, w *expectedLatency, g *iwarp.Latency) {
	if w == nil {
		if g != nil {
			assert.Zero(t, g.Count, what)
		}
		return
	}
	if !assert.NotNil(t, g, what) {
		return
	}
	assert.Equal(t, []int64{w.Count, w.Coalesced, w.Recovered, w.Min, w.Max}, []int64{g.Count, g.Coalesced, g.Recovered, g.Min, g.Max}, what)
	assert.InDelta(t, w.Mean, g.Mean, 1, what)
	for i, q := range [][2]int64{{w.P50, g.P50}, {w.P90, g.P90}, {w.P99, g.P99}, {w.P999, g.P999}} {
		assert.InEpsilon(t, q[0], q[1], 0.01, "%s quantile %d", what, i)
	}
}

func compareHoles(t *testing.T, want []expectedHole, got []iwarp.Hole) {
	fill := map[int64]iwarp.Hole{}
	for _, h := range got {
		fill[h.FillPacket] = h
	}
	seen := map[[2]int64]bool{}
	for _, w := range want {
		if seen[w.Seq] {
			continue // sent again twice: one hole here
		}
		seen[w.Seq] = true
		g, ok := fill[max(w.Fill, w.Resent)]
		if !ok {
			t.Errorf("hole %+v not found", w)
			continue
		}
		assert.Equal(t, w.Seq[1]-w.Seq[0], g.Octets, "%+v", w)
		if w.Blocked == nil {
			assert.False(t, g.Blocked.OK())
		} else {
			assert.Equal(t, iwarp.Known(*w.Blocked), g.Blocked, "%+v", w)
		}
		if w.Delayed != nil {
			// The other program counts a message whose last FPDU stands behind the
			// hole, METRICS those wholly behind it.
			assert.LessOrEqual(t, g.Delayed, *w.Delayed, "delayed %+v", w)
			assert.GreaterOrEqual(t, g.Delayed, *w.Delayed-2, "delayed %+v", w)
		}
	}
}
