package analysis_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// nicSnapshot reads one of the counter snapshots that were taken while captures
// of the corpus ran.
func nicSnapshot(t *testing.T, name string) map[string]int64 {
	t.Helper()
	f, err := os.Open(filepath.Join("testdata", "counters", name))
	require.NoError(t, err)
	defer f.Close()
	s, err := analysis.ReadNICCounters(f, "")
	require.NoError(t, err)
	return s.Counters
}

// different are the counters of rxe that the wire can't equal: what the kernel
// counted, and what passed the tap.
var different = map[string][2]int64{
	"rxe_read_loss3/b/sent_pkts":                {1577, 1531}, // netem at b's egress dropped 46
	"rxe_rnr_nak/a/completer_retry_err":         {98, 0},
	"rxe_rnr_nak/a/rcvd_seq_err":                {0, 183},
	"rxe_write_loss1_before_cap/a/sent_pkts":    {1940, 1924}, // netem at a's egress dropped 16
	"rxe_write_loss1_before_cap/a/rcvd_seq_err": {11, 12},
}

// notOnTheWire are those of rxe that nothing passing a tap can tell.
var notOnTheWire = []string{"ack_deferred", "link_downed", "retry_rnr_exceeded_err", "send_err"}

// TestCountersAgainst holds both layouts of real snapshots against the captures
// that ran between them: every line is equal, or differs for a known reason.
func TestCountersAgainst(t *testing.T) {
	used := map[string]bool{}
	for _, path := range captures(t, "rxe_*") {
		name := captureName(path)
		for host, ip := range map[string]string{"a": "10.77.0.1", "b": "10.77.0.2"} {
			base := name + "." + host
			if _, err := os.Stat(filepath.Join("testdata", "counters", base+".before.hw_counters.txt")); err != nil {
				continue
			}
			for _, layout := range []string{".hw_counters.txt", ".rdma_statistic.txt"} {
				t.Run(base+layout, func(t *testing.T) {
					s := analyze(t, path, analysis.Options{})
					h := hostOf(t, s, ip)
					lines := s.CompareCounters(h, nicSnapshot(t, base+".before"+layout), nicSnapshot(t, base+".after"+layout))
					require.Len(t, lines, 15)
					for _, l := range lines {
						key := name + "/" + host + "/" + l.Name
						assert.NotEmpty(t, l.Reason, key)
						want, differs := different[key]
						switch {
						case slices.Contains(notOnTheWire, l.Name):
							assert.Equal(t, analysis.CounterInvisible, l.Verdict, key)
							assert.Nil(t, l.Wire, key)
						case differs:
							used[key] = true
							assert.Equal(t, analysis.CounterExpected, l.Verdict, "%s: %s", key, l.Reason)
							assert.Equal(t, want, [2]int64{l.Delta, *l.Wire}, key)
						default:
							assert.Equal(t, analysis.CounterEqual, l.Verdict, "%s: %d, wire %d: %s", key, l.Delta, *l.Wire, l.Reason)
						}
					}
				})
			}
		}
	}
	assert.Len(t, used, len(different), "every exception is needed")
}

func hostOf(t *testing.T, s *analysis.Snapshot, ip string) *analysis.Host {
	t.Helper()
	for i := range s.Hosts {
		if s.Hosts[i].IP == ip {
			return &s.Hosts[i]
		}
	}
	require.Fail(t, "no such host", ip)
	return nil
}

// TestSIWHasNoCounters: its snapshots are empty texts, and no error.
func TestSIWHasNoCounters(t *testing.T) {
	for _, name := range []string{"a.before", "a.after", "b.before", "b.after"} {
		assert.Empty(t, nicSnapshot(t, "siw_mixed_loss1_before_cap."+name+".rdma_statistic.txt"))
	}
}

