package analysis_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// opcodeNames are tshark's field names of opcodes in the truth files, by the
// names in our reports (those of Wireshark's Info column).
var opcodeNames = map[string]string{
	"RC Send First": "RC_SEND_FIRST", "RC Send Middle": "RC_SEND_MIDDLE", "RC Send Last": "RC_SEND_LAST",
	"RC Send Last Immediate": "RC_SEND_LAST_IMM", "RC Send Only": "RC_SEND_ONLY", "RC Send Only Immediate": "RC_SEND_ONLY_IMM",
	"RC Send Only Invalidate": "RC_SEND_ONLY_INV", "RC Send Last Invalidate": "RC_SEND_LAST_INV",
	"RC RDMA Write First": "RC_WRITE_FIRST", "RC RDMA Write Middle": "RC_WRITE_MIDDLE", "RC RDMA Write Last": "RC_WRITE_LAST",
	"RC RDMA Write Last Immediate": "RC_WRITE_LAST_IMM", "RC RDMA Write Only": "RC_WRITE_ONLY",
	"RC RDMA Write Only Immediate": "RC_WRITE_ONLY_IMM",
	"RC RDMA Read Request":         "RC_READ_REQUEST", "RC RDMA Read Response First": "RC_READ_RESP_FIRST",
	"RC RDMA Read Response Middle": "RC_READ_RESP_MIDDLE", "RC RDMA Read Response Last": "RC_READ_RESP_LAST",
	"RC RDMA Read Response Only": "RC_READ_RESP_ONLY", "RC Acknowledge": "RC_ACKNOWLEDGE",
	"RC Atomic Acknowledge": "RC_ATOMIC_ACK", "RC Compare Swap": "RC_CMP_SWAP", "RC Fetch Add": "RC_FETCH_ADD",
	"UC RDMA Write First": "UC_WRITE_FIRST", "UC RDMA Write Middle": "UC_WRITE_MIDDLE", "UC RDMA Write Last": "UC_WRITE_LAST",
	"UD Send Only": "UD_SEND_ONLY", "UD Send Only Immediate": "UD_SEND_ONLY_IMM",
}

// noTruth are captures of which a block of the truth file is missing, and why.
var noTruth = map[string]string{
	"rxe_two_points_pcapng/derived": "the independent parser reads pcap only, this is pcapng with two interfaces",
	"rxe_sll2_any_guest/derived":    "the independent parser reads Ethernet only, this is LINUX_SLL2",
	"rxe_snaplen128_write_64k/mads": "tshark shows no MAD of 256 bytes in 128; the five stand under its opcodes",
	"cnp_ce_synthetic/opcodes":      "synthetic: tshark's view was not kept, see TestCongestionTruth",
	"cnp_ce_synthetic/derived":      "synthetic: no kernel was there, see TestCongestionTruth",
}

// secondPoint is what tshark -Y 'frame.interface_id == 1' counts: the same
// packets seen again further on. A packet seen on several interfaces counts
// once, at the one that sees both directions.
var secondPoint = map[string]map[string]int64{
	"rxe_two_points_pcapng": {"RC_WRITE_FIRST": 286, "RC_WRITE_MIDDLE": 599, "RC_WRITE_LAST": 306},
}

// leftOut tells whether a block has to be missing, and fails when it isn't.
func leftOut(t *testing.T, name, block string, missing bool) bool {
	why, known := noTruth[name+"/"+block]
	require.Equal(t, known, missing, "%s of %s: %s", block, name, why)
	if known {
		t.Logf("left out: %s: %s", block, why)
	}
	return known
}

