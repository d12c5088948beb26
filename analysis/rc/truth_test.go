package rc

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// truthFile is what the captures' own JSON holds: the kernels' counters.
type truthFile struct {
	File     string
	Commands []struct{ Out string }
	QPs      map[string][]string `json:"rdma_res_qp_seen"`
	Delta    map[string]struct {
		HW map[string]uint64 `json:"rdma_hw_counters"`
	} `json:"counters_delta"`
	Qdisc map[string][]struct {
		Kind  string
		Drops uint64
	} `json:"qdisc_final"`
	Exact *struct {
		Lost []struct {
			Opcode string
		} `json:"lost_frames"`
	} `json:"exact_loss"`
}

func truths(t testing.TB) (v []truthFile) {
	m, err := filepath.Glob(filepath.Join(sharedDir(t), "captures", "rxe_*.json"))
	require.NoError(t, err)
	for _, n := range m {
		raw, err := os.ReadFile(n)
		require.NoError(t, err)
		var x truthFile
		require.NoError(t, json.Unmarshal(raw, &x), n)
		v = append(v, x)
	}
	return v
}

// hostA is the client's end: its packets to the server are requests of a.
func hostA(ip string) bool { return ip == "10.77.0.1" || ip == "fd77::1" || ip == "10.78.0.1" }

// sums adds the figures of all flows that leave host a, and of those that
// leave b, over all incarnations at the first interface.
func sums(res *Result) (a, b FlowFigures) {
	for _, c := range res.Connections {
		for _, f := range c.Flows {
			if f == nil || f.Key.Iface != 0 {
				continue
			}
			s := &b
			if hostA(f.Key.Src.String()) {
				s = &a
			}
			s.NAKs[0] += f.NAKs[0]
			s.RNRNAKs += f.RNRNAKs
			s.EpisodesBy.Total += f.EpisodesBy.Total
			s.EpisodesBy.RNR += f.EpisodesBy.RNR
			s.LostUpstream.N += f.LostUpstream.N
			s.LostDownstream.N += f.LostDownstream.N
			s.NetworkCopies += f.NetworkCopies
			s.Duplicates += f.Duplicates
		}
	}
	return a, b
}

// retriesUnseen: episodes that the kernel counted and the tap can't see, since
// everything that was resent was lost before it.
var retriesUnseen = map[string]struct {
	n   uint64
	why string
}{
	"rxe_atomic_loss5.pcap":         {12, "23 retries, 11 seen: window 1, so a lost retry leaves nothing to see"},
	"rxe_cm_loss20.pcap":            {3, "10 retries, 7 seen, as above"},
	"rxe_outage_before_cap.pcap.gz": {15, "eight seconds in which nothing passed the tap"},
}

// rnrCompleter: captures in which RNR NAKs also move completer_retry_err, by
// the sequence NAK that follows each (rxe, check_psn).
var rnrCompleter = map[string]bool{"rxe_rnr_nak.pcap.gz": true, "rxe_rnr_exceeded.pcap": true, "rxe_rnr_first_recv_late.pcap.gz": true}

// TestKernelCounters: the kernels of both ends decide.
func TestKernelCounters(t *testing.T) {
	for _, x := range truths(t) {
		t.Run(x.File, func(t *testing.T) {
			res := newFeeder(Options{}).run(loadCapture(t, filepath.Join(sharedDir(t), "captures", x.File)))
			a, b := sums(res)
			hwA, hwB := x.Delta["a"].HW, x.Delta["b"].HW
			assert.Equal(t, hwB["out_of_seq_request"], a.NAKs[0], "sequence NAKs sent by b")
			assert.Equal(t, hwA["out_of_seq_request"], b.NAKs[0], "sequence NAKs sent by a")
			assert.GreaterOrEqual(t, a.NAKs[0], hwA["rcvd_seq_err"])
			assert.Equal(t, hwA["rcvd_rnr_err"], a.RNRNAKs, "RNR NAKs received by a")
			unseen := retriesUnseen[x.File].n
			if !rnrCompleter[x.File] {
				assert.Equal(t, hwA["completer_retry_err"], a.EpisodesBy.Total-a.EpisodesBy.RNR+unseen, "episodes of a")
				assert.Equal(t, hwB["completer_retry_err"], b.EpisodesBy.Total-b.EpisodesBy.RNR, "episodes of b")
			}
			var drops uint64
			for _, q := range x.Qdisc {
				for _, k := range q {
					drops += k.Drops
				}
			}
			if x.Exact != nil {
				drops += uint64(len(x.Exact.Lost))
			}
			lost := a.LostUpstream.N + a.LostDownstream.N + b.LostUpstream.N + b.LostDownstream.N
			assert.LessOrEqual(t, lost, drops, "more lost than the queues dropped")
			if n := a.NetworkCopies; a.Duplicates > 0 {
				assert.Equal(t, hwB["duplicate_request"], n, "copies that reached b")
			}
		})
	}
}

