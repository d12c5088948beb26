package analysis_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/analysis"
)

// uncounted are figures in which the wire and the kernels' counters must
// differ: what the report has, and why. Keys are capture/host/counter.
var uncounted = map[string]struct {
	ours int64
	why  string
}{
	"rxe_atomic_loss5/a/completer_retry_err":      {11, "12 of 23 retries were lost before the tap"},
	"rxe_cm_loss20/a/completer_retry_err":         {7, "3 of 10 retries were lost before the tap"},
	"rxe_outage_before_cap/a/completer_retry_err": {0, "all 15 retries were lost before the tap"},
	"rxe_rnr_exceeded/a/completer_retry_err":      {0, "rxe counts the sequence NAK that follows an RNR NAK: an RNR episode"},
	"rxe_rnr_first_recv_late/a/completer_retry_err": {0,
		"rxe counts the sequence NAK that follows an RNR NAK: an RNR episode"},
	"rxe_rnr_nak/a/completer_retry_err": {0, "rxe counts the sequence NAK that follows an RNR NAK: an RNR episode"},
}

// TestKernelCounters holds the report against the counters that both kernels
// kept while the packets passed.
func TestKernelCounters(t *testing.T) {
	used := map[string]bool{}
	seen := map[string]bool{}
	for _, path := range captures(t, "rxe_*") {
		name := captureName(path)
		seen[name] = true
		t.Run(name, func(t *testing.T) {
			tr, s := truthOf(t, path), reported(t, path, analysis.Options{})
			for _, host := range []string{"a", "b"} {
				got := hostFigures(s, tr.Hosts[host].IP)
				for counter, n := range got {
					key := fmt.Sprintf("%s/%s/%s", name, host, counter)
					want := tr.Counters[host].HW[counter]
					if x, ok := uncounted[key]; ok {
						used[key] = true
						assert.NotEqual(t, want, x.ours, "%s needs no exception", key)
						assert.Equal(t, x.ours, n, "%s, the kernel counted %d: %s", key, want, x.why)
						continue
					}
					assert.Equal(t, want, n, key)
				}
			}
		})
	}
	for key := range uncounted {
		if name, _, _ := strings.Cut(key, "/"); seen[name] {
			assert.True(t, used[key], key)
		}
	}
}

// hostFigures are the report's figures by the names of rxe's counters, at the
// host that keeps them.
func hostFigures(s *analysis.Snapshot, addrs []string) map[string]int64 {
	got := map[string]int64{"out_of_seq_request": 0, "rcvd_rnr_err": 0, "completer_retry_err": 0}
	eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
		if slices.Contains(addrs, f.SrcIP) { // the requester
			got["rcvd_rnr_err"] += value(f.RNRNaks)
			if f.Episodes != nil {
				got["completer_retry_err"] += f.Episodes.Total - f.Episodes.RNR
			}
		}
		if slices.Contains(addrs, f.DstIP) && f.Naks != nil { // the responder
			got["out_of_seq_request"] += f.Naks.PSNSequenceError
		}
	})
	return got
}

// TestLossIsProved: what the report says was lost is never more than what the
// kernels and netem lost on that side of the tap; nothing on captures that
// lost nothing. Figures are lower bounds, so they may be less.
func TestLossIsProved(t *testing.T) {
	for _, file := range expectations(t) {
		want := readExpectation(t, file)
		t.Run(want.Name, func(t *testing.T) {
			path := sharedFile("captures", want.File)
			tr, s := truthOf(t, path), reported(t, path, analysis.Options{})
			for host, k := range map[string]kernelTruth{"a": want.Truth.A, "b": want.Truth.B} {
				var before, after int64
				eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
					if slices.Contains(tr.Hosts[host].IP, f.SrcIP) {
						before += value(f.LostUpstream)
						after += value(f.LostDownstream)
					}
				})
				assert.LessOrEqual(t, before, k.LostBefore, "host %s, lost before the tap", host)
				assert.LessOrEqual(t, after, k.LostAfter, "host %s, lost after the tap", host)
			}
			assert.Zero(t, value(s.Capture.UnseenPackets), "the taps missed nothing")
		})
	}
}

// gaveUp are captures where the report and the kernel don't say the same of a
// requester that gave up, and why.
var gaveUp = map[string]struct {
	ours bool
	why  string
}{
	"rxe_peer_killed": {true, "asked 106 times without answer to the end: as the wire has it; rxe takes 7 retries for no end of them and counts nothing"},
}

// TestGivingUp: a requester that exhausted its retries is the kernel's
// retry_exceeded_err or retry_rnr_exceeded_err.
func TestGivingUp(t *testing.T) {
	for _, path := range captures(t, "rxe_*") {
		name := captureName(path)
		tr, s := truthOf(t, path), reported(t, path, analysis.Options{})
		got, kernel := false, false
		eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
			got = got || f.RetriesExhausted != nil && *f.RetriesExhausted
		})
		for _, host := range tr.Counters {
			kernel = kernel || host.HW["retry_exceeded_err"]+host.HW["retry_rnr_exceeded_err"] > 0
		}
		want := kernel
		if x, ok := gaveUp[name]; ok {
			assert.NotEqual(t, kernel, x.ours, "%s needs no exception", name)
			want = x.ours
		}
		assert.Equal(t, want, got, name)
	}
}
