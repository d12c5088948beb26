package analysis_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// streamTruth is what kernels, an independent parser and the exact loss lists
// say of an iWARP capture.
type streamTruth struct {
	Hosts map[string]struct {
		IP []string `json:"ip"`
	} `json:"hosts"`
	Counters map[string]struct {
		TCP    map[string]int64 `json:"Tcp"`
		TCPExt map[string]int64 `json:"TcpExt"`
	} `json:"counters_delta"`
	Derived struct {
		Directions map[string]struct {
			FPDUs map[string]int64 `json:"fpdus"`
			Last  int64            `json:"ddp_last"`
			CRC   map[string]int64 `json:"fpdu_crc"`
			MPA   *struct {
				Revision int64 `json:"rev"`
				Reject   int64 `json:"reject"`
				CRC      int64 `json:"crc"`
				Markers  int64 `json:"markers"`
			} `json:"mpa"`
			Terminate []struct{} `json:"terminate"`
		} `json:"tcp_directions"`
	} `json:"derived_iwarp"`
	ExactLoss *struct {
		Frames []struct {
			To  string `json:"to"`
			Len int64  `json:"tcp_len"`
		} `json:"lost_frames"`
	} `json:"exact_loss"`
}

func streamTruthOf(t *testing.T, path string) *streamTruth {
	t.Helper()
	base := filepath.Join(filepath.Dir(path), captureName(path))
	b, err := os.ReadFile(base + ".truth.json")
	if err != nil {
		b, err = os.ReadFile(base + ".json")
	}
	require.NoError(t, err, "a capture without its truth proves nothing")
	tr := new(streamTruth)
	require.NoError(t, json.Unmarshal(b, tr))
	return tr
}

// streamFlows calls f for each direction of each iWARP connection.
func streamFlows(s *analysis.Snapshot, f func(*analysis.Flow)) {
	for i := range s.Connections {
		if c := &s.Connections[i]; c.Transport == "iwarp" {
			for k := range c.Flows {
				f(&c.Flows[k])
			}
		}
	}
}

func known(t *testing.T, what string, v *int64) int64 {
	t.Helper()
	if assert.NotNil(t, v, what) {
		return *v
	}
	return -1
}

// TestIWARPTruth runs every siw capture through the whole engine and compares
// the report with the kernels' counters, the exact loss lists and the
// independent parser.
func TestIWARPTruth(t *testing.T) {
	for _, path := range captures(t, "siw_*.pcap*") {
		t.Run(captureName(path), func(t *testing.T) {
			tr, s := streamTruthOf(t, path), reported(t, path, analysis.Options{})
			resent, fast, lost, timeouts := map[string]int64{}, map[string]int64{}, map[string]int64{}, map[string]int64{}
			host := func(ip string) string {
				for name, h := range tr.Hosts {
					for _, a := range h.IP {
						if netip.MustParseAddr(a) == netip.MustParseAddr(ip) {
							return name
						}
					}
				}
				return ""
			}
			streamFlows(s, func(fl *analysis.Flow) {
				h := host(fl.SrcIP)
				resent[h] += known(t, "retransmitted_segments", fl.TCP.Retransmitted)
				fast[h] += known(t, "fast_retransmits", fl.TCP.FastRetransmits)
				timeouts[h] += known(t, "timeouts", fl.TCP.Timeouts)
				lost[h] += known(t, "lost_downstream_packets", fl.LostDownstream)
				streamDerived(t, tr, fl)
			})
			for h, k := range tr.Counters {
				assert.Equal(t, k.TCP["RetransSegs"], resent[h], "RetransSegs of %s", h)
				assert.Equal(t, k.TCPExt["TCPFastRetrans"], fast[h], "TCPFastRetrans of %s", h)
				assert.Equal(t, k.TCPExt["TCPTimeouts"], timeouts[h], "TCPTimeouts of %s", h)
			}
			if tr.ExactLoss == nil {
				return
			}
			exact := map[string]int64{}
			for _, f := range tr.ExactLoss.Frames {
				if f.Len > 0 {
					exact[map[string]string{"a": "b", "b": "a"}[f.To]]++
				}
			}
			assert.NotEmpty(t, exact)
			for h, n := range exact {
				assert.Equal(t, n, lost[h], "segments of %s lost behind the tap", h)
			}
		})
	}
}

