package iwarp_test

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	decoded "rdmascope/decode/iwarp"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

func fpdu(ulpdu []byte) []byte { return synth.AppendFPDU(nil, ulpdu, true) }

// readRequest asks for n octets into stag at offset to.
func readRequest(msn, stag uint32, to uint64, n uint32) []byte {
	return fpdu(synth.Untagged(synth.RDMAPReadRequest, true, 0, 1, msn, 0, synth.ReadRequestBody(stag, to, n, 9, 0)))
}

func response(last bool, stag uint32, to uint64, n int) []byte {
	return fpdu(synth.Tagged(synth.RDMAPReadResponse, last, stag, to, make([]byte, n)))
}

func TestReads(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	x.data(0, append(readRequest(1, 7, 0, 2000), readRequest(2, 8, 64, 100)...))
	x.data(1, response(false, 7, 0, 1000))
	x.data(1, response(true, 7, 1000, 1000))
	x.data(1, response(true, 8, 64, 100))
	x.all(0)
	f := x.flow(x.result(), 0)
	assert.Equal(t, iwarp.Reads{Requests: 2, Answered: 2, MaxOutstanding: 2, Depth: iwarp.Known(4)}, f.Reads)
	step := int64(50 * us)
	assert.Equal(t, []int64{2, step, 3 * step}, []int64{f.ReadFirst.Count, f.ReadFirst.Min, f.ReadFirst.Max})
	assert.Equal(t, []int64{2, 2 * step, 3 * step}, []int64{f.ReadLast.Count, f.ReadLast.Min, f.ReadLast.Max})
	assert.Equal(t, int64(0), f.PayloadBytes, "Read Requests carry none")
	assert.Equal(t, int64(2100), x.flow(x.result(), 1).PayloadBytes)
}

// The first of two responses is missing in the capture.
func TestReadResponseUnseen(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	x.data(0, append(readRequest(1, 7, 0, 100), readRequest(2, 8, 64, 100)...))
	x.lost(1, response(true, 7, 0, 100))
	x.data(1, response(true, 8, 64, 100))
	x.all(0)
	r := x.result()
	f := x.flow(r, 0)
	assert.Equal(t, iwarp.Reads{Requests: 2, Answered: 1, Unanswered: 1, MaxOutstanding: 2, Depth: iwarp.Known(4)}, f.Reads)
	assert.Equal(t, iwarp.Known(int64(len(response(true, 7, 0, 100)))), x.flow(r, 1).UnseenBytes)
}

// The request is missing: its response belongs to none.
func TestReadRequestUnseen(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	x.lost(0, readRequest(1, 7, 0, 100))
	x.data(0, send(1, 64))
	x.acks(1, x.seq[0])
	x.data(1, response(true, 7, 0, 100))
	f := x.flow(x.result(), 0)
	assert.Equal(t, int64(1), f.Reads.Orphans)
	assert.Equal(t, map[string]int64{"SEND": 1}, f.Opcodes)
}

func TestSequenceGap(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	for _, msn := range []uint32{1, 2, 5, 6} {
		x.data(0, send(msn, 64))
	}
	f := x.flow(x.result(), 0)
	assert.Equal(t, []iwarp.Queue{{QN: 0, Messages: 4, Gaps: 1}}, f.Queues)
	assert.False(t, f.SharedMSN)
}

func TestBadCRC(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	x.data(0, send(1, 64))
	b := send(2, 64)
	b[40] ^= 1
	x.data(0, b)
	x.data(0, send(3, 64))
	f := x.flow(x.result(), 0)
	assert.Equal(t, iwarp.Known(1), f.MPA.CRCBad)
	assert.Equal(t, iwarp.Known(2), f.MPA.CRCGood)
	assert.Equal(t, int64(len(x.list)-1), f.MPA.FirstBadCRC)
	assert.Equal(t, int64(3), f.MPA.FPDUs)
}

