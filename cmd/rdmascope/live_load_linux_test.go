package main

import (
	"bytes"
	"encoding/binary"
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
		dump = exec.Command(tcpdump, "-i", to, "-n", "-B", "262144", "-w", os.DevNull)
		dump.Stderr = &said
		require.NoError(b, dump.Start())
		require.Eventually(b, func() bool { return bytes.Contains([]byte(said.String()), []byte("listening on")) }, 20*time.Second, 10*time.Millisecond, "")
	}
	begin := residentKB(ours.cmd.Process.Pid)
	step := psnStep(frames)
	sent, end := 0, time.Now().Add(d)
	for time.Now().Before(end) {
		for range 100 {
			require.NoError(b, sender.TrySend(frames[sent%len(frames)]))
			if sent++; sent%len(frames) == 0 {
				goOn(frames, step)
			}
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

// Offsets in the frames of a bench capture: untagged IPv4 without options.
const (
	loadBTH = 14 + 20 + 8
	loadPSN = loadBTH + 8 // with the octet of the ACK request before it
	loadMSN = loadBTH + 12
)

// psnStep is by how much the PSNs of all flows have to go up, so that frames
// that are sent once more go on after their first time instead of going back,
// which would put every connection into recovery. It is a multiple of 3, the
// packets of a message. What is skipped thereby is a gap for each connection.
func psnStep(frames [][]byte) uint32 {
	first := map[string]uint32{}
	var span uint32
	for _, f := range frames {
		flow := string(f[30:34]) + string(f[loadBTH+5:loadBTH+8])
		psn := binary.BigEndian.Uint32(f[loadPSN:]) & 0xffffff
		if _, ok := first[flow]; !ok {
			first[flow] = psn
		}
		if d := (psn - first[flow]) & 0xffffff; d < 1<<23 {
			span = max(span, d+1)
		}
	}
	return (span + 3) / 3 * 3
}

// goOn moves the frames on by step PSNs.
func goOn(frames [][]byte, step uint32) {
	add := func(b []byte, n uint32) {
		w := binary.BigEndian.Uint32(b)
		binary.BigEndian.PutUint32(b, w&0xff000000|(w+n)&0xffffff)
	}
	for _, f := range frames {
		add(f[loadPSN:], step)
		if f[loadBTH] == 0x11 { // RC ACK
			add(f[loadMSN:], step/3)
		}
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
