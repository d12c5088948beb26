package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps"
	"rdmascope/pcaps/live/vethtest"
)

// sending sends the frames of a recording over and over until stop is called.
func sending(t *testing.T, name string, frames [][]byte) (stop func() (sent int)) {
	sender := vethtest.NewSender(t, name)
	quit, sent := make(chan struct{}), 0
	var wg sync.WaitGroup
	wg.Go(func() {
		for ; ; sent++ {
			select {
			case <-quit:
				return
			default:
				_ = sender.TrySend(frames[sent%len(frames)]) // the interface may be down
				if sent%100 == 99 {
					time.Sleep(time.Millisecond)
				}
			}
		}
	})
	return func() int {
		close(quit)
		wg.Wait()
		return sent
	}
}

// readable reads a capture that may be cut short: all that is there before the
// cut. It returns the times of its packets.
func readable(t *testing.T, path string) (times []int64, whole bool) {
	t.Helper()
	files, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err, path)
	defer files.Close()
	for {
		_, recs, err := files.ReadBlock(nil, nil)
		if err != nil {
			return times, files.Inputs()[0].Complete
		}
		for _, r := range recs {
			times = append(times, r.Time)
		}
	}
}

// TestLiveRingKilled: kill -9 in the middle of writing a ring of files. Each
// file can be read, none of the older ones is cut, and no packet between them
// is missing.
func TestLiveRingKilled(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_exact_single_loss.pcap.gz"))
	dir := t.TempDir()
	p := start(t, "live", "-i", to, "-w", filepath.Join(dir, "ring.pcapng"), "-b", "filesize:100", "-b", "files:4", "-f", "all")
	p.waitFor(t, "capturing on "+to)
	stop := sending(t, from, rec.frames)
	list := func() []string {
		files, err := filepath.Glob(filepath.Join(dir, "ring_*"))
		require.NoError(t, err)
		return files
	}
	ninth := filepath.Join(dir, "ring_00009_")
	require.Eventually(t, func() bool { f := list(); return len(f) > 0 && f[len(f)-1] > ninth }, 60*time.Second, 5*time.Millisecond)
	p.end(t, syscall.SIGKILL)
	stop()
	files := list()
	require.GreaterOrEqual(t, len(files), 4, "all that are to be kept")
	require.LessOrEqual(t, len(files), 5, "one of them may have been about to go")
	last := int64(0)
	for i, f := range files {
		times, whole := readable(t, f)
		if i < len(files)-1 {
			assert.True(t, whole, f)
			st, err := os.Stat(f)
			require.NoError(t, err)
			assert.InDelta(t, 100_000, st.Size(), 6000, "a file ends with the packet that makes it big enough")
			assert.NotEmpty(t, times)
		}
		for _, at := range times {
			assert.GreaterOrEqual(t, at, last)
			last = at
		}
	}
	packets := int64(0)
	for _, f := range files[:len(files)-1] {
		packets += packetsIn(t, f)
	}
	assert.Greater(t, packets, int64(100))
}

// TestLiveDownUp: an interface that goes down and comes back is told in one
// line each; what comes then is analysed.
func TestLiveDownUp(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_exact_single_loss.pcap.gz"))
	p := start(t, "live", "-i", to, "-f", "all", "-o", "json", "-w", filepath.Join(t.TempDir(), "x.pcapng"))
	p.waitFor(t, "capturing on "+to)
	sendAll(t, from, rec)
	vethtest.IP(t, "link", "set", to, "down")
	p.waitFor(t, to+": the interface went down; waiting for it\n")
	vethtest.IP(t, "link", "set", to, "up")
	p.waitFor(t, to+": the interface is up again\n")
	vethtest.WaitUp(t, from)
	sendAll(t, from, rec)
	time.Sleep(200 * time.Millisecond)
	require.Equal(t, exitOK, p.end(t, os.Interrupt), p.err.String())
	var s analysis.Snapshot
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &s))
	assert.EqualValues(t, 2*len(rec.frames), s.Capture.Packets)
	assert.Equal(t, 1, strings.Count(p.err.String(), "went down"))
	assert.Equal(t, 1, strings.Count(p.err.String(), "up again"))
	require.NotEmpty(t, s.Windows)
	assert.EqualValues(t, 2*len(rec.frames), s.Windows[len(s.Windows)-1].Packets)
}

