package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// tmux is a terminal of its own with the program in it.
type tmux struct {
	t      *testing.T
	socket string
}

// servers numbers the tmux servers of this process.
var servers atomic.Int64

// built is the program, made once for all tests.
var built = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "rdmascope-test-")
	if err != nil {
		return "", err
	}
	binary := filepath.Join(dir, "rdmascope")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0") // as it is shipped
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return binary, nil
})

func program(t *testing.T) string {
	t.Helper()
	binary, err := built()
	require.NoError(t, err)
	return binary
}

// startTmux runs the built program in a private tmux server.
func startTmux(t *testing.T, width, height int, args ...string) *tmux {
	t.Helper()
	return startInTmux(t, width, height, "", args...)
}

// startInTmux is startTmux with the beginning of a command line before the
// program's name.
func startInTmux(t *testing.T, width, height int, before string, args ...string) *tmux {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	m := &tmux{t, fmt.Sprintf("rdmascope-test-%d-%d", os.Getpid(), servers.Add(1))}
	command := before + "XDG_CONFIG_HOME=" + t.TempDir() + " TERM=xterm-256color LANG=C.UTF-8 exec " + program(t) + " " + strings.Join(args, " ")
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
	m.quit()
}

// quit leaves the browser, which ends tmux.
func (m *tmux) quit() {
	m.t.Helper()
	m.keys("q")
	require.Eventually(m.t, func() bool { return exec.Command("tmux", "-L", m.socket, "has-session").Run() != nil },
		10*time.Second, 50*time.Millisecond, "q did not quit")
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

// TestSaveInTmux: what a filter selects is saved, and tshark reads from the file
// what it selects itself.
func TestSaveInTmux(t *testing.T) {
	capture, err := filepath.Abs(testdata("rxe_exact_write_every50.pcap.gz"))
	require.NoError(t, err)
	saved := filepath.Join(t.TempDir(), "saved.pcapng")
	m := startTmux(t, 120, 40, "tui", "--view", "packets", capture)
	m.wait("1,902 packets")
	m.keys("f")
	m.text("infiniband.aeth.syndrome.opcode == 3")
	m.keys("Enter")
	m.wait("display: infiniband", "32 of 1,902 packets")
	m.keys("w", "1", "C-u")
	m.wait("save the packets listed (32 packets) to:")
	m.text(saved)
	m.keys("Enter")
	m.wait("32 packets written to")
	m.keys("w", "1", "C-u")
	m.text(saved)
	m.keys("Enter")
	m.wait("exists already: not overwritten")
	m.quit()

	require.Len(t, everyPacket(t, saved), 32)
	if _, err := exec.LookPath("tshark"); err != nil {
		return
	}
	numbers := func(path string, field string, more ...string) string {
		out, err := exec.Command("tshark", append([]string{"-r", path, "-T", "fields", "-e", field}, more...)...).Output()
		require.NoError(t, err)
		return string(out)
	}
	want := numbers(capture, "frame.number", "-Y", "infiniband.aeth.syndrome.opcode == 3")
	require.Equal(t, want, strings.ReplaceAll(numbers(saved, "frame.comment"), "packet ", ""))
}

// text types literally.
func (m *tmux) text(s string) { m.t.Helper(); m.run("send-keys", "-l", "-t", "t", "--", s) }

// TestPipeInTmux: standard input is a capture that still comes, keys come from
// the terminal, and the packets can be looked at and plotted all the same.
func TestPipeInTmux(t *testing.T) {
	capture, err := filepath.Abs(testdata("rxe_exact_write_every50.pcap.gz"))
	require.NoError(t, err)
	read := filepath.Join(t.TempDir(), "read")
	m := startInTmux(t, 120, 40, "(zcat "+capture+"; until [ -e "+read+" ]; do sleep 0.1; done) | ", "tui", "-")
	m.wait("rc.loss", "Worst connections", "reading  1902 packets")
	m.keys("4")
	m.wait("1,902 packets so far", "UD Send Only")
	m.keys("2")
	m.wait("10.77.0.1→10.77.0.2")
	m.keys("Enter")
	m.wait("PSN over time", "✖▪")
	require.NoError(t, os.WriteFile(read, nil, 0o600))
	m.wait("all read")
	m.quit()
}

// TestMarksInTmux: packets sent again are marked, found by t and by a filter, as
// many as the report counts.
func TestMarksInTmux(t *testing.T) {
	capture, err := filepath.Abs(testdata("rxe_exact_write_every50.pcap.gz"))
	require.NoError(t, err)
	m := startTmux(t, 120, 40, "tui", "--view", "packets", capture)
	m.wait("1,902 packets", "all read")
	m.keys("t")
	m.wait("Decode of packet 93", "↻ resent  RC RDMA Write Middle")
	m.keys("f")
	m.text("rdma.analysis.retransmission")
	m.keys("Enter")
	m.wait("611 of 1,902 packets")
	m.keys("f", "C-u")
	m.text("finding.rule == \"rc.loss\"")
	m.keys("Enter")
	m.wait("20 of 1,902 packets")
	m.quit()
}