var (
	resLine = regexp.MustCompile(`lqpn (\d+) rqpn (\d+) type RC`)
	cliLine = regexp.MustCompile(`QP (?:client|server)(?:_end)? idx=\d+ qpn=0x([0-9a-f]+) dest_qpn=0x([0-9a-f]+)`)
)

// qpPairs returns the queue pairs that the hosts said they had, from a to b.
func (x *truthFile) qpPairs() map[[2]uint32]bool {
	v := map[[2]uint32]bool{}
	for host, lines := range x.QPs {
		for _, l := range lines {
			if m := resLine.FindStringSubmatch(l); m != nil && m[2] != "0" {
				p, _ := strconv.ParseUint(m[1], 10, 32)
				q, _ := strconv.ParseUint(m[2], 10, 32)
				if host == "b" {
					p, q = q, p
				}
				v[[2]uint32{uint32(p), uint32(q)}] = true
			}
		}
	}
	return v
}

// TestPairing: every pair that both ends named is found, with and without the
// CM packets, and no wrong one is called likely or certain.
func TestPairing(t *testing.T) {
	checked := 0
	for _, x := range truths(t) {
		for _, noCM := range []bool{false, true} {
			t.Run(x.File, func(t *testing.T) {
				f := newFeeder(Options{})
				f.noCM = noCM
				res := f.run(loadCapture(t, filepath.Join(sharedDir(t), "captures", x.File)))
				checked += x.judge(t, res, true)
			})
		}
	}
	assert.Greater(t, checked, 100, "pairs that the hosts named")
}

// judge compares the pairs found with those of the hosts and returns how many
// the hosts named.
func (x *truthFile) judge(t *testing.T, res *Result, all bool) (checked int) {
	t.Helper()
	want := x.qpPairs()
	for _, cmd := range x.Commands {
		for _, m := range cliLine.FindAllStringSubmatch(cmd.Out, -1) {
			p, _ := strconv.ParseUint(m[1], 16, 32)
			q, _ := strconv.ParseUint(m[2], 16, 32)
			if q != 0 && !want[[2]uint32{uint32(q), uint32(p)}] {
				want[[2]uint32{uint32(p), uint32(q)}] = true
			}
		}
	}
	partner := map[uint32]uint32{} // QPN at a → at b, where the hosts told
	for p := range want {
		partner[p[0]] = p[1]
	}
	for _, c := range res.Connections {
		if c.Flows[0].Key.Iface != 0 {
			continue
		}
		if c.Flows[1] == nil {
			if all && c.Flows[0].Service == "rc" {
				t.Errorf("flow to QP %d unpaired (%s %v)", c.Flows[0].Key.DestQP, c.Confidence, c.Candidates)
			}
			continue
		}
		toB, toA := c.Flows[0], c.Flows[1]
		if !hostA(toB.Key.Src.String()) {
			toB, toA = toA, toB
		}
		if b, ok := partner[toA.Key.DestQP]; ok {
			checked++
			assert.Equal(t, b, toB.Key.DestQP, "partner of QP %d (%s, %s)", toA.Key.DestQP, c.Method, c.Confidence)
		}
	}
	return checked
}
