package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmascope/pcaps/live/vethtest"
	"rdmascope/pcaps/synth"
)

// BenchmarkLiveLoad sends RoCE as fast as the machine can through a virtual
// cable, captured by the live analysis and by tcpdump -w in the same run, and
// reports what each took, dropped and cost. How long is set by
// RDMASCOPE_LOAD_SECONDS; with RDMASCOPE_LOAD_WRITE ours writes too. The sender takes a core or more of its own, so on a
// small machine all three fight for the same ones.
func BenchmarkLiveLoad(b *testing.B) {
	if os.Getenv("RDMASCOPE_LOAD_SECONDS") == "" {
		b.Skip("RDMASCOPE_LOAD_SECONDS is not set")
	}
	if !vethtest.InNamespace(b) {
		return
	}
	seconds, err := strconv.Atoi(os.Getenv("RDMASCOPE_LOAD_SECONDS"))
	require.NoError(b, err)
	for _, payload := range []int{64, 1024} {
		b.Run(fmt.Sprintf("payload=%d", payload), func(b *testing.B) { loadRun(b, payload, time.Duration(seconds)*time.Second) })
	}
}

func loadRun(b *testing.B, payload int, d time.Duration) {
	path := filepath.Join(b.TempDir(), "load.pcap")
	f, err := os.Create(path)
	require.NoError(b, err)
	require.NoError(b, synth.WriteBench(f, synth.BenchSpec{Packets: 100_000, Payload: payload, SnapLen: -1}))
	require.NoError(b, f.Close())
	frames := load(b, path).frames
	from, to := vethtest.Pair(b, payload)
	sender := vethtest.NewSender(b, from)

	args := []string{"-test.run=^TestLiveProcess$", "--", "live", "-i", to, "--no-icrc", "-O", filepath.Join(b.TempDir(), "report")}
	if os.Getenv("RDMASCOPE_LOAD_WRITE") != "" {
		args = append(args, "-w", os.DevNull)
	}
	ours := &process{cmd: exec.Command(os.Args[0], args...)}
	ours.cmd.Env = append(os.Environ(), "RDMASCOPE_TEST_PROCESS=1")
	ours.cmd.Stdout, ours.cmd.Stderr = &ours.out, &ours.err
	require.NoError(b, ours.cmd.Start())
	require.Eventually(b, func() bool { return bytes.Contains([]byte(ours.err.String()), []byte("capturing on")) }, 20*time.Second, 10*time.Millisecond, "")
	var dump *exec.Cmd
	var said lockedBuffer
	if tcpdump, err := exec.LookPath("tcpdump"); err == nil {
		dump = exec.Command(tcpdump, "-i", to, "-n", "-B", "65536", "-w", os.DevNull)
		dump.Stderr = &said
		require.NoError(b, dump.Start())
		require.Eventually(b, func() bool { return bytes.Contains([]byte(said.String()), []byte("listening on")) }, 20*time.Second, 10*time.Millisecond, "")
	}
	begin := residentKB(ours.cmd.Process.Pid)
	sent, end := 0, time.Now().Add(d)
	for time.Now().Before(end) {
		for range 100 {
			require.NoError(b, sender.TrySend(frames[sent%len(frames)]))
			sent++
		}
	}
	time.Sleep(200 * time.Millisecond)
	last := residentKB(ours.cmd.Process.Pid)
	require.NoError(b, ours.cmd.Process.Signal(os.Interrupt))
	_ = ours.cmd.Wait()
	b.Logf("%d octets of payload, %v: %d packets sent, %.0f a second", payload, d, sent, float64(sent)/d.Seconds())
	b.Logf("  ours: %s; CPU %v; resident %d MB after the start, %d MB at the end",
		regexp.MustCompile(`\d+ packets received, \d+ dropped by the kernel`).FindString(ours.err.String()), cpu(ours.cmd), begin>>10, last>>10)
	if dump != nil {
		require.NoError(b, dump.Process.Signal(syscall.SIGINT))
		_ = dump.Wait()
		b.Logf("  tcpdump -w: %q; CPU %v", regexp.MustCompile(`\d+ packets (captured|received by filter|dropped by kernel)`).FindAllString(said.String(), -1), cpu(dump))
	}
}

func cpu(c *exec.Cmd) time.Duration {
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Round(10 * time.Millisecond)
}

// residentKB is the memory that a process has in use.
func residentKB(pid int) int {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0
	}
	m := regexp.MustCompile(`VmRSS:\s+(\d+)`).FindSubmatch(text)
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(string(m[1]))
	return n
}