// TestLiveNamespaceGone: a container whose interfaces are captured from outside
// is deleted, and with it the other end of the cable. One capture ends with one
// line and its report; a second one, which has another interface too, goes on.
func TestLiveNamespaceGone(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	if out, err := exec.Command("unshare", "--version").CombinedOutput(); err != nil {
		t.Skipf("no unshare to make a container with: %v %s", err, out)
	}
	container := exec.Command("unshare", "--net", "sleep", "600")
	require.NoError(t, container.Start())
	t.Cleanup(func() { _ = container.Process.Kill() })
	own, err := os.Readlink("/proc/self/ns/net")
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		its, err := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", container.Process.Pid))
		return err == nil && its != own
	}, 10*time.Second, 5*time.Millisecond)
	vethtest.IP(t, "link", "add", "outside", "type", "veth", "peer", "name", "inside", "netns", fmt.Sprint(container.Process.Pid))
	vethtest.IP(t, "link", "set", "outside", "up")
	rec := load(t, testdata("rxe_exact_single_loss.pcap.gz"))
	alone := start(t, "live", "-i", "outside", "-f", "all", "--strict")
	both := start(t, "live", "-i", "outside", "-i", to, "-f", "all", "-o", "json")
	alone.waitFor(t, "capturing on ")
	both.waitFor(t, "capturing on ")
	require.NoError(t, container.Process.Kill())
	_ = container.Wait()
	assert.Equal(t, exitIncomplete, alone.wait(t), alone.err.String())
	assert.Equal(t, 1, strings.Count(alone.err.String(), "outside: the interface is gone; all before it analysed\n"), alone.err.String())
	both.waitFor(t, "outside: the interface is gone\n")
	sendAll(t, from, rec)
	time.Sleep(200 * time.Millisecond)
	require.Equal(t, exitOK, both.end(t, os.Interrupt), both.err.String())
	var s analysis.Snapshot
	require.NoError(t, json.Unmarshal([]byte(both.out.String()), &s))
	assert.EqualValues(t, len(rec.frames), s.Capture.Packets)
	assert.False(t, s.Inputs[0].Complete)
	assert.True(t, s.Inputs[1].Complete)
}

// TestLiveLimits: -a and -c end a capture after what they say, -b goes on to
// another file after it.
func TestLiveLimits(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_exact_single_loss.pcap.gz"))
	stop := sending(t, from, rec.frames)
	defer func() { assert.Positive(t, stop()) }()
	run := func(args ...string) (analysis.Snapshot, time.Duration) {
		began := time.Now()
		p := start(t, append([]string{"live", "-i", to, "-f", "all", "-o", "json"}, args...)...)
		require.Equal(t, exitOK, p.wait(t), p.err.String())
		var s analysis.Snapshot
		require.NoError(t, json.Unmarshal([]byte(p.out.String()), &s))
		return s, time.Since(began)
	}
	for _, args := range []string{"-c 500", "-a packets:500", "-c 500 -a duration:600"} {
		s, _ := run(strings.Fields(args)...)
		assert.EqualValues(t, 500, s.Capture.Packets, args)
	}
	s, took := run("-a", "duration:1.5")
	assert.GreaterOrEqual(t, took, 1500*time.Millisecond)
	assert.InDelta(t, 1.5e9, *s.Capture.DurationNS, 0.4e9)

	dir := t.TempDir()
	s, _ = run("-a", "duration:3.5", "-w", filepath.Join(dir, "x.pcapng"), "-b", "duration:1")
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 4, "three of a second, and the rest")
	assert.Equal(t, s.Capture.Packets, packetsIn(t, files...), "none lost between two files")
	for _, f := range files[:3] {
		times, _ := readable(t, f)
		assert.InDelta(t, 1e9, times[len(times)-1]-times[0], 0.3e9)
	}
	assert.Regexp(t, regexp.MustCompile(`x_00001_\d{14}\.pcapng$`), files[0])
}

// TestLiveOverloadConfidence: what really was lost in the network is found all
// the same when the capture itself loses packets, but nothing is sure any more.
func TestLiveOverloadConfidence(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_write_loss1_before_cap.pcap.gz"))
	filler := make([]byte, 60_000)
	copy(filler, rec.frames[0][:12])
	filler[12], filler[13] = 0x08, 0x00
	p := start(t, "live", "-i", to, "-f", "all", "-o", "json", "-B", "2", "--strict")
	p.waitFor(t, "capturing on "+to)
	sender := vethtest.NewSender(t, from)
	stopped := p.cmd.Process.Signal(syscall.SIGSTOP) // as busy as can be
	require.NoError(t, stopped)
	for range 200 {
		sender.Send(t, filler)
	}
	require.NoError(t, p.cmd.Process.Signal(syscall.SIGCONT))
	time.Sleep(300 * time.Millisecond)
	for i, f := range rec.frames {
		sender.Send(t, f)
		if i%50 == 49 {
			time.Sleep(2 * time.Millisecond)
		}
	}
	time.Sleep(300 * time.Millisecond)
	require.Equal(t, exitIncomplete, p.end(t, os.Interrupt), p.err.String())
	counts := regexp.MustCompile(`(\d+) packets received, (\d+) dropped by the kernel`).FindStringSubmatch(p.err.String())
	require.NotNil(t, counts, p.err.String())
	var s analysis.Snapshot
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &s))
	require.NotNil(t, s.Capture.KernelDroppedPackets)
	assert.Equal(t, counts[2], fmt.Sprint(*s.Capture.KernelDroppedPackets))
	assert.EqualValues(t, 200+len(rec.frames), s.Capture.Packets+*s.Capture.KernelDroppedPackets)
	assert.Positive(t, *s.Capture.KernelDroppedPackets)
	assert.Equal(t, analysis.GradePoor, s.Capture.Grade)
	found := 0
	for _, f := range s.Findings {
		if f.Rule == "rc.loss" || f.Rule == "rc.go_back_n" {
			found++
			assert.NotEqual(t, "high", f.Confidence, f.Rule)
		}
	}
	assert.Equal(t, 2, found, "the loss is in the packets that were captured")
}