// streamDerived compares FPDUs, messages, CRCs, start-up frames and Terminates
// of one direction.
func streamDerived(t *testing.T, tr *streamTruth, fl *analysis.Flow) {
	end := func(ip string, port *int64) string {
		return fmt.Sprintf("%s %d", netip.MustParseAddr(ip), *port)
	}
	key := end(fl.SrcIP, fl.SrcPort) + " > " + end(fl.DstIP, fl.DstPort)
	for name, d := range tr.Derived.Directions {
		var ends []string
		for _, e := range strings.Split(name, " > ") {
			i := strings.LastIndexByte(e, ':')
			ends = append(ends, netip.MustParseAddr(e[:i]).String()+" "+e[i+1:])
		}
		if strings.Join(ends, " > ") != key {
			continue
		}
		want := map[string]int64{}
		for op, n := range d.FPDUs {
			if op == "WRITE" {
				op = "RDMA_WRITE"
			}
			want[op] = n
		}
		assert.Equal(t, want, map[string]int64(fl.Opcodes), key)
		assert.Equal(t, d.Last, known(t, "messages", fl.Messages), key)
		if fl.MPA.CRC != nil && *fl.MPA.CRC {
			assert.Equal(t, d.CRC["good"], known(t, "crc_checked", fl.MPA.CRCChecked), key)
			assert.Zero(t, known(t, "crc_bad", fl.MPA.CRCBad), key)
		} else {
			assert.Nil(t, fl.MPA.CRCBad, "without CRCs none is bad")
		}
		if m := d.MPA; m != nil {
			assert.Equal(t, m.Revision, known(t, "revision", fl.MPA.Revision), key)
			assert.Equal(t, m.Reject == 1, fl.MPA.Reject != nil && *fl.MPA.Reject, key)
		}
		require.Len(t, fl.Terminates, len(d.Terminate), key)
		for i := range fl.Terminates {
			assert.Equal(t, "swapped", fl.Terminates[i].Order)
			assert.NotContains(t, fl.Terminates[i].Text, "reserved", "every Terminate is named")
		}
		return
	}
	t.Errorf("%s is not in the truth", key)
}

// sameNames are names that the report and the expectations share, with the same
// meaning.
var sameNames = []string{
	"packets", "wire_bytes", "payload_bytes", "messages", "opcodes", "retransmitted_packets", "out_of_order_packets", "duplicate_packets",
	"unseen_bytes", "checksum_bad_packets", "lost_downstream_packets",
	"tcp.data_segments", "tcp.retransmitted_segments", "tcp.retransmitted_bytes", "tcp.duplicate_acks", "tcp.spurious_segments", "tcp.dsacks",
	"tcp.fast_retransmits", "tcp.timeouts", "tcp.tail_probes", "tcp.zero_windows",
	"mpa.revision", "mpa.ird", "mpa.ord", "mpa.fpdus",
	"reads.requests", "reads.answered", "reads.matched_by_order_only", "reads.max_outstanding",
	"latency.ack.count", "latency.ack.coalesced", "latency.ack.recovered", "latency.ack.min_ns", "latency.ack.max_ns",
	"latency.read_first.count", "latency.read_first.min_ns", "latency.read_first.max_ns",
	"latency.read_last.count", "latency.read_last.min_ns", "latency.read_last.max_ns", "tcp.rtt.min_ns", "tcp.rtt.max_ns", "tcp.rtt.count",
}

// within are quantiles, which a sketch tells within 1 %.
var within = []string{"latency.ack.p50_ns", "latency.ack.p99_ns", "latency.read_first.p50_ns", "latency.read_last.p99_ns", "tcp.rtt.p50_ns", "tcp.rtt.p999_ns"}

// at looks a dotted name up; nil where a part isn't there.
func at(m any, name string) any {
	for _, part := range strings.Split(name, ".") {
		o, ok := m.(map[string]any)
		if !ok {
			return nil
		}
		m = o[part]
	}
	return m
}