// TestIWARPHasNoRoCECounters: nothing of TCP is shown under a RoCE NIC's names.
func TestIWARPHasNoRoCECounters(t *testing.T) {
	s := reported(t, captures(t, "siw_rping.pcap*")[0], analysis.Options{})
	require.NotEmpty(t, s.Hosts)
	for _, h := range s.Hosts {
		assert.Empty(t, h.Counters, h.IP)
	}
}

// TestDuplicateRequests: which requests the responder had already, held against
// the responders' own count of them on every capture: loss before the tap and
// behind it, of requests, responses and acknowledgements; reordering; copies.
func TestDuplicateRequests(t *testing.T) {
	for _, path := range captures(t, "rxe_*") {
		name := captureName(path)
		t.Run(name, func(t *testing.T) {
			tr, s := truthOf(t, path), reported(t, path, analysis.Options{})
			for _, host := range []string{"a", "b"} {
				var got int64
				known := false
				for i := range s.Hosts {
					if c, ok := s.Hosts[i].Counters["duplicate_request"]; ok && slices.Contains(tr.Hosts[host].IP, s.Hosts[i].IP) {
						got, known = got+*c.Value, true
					}
				}
				if known {
					assert.Equal(t, tr.Counters[host].HW["duplicate_request"], got, "host %s", host)
				}
			}
		})
	}
}

// TestCongestionCounters: what the NICs of the synthetic DCQCN capture would
// have counted is what was put into it.
func TestCongestionCounters(t *testing.T) {
	for _, path := range captures(t, "cnp_*") {
		s := reported(t, path, analysis.Options{})
		var sender, receiver *analysis.Host
		eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
			if f.Opcodes["RC RDMA Write Only"] > 0 {
				sender, receiver = hostOf(t, s, f.SrcIP), hostOf(t, s, f.DstIP)
			}
		})
		require.NotNil(t, sender)
		for name, want := range map[string]int64{"np_cnp_sent": 36, "np_ecn_marked_roce_packets": 427, "rp_cnp_handled": 0, "rx_write_requests": 3000, "rx_icrc_encapsulated": 0} {
			assert.Equal(t, analysis.Counter{Value: analysis.Int(want), Exactness: "exact"}, receiver.Counters[name], name)
		}
		for name, want := range map[string]int64{"np_cnp_sent": 0, "np_ecn_marked_roce_packets": 0, "rp_cnp_handled": 36, "rx_write_requests": 0} {
			assert.Equal(t, analysis.Counter{Value: analysis.Int(want), Exactness: "exact"}, sender.Counters[name], name)
		}
	}
}

// TestPauseCounters: the receiver of the storm pauses by its own MAC, so these
// are its transmit counters; whose link it is besides, nothing tells.
func TestPauseCounters(t *testing.T) {
	for _, path := range captures(t, "pfc_storm*") {
		s := reported(t, path, analysis.Options{LinkSpeed: 25e9})
		h := hostOf(t, s, "192.0.2.2")
		for name, want := range map[string]int64{"tx_prio3_pause": 1520, "tx_prio3_pause_duration": 900_407} {
			assert.Equal(t, analysis.Counter{Value: analysis.Int(want), Exactness: "exact"}, h.Counters[name], name)
		}
		for _, other := range s.Hosts {
			for name := range other.Counters {
				assert.False(t, strings.HasPrefix(name, "rx_prio"), "%s of %s", name, other.IP)
				assert.True(t, other.IP == h.IP || !strings.Contains(name, "pause"), "%s of %s", name, other.IP)
			}
		}
	}
}

