package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// selected returns the numbers of the packets that pass a filter, and their
// PSNs.
func selected(t *testing.T, expr, path string) map[int64]int64 {
	t.Helper()
	code, out, errs := runPackets(t, "-T", "fields", "-e", "frame.number", "-e", "infiniband.bth.psn", "-Y", expr, path)
	require.Zero(t, code, errs)
	list := map[int64]int64{}
	for line := range strings.Lines(out) {
		number, psn, _ := strings.Cut(strings.TrimSpace(line), "\t")
		n, err := strconv.ParseInt(number, 10, 64)
		require.NoError(t, err, line)
		p, err := strconv.ParseInt(psn, 10, 64)
		require.NoError(t, err, line)
		list[n] = p
	}
	return list
}

// TestRetransmissionFilter compares the packets that are said to be sent again
// with those that are by their PSNs alone: the capture lies before the place of
// loss and nothing overtakes anything, so a request is sent again if its PSN had
// come before. Each packet that the truth file names as lost comes once more.
func TestRetransmissionFilter(t *testing.T) {
	path := testdata("rxe_exact_write_every50.pcap.gz")
	writes := selected(t, "infiniband.bth.opcode >= 6 && infiniband.bth.opcode <= 11", path)
	last := int64(0)
	for n := range writes {
		last = max(last, n)
	}
	seen := map[int64]bool{}
	want := map[int64]int64{}
	for n := int64(1); n <= last; n++ {
		psn, ok := writes[n]
		if !ok {
			continue
		}
		if seen[psn] {
			want[n] = psn
		}
		seen[psn] = true
	}
	require.NotEmpty(t, want)
	got := selected(t, "rdma.analysis.retransmission", path)
	assert.Equal(t, want, got)
	assert.Empty(t, selected(t, "rdma.analysis.out_of_order || rdma.analysis.duplicate || rdma.analysis.repeated_response", path))

	raw, err := os.ReadFile(testdata("rxe_exact_write_every50.truth.json"))
	require.NoError(t, err)
	var truth struct {
		ExactLoss struct {
			LostFrames []struct{ Frame, PSN int64 } `json:"lost_frames"`
		} `json:"exact_loss"`
	}
	require.NoError(t, json.Unmarshal(raw, &truth))
	require.NotEmpty(t, truth.ExactLoss.LostFrames)
	starts := selected(t, "rdma.analysis.episode", path)
	for _, lost := range truth.ExactLoss.LostFrames {
		first := int64(0) // the lost packet's next sending
		for n, psn := range got {
			if psn == lost.PSN && n > lost.Frame && (first == 0 || n < first) {
				first = n
			}
		}
		assert.NotZero(t, first, "packet %d was lost and PSN %d not sent again", lost.Frame, lost.PSN)
	}
	for n := range starts {
		assert.Contains(t, got, n, "a step back begins with a packet sent again")
	}

	var out, errs bytes.Buffer
	require.Zero(t, run([]string{"analyze", "-q", "-o", "json", "-Y", "rdma.analysis.retransmission", path}, strings.NewReader(""), &out, &errs), errs.String())
	var report struct {
		Capture struct{ Packets int64 }
	}
	require.NoError(t, json.Unmarshal(out.Bytes(), &report))
	assert.EqualValues(t, len(want), report.Capture.Packets)
}

// TestMarksMatchReports: the filters select as many packets as the report
// counts, whatever happened to them, for every capture.
func TestMarksMatchReports(t *testing.T) {
	for _, path := range corpus(t) {
		if !strings.HasPrefix(captureName(path), "rxe_") {
			continue
		}
		t.Run(captureName(path), func(t *testing.T) {
			t.Parallel()
			var out, errs bytes.Buffer
			require.Zero(t, run([]string{"analyze", "-q", "-o", "json", path}, strings.NewReader(""), &out, &errs), errs.String())
			var report struct {
				Connections []struct {
					Flows []struct {
						Retransmitted *int64 `json:"retransmitted_packets"`
						OutOfOrder    *int64 `json:"out_of_order_packets"`
						Duplicates    *int64 `json:"duplicate_packets"`
						Repeated      *int64 `json:"repeated_response_packets"`
						Episodes      *struct{ Total int64 }
					}
				}
			}
			require.NoError(t, json.Unmarshal(out.Bytes(), &report))
			want := map[string]int64{}
			add := func(name string, n *int64) {
				if n != nil {
					want[name] += *n
				}
			}
			for _, c := range report.Connections {
				for _, f := range c.Flows {
					add("retransmission", f.Retransmitted)
					add("out_of_order", f.OutOfOrder)
					add("duplicate", f.Duplicates)
					add("repeated_response", f.Repeated)
					if f.Episodes != nil {
						add("episode", &f.Episodes.Total)
					}
				}
			}
			for _, name := range []string{"retransmission", "out_of_order", "duplicate", "repeated_response", "episode"} {
				n := int64(len(selected(t, "rdma.analysis."+name, path)))
				if captureName(path) == "rxe_two_points_pcapng" { // the report tells it once, the filter finds both sightings
					assert.GreaterOrEqual(t, n, want[name], name)
					continue
				}
				assert.Equal(t, want[name], n, name)
			}
		})
	}
}