func TestTerminate(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	x.data(0, send(1, 64))
	x.data(1, fpdu(synth.Untagged(synth.RDMAPTerminate, true, 0, 2, 1, 0, []byte{0x12, 0x02, 0, 0})))
	f := x.flow(x.result(), 1)
	require.Len(t, f.Terminates, 1)
	assert.Equal(t, "DDP untagged buffer error: invalid MSN, no buffer available", f.Terminates[0].String())
	assert.Equal(t, decoded.OrderRFC, f.Terminates[0].Order)
	assert.Equal(t, int64(len(x.list)), f.Terminates[0].Packet)
}

func TestStartUpFaults(t *testing.T) {
	x := newTalk(false, 5)
	x.open()
	x.data(0, synth.MPAFrame(false, synth.MPAReject, 1, nil))
	x.all(1)
	x.data(1, synth.MPAFrame(true, synth.MPAEnhanced, 2, synth.MPADepths(8, 4, 4)))
	r := x.result()
	assert.Equal(t, iwarp.FaultRejectInRequest, x.flow(r, 0).Faults[0].Kind)
	got := x.flow(r, 1).Faults
	require.Len(t, got, 2)
	assert.Equal(t, []iwarp.FaultKind{iwarp.FaultRevision, iwarp.FaultEnhanced}, []iwarp.FaultKind{got[0].Kind, got[1].Kind})
	for _, f := range got {
		assert.NotEmpty(t, f.Kind.String())
		assert.Equal(t, int64(len(x.list)), f.Packet)
	}
}

// The reply asks for a zero-length RDMA Write first; a Send comes.
func TestReadyToReceive(t *testing.T) {
	for _, first := range [][]byte{send(1, 64), fpdu(synth.Tagged(synth.RDMAPWrite, true, 0, 0, nil))} {
		x := newTalk(false, 5)
		x.open()
		x.data(0, synth.MPAFrame(false, synth.MPAEnhanced|synth.MPACRC, 2, synth.MPADepths(8|2|1, 4, 4)))
		x.data(1, synth.MPAFrame(true, synth.MPAEnhanced|synth.MPACRC, 2, synth.MPADepths(8|2, 4, 4)))
		x.all(0)
		x.data(0, first)
		f := x.flow(x.result(), 0)
		if f.Opcodes["SEND"] == 0 {
			assert.Empty(t, f.Faults)
			continue
		}
		require.Len(t, f.Faults, 1)
		assert.Equal(t, iwarp.FaultRTR, f.Faults[0].Kind)
	}
}

func TestTurnroundAndSizes(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	x.data(0, send(1, 100))
	x.now += 3 * ms
	x.data(1, send(1, 64)) // answers one
	x.data(0, send(2, 1000))
	x.data(0, send(3, 0))
	x.data(1, send(2, 64)) // two were open: whose reply it is can't be told
	f := x.flow(x.result(), 0)
	assert.Equal(t, int64(1), f.Turnround.Count)
	assert.Equal(t, int64(3*ms+50*us), f.Turnround.Max)
	assert.Equal(t, int64(1), f.MessageSizes[7])
	assert.Equal(t, int64(1), f.MessageSizes[10])
	assert.Equal(t, int64(1), f.MessageSizes[0])
}

// An observer is told what counts, once.
func TestObserve(t *testing.T) {
	captures(t, "captures/siw_*loss*.pcap*", func(t *testing.T, _ string, list []wire.Packet) {
		seen := map[string]int64{}
		var last [2]int64
		r := track(list, iwarp.Options{Observe: func(e *iwarp.Event) {
			src := e.Key.A
			if e.Side == 1 {
				src = e.Key.B
			}
			seen[src.String()+" "+e.FPDU.DDP.Opcode.String()]++
			assert.GreaterOrEqual(t, e.Complete, e.FPDU.At)
			assert.GreaterOrEqual(t, int64(e.FPDU.Start), last[e.Side], "in order of the stream")
			last[e.Side] = int64(e.FPDU.Start)
			p := &list[e.Packet-1]
			assert.Equal(t, src, p.Src)
			assert.Equal(t, e.FPDU.EndAt, p.Time)
		}})
		assert.Equal(t, sums(r), seen)
	})
}

