package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tmux is a terminal of its own with the program in it.
type tmux struct {
	t      *testing.T
	socket string
}

// startTmux runs the built program in a private tmux server.
func startTmux(t *testing.T, width, height int, args ...string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	binary := filepath.Join(t.TempDir(), "rdmascope")
	out, err := exec.Command("go", "build", "-o", binary, ".").CombinedOutput()
	require.NoError(t, err, string(out))
	m := &tmux{t, fmt.Sprintf("rdmascope-test-%d", os.Getpid())}
	command := "TERM=xterm-256color LANG=C.UTF-8 exec " + binary + " " + strings.Join(args, " ")
	m.run("-f", "/dev/null", "new-session", "-d", "-s", "t", "-x", fmt.Sprint(width), "-y", fmt.Sprint(height), command)
	t.Cleanup(func() { _ = exec.Command("tmux", "-L", m.socket, "kill-server").Run() })
	return m
}

func (m *tmux) run(args ...string) string {
	m.t.Helper()
	out, err := exec.Command("tmux", append([]string{"-L", m.socket, "-u"}, args...)...).CombinedOutput()
	require.NoError(m.t, err, string(out))
	return string(out)
}

func (m *tmux) keys(keys ...string) {
	m.t.Helper()
	m.run(append([]string{"send-keys", "-t", "t"}, keys...)...)
}

// wait returns the screen once it shows all of the texts.
func (m *tmux) wait(texts ...string) string {
	m.t.Helper()
	var screen string
	for range 300 {
		screen = m.run("capture-pane", "-t", "t", "-p")
		missing := ""
		for _, text := range texts {
			if !strings.Contains(screen, text) {
				missing = text
			}
		}
		if missing == "" {
			return screen
		}
		time.Sleep(100 * time.Millisecond)
	}
	require.Failf(m.t, "the screen never showed it", "%q\n%s", texts, screen)
	return ""
}

// TestBrowseInTmux goes from the start to the decode of a NAK in under ten
// keys: overview, worst connection, its plot, its packets, the NAK.
func TestBrowseInTmux(t *testing.T) {
	capture, err := filepath.Abs(filepath.Join("..", "..", "pcaps", "testdata", "rxe_exact_write_every50.pcap.gz"))
	require.NoError(t, err)
	m := startTmux(t, 120, 40, "tui", capture)
	m.wait("Overview", "rc.loss", "Worst connections", "all read")
	m.keys("2") // flows, the worst first
	m.wait("Overview › Flows", "10.77.0.1→10.77.0.2")
	m.keys("Enter") // the connection
	m.wait("PSN over time", "✖", "Latency", "Numbers")
	m.keys("p") // its packets
	m.wait("Packets of", "RC RDMA Write First")
	m.keys(".") // the next NAK
	m.wait("NAK PSN sequence error", "infiniband.aeth.syndrome")
	m.keys("Escape")
	m.wait("PSN over time")
	m.keys("?")
	m.wait("Help")
	m.keys("Escape") // by itself: with a key behind it, it would be Alt
	m.wait("PSN over time")
	m.keys("q")
	for range 100 {
		if exec.Command("tmux", "-L", m.socket, "has-session").Run() != nil {
			return // the program ended, and tmux with it
		}
		time.Sleep(100 * time.Millisecond)
	}
	require.Fail(t, "q did not quit")
}

// TestSmallScreenInTmux: at 80×24 the same way works.
func TestSmallScreenInTmux(t *testing.T) {
	capture, err := filepath.Abs(filepath.Join("..", "..", "pcaps", "testdata", "pfc_storm.pcap.gz"))
	require.NoError(t, err)
	m := startTmux(t, 80, 24, "tui", "--link-speed", "25G", capture)
	m.wait("pfc.storm", "all read")
	m.keys("3")
	m.wait("Overview › PFC", "prio 3")
	m.keys("q")
}