// TestTruth holds every real RoCE capture against what tshark and the
// independent parser counted in it: nothing here comes from our own decoder.
func TestTruth(t *testing.T) {
	for _, path := range append(captures(t, "rxe_*"), captures(t, "cnp_*")...) {
		name := captureName(path)
		t.Run(name, func(t *testing.T) {
			tr, s := truthOf(t, path), reported(t, path, analysis.Options{})
			assert.Equal(t, tr.TShark.Packets, s.Capture.Packets, "packets")
			for _, in := range s.Inputs {
				assert.True(t, in.Complete, in.Error)
			}
			if !leftOut(t, name, "opcodes", len(tr.TShark.Opcodes) == 0) {
				checkOpcodes(t, tr, s)
				checkDestinations(t, tr, s)
				checkECN(t, tr, s)
				if !leftOut(t, name, "mads", tr.TShark.MAD == nil && s.Protocols.CM.Packets > 0) {
					checkMADs(t, tr, s)
				}
			}
			if !leftOut(t, name, "derived", tr.Derived.RoCE == nil) {
				checkICRC(t, tr, s)
				checkAnswers(t, tr, s)
			}
		})
	}
}

// homeless are packets of a capture that belong to no flow: those whose
// corrupted headers name a queue pair that never was.
func homeless(s *analysis.Snapshot) int64 {
	n := s.Protocols.RoCEv2.Packets
	eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) { n -= f.Packets })
	return n
}

func checkOpcodes(t *testing.T, tr *truth, s *analysis.Snapshot) {
	got := map[string]int64{}
	eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
		for op, n := range f.Opcodes {
			if assert.Contains(t, opcodeNames, op) {
				got[opcodeNames[op]] += n
			}
		}
	})
	if n := s.Protocols.CM.Packets; n > 0 {
		got["UD_SEND_ONLY"] += n // MADs travel on QP 1, which is no connection
	}
	want := maps.Clone(tr.TShark.Opcodes)
	for op, n := range secondPoint[tr.Name] {
		want[op] -= n
	}
	assert.Equal(t, want, got, "BTH opcodes")
}

func checkDestinations(t *testing.T, tr *truth, s *analysis.Snapshot) {
	got := map[string]int64{}
	eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
		if assert.NotNil(t, f.DestQP) {
			got[fmt.Sprintf("0x%06x", *f.DestQP)] += f.Packets
		}
	})
	if n := s.Protocols.CM.Packets; n > 0 {
		got["0x000001"] = n
	}
	want := maps.Clone(tr.TShark.DestQP)
	for _, n := range secondPoint[tr.Name] {
		want["0x00001b"] -= n
	}
	assert.Equal(t, want, got, "packets per destination QP")
}

// checkECN compares RoCE's ECN with that of all IP packets: no others of the
// captures are marked.
func checkECN(t *testing.T, tr *truth, s *analysis.Snapshot) {
	var capable, ce int64
	eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
		capable += f.ECNCapable
		ce += f.ECNCE
	})
	assert.Equal(t, tr.TShark.ECN["1"]+tr.TShark.ECN["2"]+tr.TShark.ECN["3"], capable, "ECN capable")
	assert.Equal(t, tr.TShark.ECN["3"], ce, "CE")
}

func checkMADs(t *testing.T, tr *truth, s *analysis.Snapshot) {
	var all, requests, replies, rejected int64
	for _, n := range tr.TShark.MAD {
		all += n
	}
	assert.Equal(t, all, s.Protocols.CM.Packets, "CM messages")
	for _, c := range s.Connections {
		if c.CM != nil {
			requests += c.CM.Requests
			replies += c.CM.Replies
			if c.CM.RejectReason != nil {
				rejected++
			}
		}
	}
	if len(s.Inputs[0].Interfaces) > 1 {
		// tshark counts each sighting, we a dialogue once, at the interface that saw most of it.
		assert.Less(t, requests, tr.TShark.MAD["CM_REQ"], "REQ")
		return
	}
	assert.Equal(t, tr.TShark.MAD["CM_REQ"]+tr.TShark.MAD["CM_SIDR_REQ"], requests, "REQ")
	assert.Equal(t, tr.TShark.MAD["CM_REP"]+tr.TShark.MAD["CM_SIDR_REP"], replies, "REP")
	// One attempt is rejected once in its three tries at the most.
	assert.Equal(t, tr.TShark.MAD["CM_REJ"] > 0, rejected > 0, "REJ")
	assert.LessOrEqual(t, rejected, tr.TShark.MAD["CM_REJ"], "REJ")
}

