package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/figure"
	"rdmascope/pcaps/live/vethtest"
)

// TestLiveInTmux watches a capture: packets that come are found, looked at,
// frozen and saved, while it goes on.
func TestLiveInTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	want := load(t, testdata("rxe_exact_write_every50.pcap.gz"))
	require.NotNil(t, want)
	send := vethtest.NewSender(t, from)
	written := filepath.Join(t.TempDir(), "all.pcapng")
	m := startTmux(t, 120, 40, "tui", "-i", to, "-f", "all", "-w", written)
	m.wait("-i "+to, "LIVE 00:00:0", "✔ no drops", "waiting for packets", to+": none of 0 packets")

	half := len(want.frames) / 2
	for _, f := range want.frames[:half] {
		send.Send(t, f)
	}
	m.wait("rc.loss", "Worst connections", "10.77.0.1→10.77.0.2", "✔ drops")
	m.keys("4")
	m.wait(fmt.Sprintf("▸       %d", half), fmt.Sprintf("%d packets so far", half))
	m.keys("Space")
	m.wait("PAUSED +")
	for _, f := range want.frames[half:] {
		send.Send(t, f)
	}
	// What was frozen may have been some packets behind the newest.
	paused := regexp.MustCompile(`PAUSED \+([\d,]+)`)
	var screen string
	require.Eventually(t, func() bool {
		screen = m.run("capture-pane", "-t", "t", "-p")
		more := paused.FindStringSubmatch(screen)
		n, err := strconv.Atoi(strings.ReplaceAll(more[1], ",", ""))
		return err == nil && n >= len(want.frames)-half
	}, 30*time.Second, 100*time.Millisecond)
	assert.Contains(t, screen, fmt.Sprintf("▸       %d", half), "frozen")
	m.keys("Space")
	m.wait("▸     1,902", "1,902 packets so far")

	m.keys("2", "Enter")
	m.wait("PSN over time", "│✖", "resent 611  NAK 32")
	saved := filepath.Join(t.TempDir(), "saved.pcapng")
	m.keys("p")
	m.wait("Packets of", "1,898 of 1,902 packets so far")
	m.keys("w", "1", "C-u")
	m.text(saved)
	m.keys("Enter")
	m.wait("1,898 packets written to")
	m.quit()

	require.Len(t, everyPacket(t, saved), 1898)
	all := everyPacket(t, written)
	require.Len(t, all, len(want.frames))
	for i, f := range want.frames {
		assert.True(t, strings.HasSuffix(all[i], fmt.Sprintf(" %x", f)), "packet %d", i+1)
	}
}

// TestLiveDropsInTmux: with a ring too small for what comes, the header tells
// the kernel's drops, the same as at the end.
func TestLiveDropsInTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	send := vethtest.NewSender(t, from)
	out := filepath.Join(t.TempDir(), "err")
	m := startTmux(t, 80, 24, "tui", "-i", to, "-B", "2", "-f", "all", "2>"+out)
	m.wait("LIVE", "✔ no drops")
	frame := make([]byte, 9000)
	copy(frame[12:], []byte{0x88, 0xb5}) // an EtherType for experiments
	stop := time.Now().Add(20 * time.Second)
	for time.Now().Before(stop) {
		for range 2000 {
			send.Send(t, frame)
		}
		if strings.Contains(m.run("capture-pane", "-t", "t", "-p"), "✖ DROPS kernel") {
			break
		}
	}
	time.Sleep(2 * time.Second) // for what is still in the ring
	screen := m.wait("✖ DROPS kernel", "✖ drops        "+to+": kernel")
	m.quit()
	said, err := os.ReadFile(out)
	require.NoError(t, err)
	dropped := regexp.MustCompile(`(\d+) dropped by the kernel`).FindSubmatch(said)
	require.NotNil(t, dropped, string(said))
	n, err := strconv.ParseInt(string(dropped[1]), 10, 64)
	require.NoError(t, err)
	assert.Contains(t, screen, "✖ DROPS kernel "+figure.Count(n)+" ")
}