func TestULP(t *testing.T) {
	for name, want := range map[string][2]string{
		"siw_nvmeof": {"nvme", "private"}, "siw_smbdirect": {"smbdirect", "port"}, "siw_rping": {"", ""},
		"siw_mpa_req_to_plain_tcp_server": {"iser", "port"},
	} {
		captures(t, "captures/"+name+".pcap*", func(t *testing.T, _ string, list []wire.Packet) {
			for _, c := range track(list, iwarp.Options{}).Connections {
				assert.Equal(t, want, [2]string{c.ULP, c.ULPFrom})
			}
		})
	}
}

// A reply without the CRC wish, a longer message than the MSS, unaligned FPDUs.
func TestAlignment(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	b := append(send(1, 2000), send(2, 100)...)
	x.data(0, b[:1460])
	x.data(0, b[1460:])
	f := x.flow(x.result(), 0)
	assert.Equal(t, int64(3), f.MPA.Segments)
	assert.Equal(t, int64(1), f.MPA.Aligned)
	assert.Equal(t, int64(1), f.MPA.AboveMSS)
	assert.Equal(t, iwarp.Known(1460), f.MPA.SendMSS)
	assert.Equal(t, int64(len(send(1, 2000))), f.MPA.Longest)
}

// The ports are used again: two connections.
func TestNextIncarnation(t *testing.T) {
	x := newTalk(false, 5)
	x.start(true)
	x.data(0, send(1, 64))
	x.put(0, synth.Segment{Seq: x.seq[0], Ack: x.ack[0], Flags: synth.RST | synth.ACKFlag})
	x.seq = [2]uint32{1 << 20, 1 << 21}
	x.start(true)
	x.data(0, send(1, 64))
	x.data(0, send(2, 64))
	r := x.result()
	require.Len(t, r.Connections, 2)
	assert.Equal(t, iwarp.ByReset, r.Connections[0].Closed.How)
	assert.Equal(t, iwarp.Open, r.Connections[1].Closed.How)
	assert.Equal(t, uint32(1), r.Connections[1].Incarnation)
	assert.Equal(t, map[string]int64{"SEND": 2}, r.Connections[1].Flows[0].Opcodes)
}

// MPA may begin after other traffic, and TCP that never speaks it is let go.
func TestPlainThenMPA(t *testing.T) {
	x := newTalk(false, 5)
	x.open()
	x.data(0, []byte("GET / HTTP/1.0\r\n\r\n"))
	x.all(1)
	for range 10 {
		x.data(1, make([]byte, 1000))
		x.all(0)
	}
	r := x.result()
	assert.Empty(t, r.Connections)
	assert.Equal(t, 1, r.Plain)
	x.data(0, synth.MPAFrame(false, synth.MPACRC, 1, nil))
	x.all(1)
	x.data(1, synth.MPAFrame(true, synth.MPACRC, 1, nil))
	x.data(0, send(1, 64))
	r = x.result()
	require.Len(t, r.Connections, 1)
	assert.Equal(t, map[string]int64{"SEND": 1}, x.flow(r, 0).Opcodes)
	assert.True(t, r.Connections[0].Handshake)
}

// A result taken at any time is that of the packets so far, and changes
// nothing that follows.
func TestResultDisturbsNothing(t *testing.T) {
	captures(t, "captures/siw_mixed_loss*.pcap*", func(t *testing.T, _ string, list []wire.Packet) {
		tr := iwarp.New(iwarp.Options{})
		for i := range list {
			tr.Packet(&list[i])
			if i%50 == 0 {
				a, b := tr.Result(list[i].Time), tr.Result(list[i].Time)
				require.Equal(t, a, b)
			}
		}
		tr.Finish()
		assert.Equal(t, track(list, iwarp.Options{}), tr.Result(list[len(list)-1].Time))
	})
}
