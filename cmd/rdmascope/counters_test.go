package main

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const lossBefore = "rxe_write_loss1_before_cap"

// counted runs `counters` with args on the capture with loss before the tap.
func counted(args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(append([]string{"counters", testdata(lossBefore + ".pcap.gz")}, args...), strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

// snapshots names the counters of one host before and after that capture.
func snapshots(host, layout string) string {
	dir := filepath.Join("..", "..", "analysis", "testdata", "counters")
	name := func(when string) string { return filepath.Join(dir, lossBefore+"."+host+"."+when+"."+layout+".txt") }
	return name("before") + "," + name("after")
}

// TestCountersLayout: what scripts that read ethtool -S expect, host by host.
func TestCountersLayout(t *testing.T) {
	code, out, errs := counted()
	require.Equal(t, exitOK, code, errs)
	blocks := strings.Split(out, "\n\n")
	require.Len(t, blocks, 3)
	line := regexp.MustCompile(`^     [a-z0-9_]+: [0-9]+$`)
	for i, host := range []string{"# 10.77.0.1 52:54:00:77:00:01", "# 10.77.0.2 52:54:00:77:00:02"} {
		lines := strings.Split(strings.TrimSpace(blocks[i]), "\n")
		assert.Equal(t, []string{host, "NIC statistics:"}, lines[:2])
		for _, l := range lines[2:] {
			assert.True(t, line.MatchString(l) || strings.HasPrefix(l, "# "), l)
		}
	}
	assert.Contains(t, blocks[0], "\n     packet_seq_err: 12\n")
	assert.Contains(t, blocks[1], "\n     rx_write_requests: 400\n")
	assert.Contains(t, blocks[1], "\n# at least: out_of_sequence")
	for _, l := range strings.Split(strings.TrimSpace(blocks[2]), "\n") {
		assert.Regexp(t, `^# not told by a capture: [a-z0-9_<>]+: .{20,}$`, l, "each with a reason")
	}
	assert.Contains(t, blocks[2], "roce_slow_restart: ")
}

// TestCountersLike: the same figures under other drivers' names.
func TestCountersLike(t *testing.T) {
	for like, want := range map[string][]string{
		"mlx5": {"packet_seq_err: 12", "local_ack_timeout_err: 2"},
		"rxe":  {"rcvd_seq_err: 12", "sent_pkts: 1924", "completer_retry_err: 13"},
		"bnxt": {"seq_err_naks_rcvd: 12", "to_retransmits: 2", "tx_roce_only_pkts: 1924"},
	} {
		code, out, errs := counted("--like", like, "--host", "10.77.0.1")
		require.Equal(t, exitOK, code, errs)
		for _, w := range want {
			assert.Contains(t, out, "     "+w+"\n", like)
		}
		assert.NotContains(t, out, "10.77.0.2", "the other host")
	}
}

// TestCountersAgainst: every line of a real NIC's counters is equal, explained,
// or said to be invisible.
func TestCountersAgainst(t *testing.T) {
	for _, layout := range []string{"rdma_statistic", "hw_counters"} {
		code, out, errs := counted("--against", snapshots("a", layout), "--host", "10.77.0.1")
		require.Equal(t, exitOK, code, errs)
		assert.Regexp(t, `(?m)^ ≠ sent_pkts +1,940 +1,924$`, out)
		assert.Regexp(t, `at least 15 of its packets are proved\s+lost`, out)
		assert.Regexp(t, `(?m)^ ✔ completer_retry_err +13 +13$`, out)
		assert.Regexp(t, `(?m)^ – ack_deferred +420 +–$`, out)
		assert.NotContains(t, out, "▲", "nothing is unexplained")
		assert.NotContains(t, out, "\x1b", "no colours in a pipe")
	}
	// The other host's counters against this one's wire explain nothing.
	_, out, _ := counted("--against", snapshots("b", "hw_counters"), "--host", "10.77.0.1")
	assert.Contains(t, out, "▲")
}

func TestCountersUsage(t *testing.T) {
	for _, c := range []struct {
		args  []string
		code  int
		error string
	}{
		{[]string{"--like", "cxgb4"}, exitUsage, "--like cxgb4: mlx5, rxe or bnxt"},
		{[]string{"--color", "pink"}, exitUsage, "--color pink"},
		{[]string{"--against", "one.txt"}, exitUsage, "BEFORE,AFTER"},
		{[]string{"--against", "no.txt,such.txt"}, exitUsage, "no.txt"},
		{[]string{"--against", snapshots("a", "hw_counters")}, exitUsage, "--host is one of 10.77.0.1, 10.77.0.2"},
		{[]string{"--host", "10.0.0.9"}, exitUsage, "not in the capture, which has 10.77.0.1, 10.77.0.2"},
		{[]string{"--link-speed", "fast"}, exitUsage, "--link-speed fast"},
	} {
		code, out, errs := counted(c.args...)
		assert.Equal(t, c.code, code, c.args)
		assert.Contains(t, errs, c.error)
		assert.Empty(t, out, c.args)
		assert.Equal(t, 1, strings.Count(errs, "\n"), "one line: %q", errs)
	}
	var out, errs bytes.Buffer
	arp := write(t, "arp.pcap", withoutRDMA())
	assert.Equal(t, exitUnreadable, run([]string{"counters", arp}, strings.NewReader(""), &out, &errs))
	assert.Contains(t, errs.String(), "no RDMA in the capture")
}