// TestIWARPExpected compares the JSON report, name by name, with figures that an
// independent program computed.
func TestIWARPExpected(t *testing.T) {
	if sharedFile("expected") == "" {
		t.Skip("the independent figures are not beside the repository")
	}
	compared := map[string]int{}
	for _, path := range captures(t, "siw_*.pcap*") {
		t.Run(captureName(path), func(t *testing.T) {
			b, err := os.ReadFile(sharedFile("expected", captureName(path)+".json"))
			require.NoError(t, err)
			var want, got struct {
				Connections []struct {
					Flows []map[string]any `json:"flows"`
				} `json:"connections"`
			}
			require.NoError(t, json.Unmarshal(b, &want))
			var iwarp []analysis.Connection
			for _, c := range reported(t, path, analysis.Options{}).Connections {
				if c.Transport == "iwarp" {
					iwarp = append(iwarp, c)
				}
			}
			b, err = json.Marshal(map[string]any{"connections": iwarp})
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(b, &got))
			require.Len(t, got.Connections, len(want.Connections))
			for i := range want.Connections {
				for _, w := range want.Connections[i].Flows {
					for _, g := range got.Connections[i].Flows {
						if g["src_ip"] == w["src_ip"] && g["src_port"] == w["src_port"] {
							compareNames(t, w, g, compared)
						}
					}
				}
			}
		})
	}
	for _, name := range append(append([]string{}, sameNames...), within...) {
		assert.NotZero(t, compared[name], "%s was never compared", name)
	}
}

func compareNames(t *testing.T, want, got map[string]any, compared map[string]int) {
	for _, name := range sameNames {
		if w := at(want, name); w != nil {
			assert.Equal(t, w, at(got, name), "%s of %v:%v", name, want["src_ip"], want["src_port"])
			compared[name]++
		}
	}
	for _, name := range within {
		w, ok := at(want, name).(float64)
		if g, also := at(got, name).(float64); ok && w > 0 && assert.True(t, also, name) {
			assert.InEpsilon(t, w, g, 0.01, name)
			compared[name]++
		}
	}
}

// TestEarlyFPDUIsANotice: the responder's FPDU before the initiator's first
// breaks a rule and harms nothing, so it mustn't be the report's verdict.
func TestEarlyFPDUIsANotice(t *testing.T) {
	path := sharedFile("captures", "siw_write_lat_64b.pcap")
	if path == "" {
		t.Skip("the capture is not beside the repository")
	}
	s := reported(t, path, analysis.Options{})
	found := 0
	for i := range s.Findings {
		if f := &s.Findings[i]; f.Rule == "iwarp.mpa" {
			found++
			assert.Equal(t, analysis.SeverityNotice, f.Severity)
			assert.Contains(t, string(f.Meaning), "before the other side may receive it")
		}
	}
	assert.Equal(t, 1, found)
	assert.Equal(t, analysis.SeverityNotice, s.Verdict.Severity)
}

// TestFitOfCaptures: the kernel counted 4 resends of 785 data segments, tshark's
// median RTT is 0.548 ms; without loss there is nothing to tell.
func TestFitOfCaptures(t *testing.T) {
	for _, path := range captures(t, "siw_mixed_*.pcap*") {
		s := reported(t, path, analysis.Options{})
		switch captureName(path) {
		case "siw_mixed_loss1_after_cap":
			require.Len(t, s.TransportFit, 1)
			x := s.TransportFit[0]
			assert.EqualValues(t, 4, x.Lost)
			assert.EqualValues(t, 785, x.Sent)
			assert.InDelta(t, 4.0/785, float64(x.Loss), 1e-9)
			assert.InEpsilon(t, 547927, x.RTTNS, 0.01)
			assert.EqualValues(t, 1448, known(t, "mss_bytes", x.MSS))
			life := float64(s.Connections[0].LastTime - s.Connections[0].FirstTime)
			w := 785 * float64(x.RTTNS) / life
			assert.InDelta(t, w, float64(x.InFlight), 1e-6)
			assert.InDelta(t, (1-4.0/785)/(1-4.0/785+4.0/785*w), float64(x.GoBackN), 1e-6)
			assert.Nil(t, x.LinkSpeed, "no file told it")
			assert.Nil(t, x.Paused, "no pause was visible")
		case "siw_mixed_q2", "siw_mixed_duplicate3":
			assert.Empty(t, s.TransportFit, path)
		}
	}
}