// TestReadNICCounters: the layouts of the three tools.
func TestReadNICCounters(t *testing.T) {
	for _, c := range []struct {
		name, text, device string
		want               map[string]int64
		fault              string
	}{
		{"rdma statistic", "link rxe0/1 \n    sent_pkts 21276 \n    rcvd_pkts 12809\n", "", map[string]int64{"sent_pkts": 21276, "rcvd_pkts": 12809}, ""},
		{"on one line", "link mlx5_0/1 rx_write_requests 7 np_cnp_sent 0 \n", "", map[string]int64{"rx_write_requests": 7, "np_cnp_sent": 0}, ""},
		{"two links", "link mlx5_0/1 a 1\nlink mlx5_1/1 a 2\n", "mlx5_1", map[string]int64{"a": 2}, ""},
		{"two links, none named", "link mlx5_0/1 a 1\nlink mlx5_1/1 a 2\n", "", nil, "one device of several must be named: mlx5_0/1, mlx5_1/1"},
		{"a link that isn't there", "link mlx5_0/1 a 1\n", "mlx5_9", nil, "mlx5_0/1"},
		{"hw_counters", "ack_deferred: 12183\nlifespan: 10\n", "", map[string]int64{"ack_deferred": 12183}, ""},
		{"grep over hw_counters", "/sys/class/infiniband/mlx5_0/ports/1/hw_counters/np_cnp_sent:3\n", "", map[string]int64{"np_cnp_sent": 3}, ""},
		{"a path with colons", "/sys/devices/pci0000:3a/0000:3a:00.0/infiniband/mlx5_0/hw_counters/out_of_buffer:4\n", "", map[string]int64{"out_of_buffer": 4}, ""},
		{"ethtool", "NIC statistics:\n     rx_prio3_pause: 17\n     tx_prio3_pause_duration: 5\n", "", map[string]int64{"rx_prio3_pause": 17, "tx_prio3_pause_duration": 5}, ""},
		{"empty", "\n", "", map[string]int64{}, ""},
		{"prose", "there is no counter here: none at all\nx: y\n", "", map[string]int64{}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := analysis.ReadNICCounters(strings.NewReader(c.text), c.device)
			if c.fault != "" {
				require.ErrorContains(t, err, c.fault)
				return
			}
			require.NoError(t, err)
			assert.Equal(t, c.want, s.Counters)
		})
	}
	_, err := analysis.ReadNICCounters(strings.NewReader(strings.Repeat("a: 1\n", 1<<17+1)), "")
	assert.ErrorContains(t, err, "more counters than any NIC has")
}

// TestCompareOddSnapshots: a reset, another driver, and a difference that
// nothing explains are told as such.
func TestCompareOddSnapshots(t *testing.T) {
	path := captures(t, "rxe_rping.pcap*")[0]
	s := analyze(t, path, analysis.Options{})
	lines := s.CompareCounters(hostOf(t, s, "10.77.0.1"),
		map[string]int64{"sent_pkts": 100, "rcvd_pkts": 0, "gone": 1, "rx_prio0_buf_discard": 0, "watermark_qps": 1},
		map[string]int64{"sent_pkts": 10, "rcvd_pkts": 1_000_000, "rx_prio0_buf_discard": 3, "watermark_qps": 4})
	got := map[string]string{}
	for _, l := range lines {
		assert.NotEmpty(t, l.Reason)
		got[l.Name] = l.Verdict
	}
	assert.Equal(t, map[string]string{"sent_pkts": analysis.CounterUnexplained, "rcvd_pkts": analysis.CounterUnexplained,
		"gone": analysis.CounterUnexplained, "rx_prio0_buf_discard": analysis.CounterInvisible, "watermark_qps": analysis.CounterInvisible}, got)
}

// FuzzReadNICCounters: any text gives counters or a reason, and nothing else.
func FuzzReadNICCounters(f *testing.F) {
	for _, name := range []string{"rxe_rnr_nak.a.before.rdma_statistic.txt", "rxe_rnr_nak.a.before.hw_counters.txt"} {
		b, err := os.ReadFile(filepath.Join("testdata", "counters", name))
		require.NoError(f, err)
		f.Add(string(b), "")
	}
	f.Add("NIC statistics:\n     rx_prio3_pause: 17\nlink a b c:d:e", "a")
	f.Fuzz(func(t *testing.T, text, device string) {
		s, err := analysis.ReadNICCounters(strings.NewReader(text), device)
		if err == nil {
			require.NotNil(t, s.Counters)
		}
	})
}
