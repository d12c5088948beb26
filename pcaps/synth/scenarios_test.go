package synth

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestScenarioVectors rebuilds every packet of the multi-packet vectors from
// what happens in them; only IP identification, TOS and TTL are taken over.
func TestScenarioVectors(t *testing.T) {
	const va, key = 0x7f3a10002000, 0x1a2b3c
	f := &Flow{MTU: 256}
	send := func(psn uint32, ack bool) Packet {
		return Packet{Opcode: SendOnly, PSN: psn, AckReq: ack, Payload: make([]byte, 256)}
	}
	write := func(i int) Packet { return f.WritePacket(10, va, key, make([]byte, 600), i) }
	answer := func(psn, msn uint32, size, i int) Packet { return f.ReadResponse(psn, msn, make([]byte, size), i) }
	read := func(psn uint32, from uint64, size int) Packet { return Read(psn, from, key, size) }
	forbidden := Packet{Opcode: WriteOnly, PSN: 80, AckReq: true, VA: va, RKey: 0xbad, DMALen: 8, Payload: make([]byte, 8)}
	loss := []Packet{NAK(21, 1, NAKSequence), send(21, false), send(22, false), send(23, true), ACK(23, 4)}
	steps := map[string][]Packet{
		"write_3pkt_coalesced_ack":         {write(0), write(1), write(2), ACK(12, 1)},
		"loss_after_tap_nak_gobackn":       append([]Packet{send(20, false), send(21, false), send(22, false), send(23, true)}, loss...),
		"loss_before_tap_nak_gobackn":      append([]Packet{send(20, false), send(22, false), send(23, true)}, loss...),
		"capture_drop_not_network_loss":    {send(20, false), send(22, false), send(23, true), ACK(23, 4)},
		"read_reserves_psns":               {read(30, va, 1000), send(34, true), answer(30, 1, 1000, 0), answer(30, 1, 1000, 1), answer(30, 1, 1000, 2), answer(30, 1, 1000, 3), ACK(34, 2)},
		"read_response_loss_partial_retry": {read(40, va, 1000), answer(40, 1, 1000, 0), answer(40, 1, 1000, 1), answer(40, 1, 1000, 3), read(42, va+512, 488), answer(42, 1, 488, 0), answer(42, 1, 488, 1)},
		"rnr_nak_retry":                    {send(50, true), RNR(50, 1, 14), send(50, true), ACK(50, 2)},
		"timeout_retransmit_no_nak":        {send(60, true), send(60, true), ACK(60, 1)},
		"ack_lost_dup_request":             {send(90, true), ACK(90, 1), send(90, true), ACK(90, 1)},
		"span_duplicates":                  {send(100, true), send(100, true), ACK(100, 1), ACK(100, 1)},
		"routed_span_duplicate_ttl":        {send(101, true), send(101, true), ACK(101, 1)},
		"ecn_ce_cnp":                       {send(70, false), send(71, true), CNP(), ACK(71, 2)},
		"nak_remote_access_fatal":          {forbidden, NAK(80, 0, NAKRemoteAccess)},
		"psn_wrap_sends":                   {send(0xfffffe, false), send(0xffffff, false), send(0x1000000, false), send(1, true), ACK(1, 4)},
		"atomic_fetchadd":                  {FetchAddRequest(110, va, key, 1), AtomicResponse(110, 1, 41)},
	}
	raw, err := os.ReadFile("testdata/vectors/scenarios.json")
	require.NoError(t, err)
	var list []struct {
		Name   string
		Frames []struct{ Hex string }
	}
	require.NoError(t, json.Unmarshal(raw, &list))
	require.Len(t, list, len(steps))
	for _, s := range list {
		require.Len(t, s.Frames, len(steps[s.Name]), s.Name)
		for i, want := range s.Frames {
			frame := hexa(want.Hex)
			p := steps[s.Name][i]
			path, qp := pathA, uint32(0x456)
			if isResponse(p.Opcode) || p.Opcode == CongestionNotif {
				path.Src, path.Dst, qp = addrB, addrA, 0x123
				path.SrcPort = 0xc111
			}
			path.TOS, path.ID, path.TTL = frame[15], be.Uint16(frame[18:]), frame[22]
			flow := Flow{Path: path, DestQP: qp, MigReq: true}
			assert.Equal(t, want.Hex, hex.EncodeToString(flow.Append(nil, p)), "%s %d", s.Name, i)
		}
	}
}