func checkICRC(t *testing.T, tr *truth, s *analysis.Snapshot) {
	var checked, bad, cm int64
	eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
		checked += f.ICRCChecked
		bad += f.ICRCBad
	})
	cm = s.Protocols.CM.Packets
	assert.Equal(t, *tr.Derived.RoCE, s.Protocols.RoCEv2.Packets+cm, "RoCE packets")
	bad += homeless(s)
	if tr.Derived.Truncated > 0 {
		// MADs are 256 bytes: in a capture of 128 none of them can be checked.
		assert.Equal(t, tr.Derived.ICRCOK, checked, "iCRC checked; the rest is cut")
	} else {
		assert.Equal(t, tr.Derived.ICRCOK+tr.Derived.ICRCBad, checked+cm, "iCRC checked")
	}
	assert.Equal(t, tr.Derived.ICRCBad, bad, "bad iCRC")
}

// nakCounts are the NAKs by the independent parser's names, zeros left out.
func nakCounts(n *analysis.Naks) map[string]int64 {
	all := map[string]int64{
		"psn_sequence_error": n.PSNSequenceError, "invalid_request": n.InvalidRequest, "remote_access_error": n.RemoteAccessError,
		"remote_operational_error": n.RemoteOperationalError, "invalid_rd_request": n.InvalidRDRequest,
	}
	maps.DeleteFunc(all, func(_ string, n int64) bool { return n == 0 })
	return all
}

// destination is the key of the independent parser, which writes an IPv6
// address as 32 digits.
func destination(ip string, qpn int64) string {
	if a, err := netip.ParseAddr(ip); err == nil && a.Is6() {
		ip = hex.EncodeToString(a.AsSlice())
	}
	return fmt.Sprintf("%s qp 0x%x", ip, qpn)
}

// checkAnswers compares ACKs, NAKs and RNR NAKs. The truth has them where they
// travelled, the report at the flow that they answer, and without copies.
func checkAnswers(t *testing.T, tr *truth, s *analysis.Snapshot) {
	seen := map[string]bool{}
	for _, c := range s.Connections {
		for i := range c.Flows {
			f := &c.Flows[i]
			if value(c.A.QPN) == 0 || value(c.B.QPN) == 0 {
				assert.Nil(t, f.Acks, "nothing can be said of answers without the other side")
				continue
			}
			// The answers to this flow travel to the other end of it.
			back := c.A
			if *f.DestQP == *c.A.QPN && f.DstIP == string(c.A.IP) {
				back = c.B
			}
			key := destination(string(back.IP), *back.QPN)
			want, ok := tr.Derived.PerDestQP[key]
			if !ok || c.Service != "rc" {
				continue
			}
			seen[key] = true
			if !assert.NotNil(t, f.Acks, key) || !assert.NotNil(t, f.Naks, key) || !assert.NotNil(t, f.RNRNaks, key) {
				continue
			}
			assert.Equal(t, want.Acks, *f.Acks, "ACKs to %s", key)
			got := nakCounts(f.Naks)
			if want.Naks == nil {
				want.Naks = map[string]int64{}
			}
			assert.Equal(t, want.Naks, got, "NAKs to %s", key)
			assert.Equal(t, want.RNRNaks, *f.RNRNaks, "RNR NAKs to %s", key)
			var timers int64
			for code, n := range f.RNRTimers {
				assert.Equal(t, tr.TShark.AETH[fmt.Sprintf("RNR_NAK_%d", code)], n, "RNR timer %d", code)
				timers += n
			}
			assert.Equal(t, *f.RNRNaks, timers, "every RNR NAK names a timer")
		}
	}
	for _, key := range slices.Sorted(maps.Keys(tr.Derived.PerDestQP)) {
		d := tr.Derived.PerDestQP[key]
		if !seen[key] && (d.Acks > 0 || len(d.Naks) > 0 || d.RNRNaks > 0) && !strings.HasSuffix(key, " qp 0x1") {
			assert.Fail(t, "answers to "+key+" stand nowhere")
		}
	}
}
