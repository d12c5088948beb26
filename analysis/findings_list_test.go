package analysis_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// TestFindingsAsReviewed: each capture gives the findings that were held
// against what is known of it, one by one, and no others. testdata/findings.txt
// is written by hand: a change of it is a new review.
func TestFindingsAsReviewed(t *testing.T) {
	reviewed := readReviewed(t)
	for _, pattern := range []string{"rxe_*", "pfc_*", "cnp_*", "siw_*"} {
		for _, path := range captures(t, pattern) {
			name := captureName(path)
			want, ok := reviewed[name]
			if !assert.True(t, ok, "%s was never reviewed", name) {
				continue
			}
			var opt analysis.Options
			if pattern == "pfc_*" && strings.HasSuffix(path, ".pcap.gz") {
				opt.LinkSpeed = 25e9 // a pcap has no place for it
			}
			var got []string
			for _, f := range reported(t, path, opt).Findings {
				got = append(got, string(f.Severity)+" "+f.Rule)
			}
			assert.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"), name)
		}
	}
}

// readReviewed reads the list: a capture's name, then a line a finding.
func readReviewed(t *testing.T) map[string][]string {
	b, err := os.ReadFile(filepath.Join("testdata", "findings.txt"))
	require.NoError(t, err)
	list := map[string][]string{}
	name := ""
	for line := range strings.Lines(string(b)) {
		text, _, _ := strings.Cut(line, "#")
		switch text = strings.TrimRight(text, " \n"); {
		case text == "":
		case strings.HasPrefix(text, " "):
			require.NotEmpty(t, name)
			list[name] = append(list[name], strings.TrimSpace(text))
		default:
			name = text
			require.NotContains(t, list, name)
			list[name] = nil
		}
	}
	return list
}

// quiet are captures in which no packet was lost, resent or refused: whatever
// is found there about transport, network or pauses would be an invention.
var quiet = []string{
	"rxe_atomic_cas_bw", "rxe_atomic_fadd_lat", "rxe_cm_connect_teardown", "rxe_ecn_ect_only", "rxe_ipv6_write_bw_4k", "rxe_mixed_ops_q4",
	"rxe_mtu4096_write_bw", "rxe_nfs", "rxe_nvmeof", "rxe_offload_mixed", "rxe_read_bw_16k_q2", "rxe_read_lat_2k", "rxe_rping",
	"rxe_rping_ipv6", "rxe_rstream", "rxe_send_bw_4k", "rxe_send_bw_64b", "rxe_send_lat_2b", "rxe_sll2_any_guest",
	"rxe_snaplen128_write_64k", "rxe_uc_write_bw_8k", "rxe_ucmatose", "rxe_ud_send_bw_1k", "rxe_udaddy", "rxe_vlan100",
	"rxe_write_ackloss5", "rxe_write_bw_16k_q4", "rxe_write_bw_64k_cm_q2", "rxe_write_lat_2b", "rxe_write_qlat_w1", "cnp_ce_synthetic",
}

// TestNothingInvented: what is told of quiet captures is how they are marked,
// and nothing worse than a notice.
func TestNothingInvented(t *testing.T) {
	for _, name := range quiet {
		for _, path := range captures(t, name+".pcap*") {
			for _, f := range reported(t, path, analysis.Options{}).Findings {
				assert.True(t, strings.HasPrefix(f.Rule, "qos."), "%s: %s", name, f.Rule)
				assert.Equal(t, analysis.SeverityNotice, f.Severity, "%s: %s", name, f.Rule)
			}
		}
	}
}

// TestFindingsCarryEvidence: what a finding claims can be looked up.
func TestFindingsCarryEvidence(t *testing.T) {
	for _, path := range captures(t, "*.pcap*") {
		s := reported(t, path, analysis.Options{})
		ids := map[string]int{}
		for i, f := range s.Findings {
			ids[f.ID] = i
			assert.LessOrEqual(t, len(f.Packets), 20, "%s %s", path, f.ID)
			for _, n := range f.Packets {
				assert.True(t, n >= 1 && n <= s.Capture.Packets, "%s %s: packet %d", path, f.ID, n)
				assert.True(t, f.FirstPacket != nil && n >= *f.FirstPacket && n <= *f.LastPacket, "%s %s: packet %d", path, f.ID, n)
			}
			assert.LessOrEqual(t, f.FirstTime, f.LastTime, "%s %s", path, f.ID)
			assert.NotEmpty(t, f.Title)
			assert.NotEmpty(t, f.Advice, f.Rule)
			proved := len(f.Metrics) > 0 || len(f.Packets) > 0 || f.Rule == "capture.no_rdma" // its evidence is capture.contents
			assert.True(t, proved, "%s %s: no number, no packet", path, f.Rule)
			if i > 0 {
				assert.GreaterOrEqual(t, s.Findings[i-1].Severity.Rank(), f.Severity.Rank(), "%s: worst first", path)
			}
		}
		for _, f := range s.Findings {
			if f.CausedBy != "" {
				assert.Contains(t, ids, string(f.CausedBy), path)
				assert.NotEqual(t, f.ID, string(f.CausedBy), path)
			}
		}
		if len(s.Findings) > 0 {
			assert.Equal(t, s.Findings[0].ID, string(s.Verdict.FindingID), path)
			assert.Equal(t, s.Findings[0].Severity, s.Verdict.Severity, path)
		} else {
			assert.Equal(t, analysis.SeverityOK, s.Verdict.Severity, path)
		}
	}
}
