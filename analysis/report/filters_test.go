package report

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// truthFile is what the capture's own truth says, as far as it matters here.
type truthFile struct {
	Derived struct {
		PerDestQP map[string]struct {
			Naks    map[string]int `json:"naks"`
			RNRNaks int            `json:"rnr_naks"`
		} `json:"per_dest_qp"`
	} `json:"derived"`
	Tshark struct {
		MACC map[string]int `json:"macc_opcodes"`
	} `json:"tshark"`
}

// Every display filter that the tables print selects, in Wireshark itself,
// exactly the packets that it is printed for.
func TestPrintedFiltersInTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed: the printed filters are not tried")
	}
	for _, c := range []struct {
		capture string
		rejects int
	}{
		{"rxe_exact_single_loss.pcap.gz", 0},
		{"rxe_rnr_nak.pcap.gz", 0},
		{"rxe_cm_reject_app.pcap", 1},
		{"pfc_normal_bursts.pcap.gz", 0},
	} {
		path := filepath.Join("..", "..", "pcaps", "testdata", c.capture)
		if _, err := os.Stat(path); err != nil {
			t.Logf("%s is not there", path)
			continue
		}
		t.Run(c.capture, func(t *testing.T) {
			truth := readTruth(t, path)
			naks, rnr, pauses := 0, 0, 0
			for _, q := range truth.Derived.PerDestQP {
				for _, n := range q.Naks {
					naks += n
				}
				rnr += q.RNRNaks
			}
			for _, n := range truth.Tshark.MACC {
				pauses += n
			}
			require.Equal(t, []int{naks, rnr, c.rejects, pauses},
				selected(t, tshark, path, nakFilter, rnrFilter, rejectFilter, pauseFilter))
		})
	}
}

// selected counts the packets that each filter selects, in one run.
func selected(t *testing.T, tshark, path string, filters ...string) []int {
	out, err := exec.Command(tshark, "-n", "-q", "-r", path, "-z", "io,stat,0,"+strings.Join(filters, ",")).Output()
	require.NoError(t, err)
	_, row, found := strings.Cut(string(out), "<>") // the one interval: | 0.0 <> 1.8 | frames | bytes | …
	require.True(t, found, "%s", out)
	cells := strings.Split(row, "|")
	require.Greater(t, len(cells), 2*len(filters))
	counts := make([]int, len(filters))
	for i := range filters {
		counts[i], err = strconv.Atoi(strings.TrimSpace(cells[1+2*i]))
		require.NoError(t, err)
	}
	return counts
}

func readTruth(t *testing.T, capture string) truthFile {
	base := capture
	for ext := filepath.Ext(base); ext != ""; ext = filepath.Ext(base) {
		base = base[:len(base)-len(ext)]
		if ext == ".pcap" || ext == ".pcapng" {
			break
		}
	}
	b, err := os.ReadFile(base + ".truth.json")
	require.NoError(t, err)
	var truth truthFile
	require.NoError(t, json.Unmarshal(b, &truth))
	return truth
}
