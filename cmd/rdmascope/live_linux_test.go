package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
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
	"rdmascope/analysis/report"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
	"rdmascope/pcaps/live"
	"rdmascope/pcaps/live/vethtest"
	"rdmascope/pcaps/synth"
)

// recording is a capture file in memory.
type recording struct {
	recs   []analysis.Record
	frames [][]byte
	faces  []analysis.Interface
	inputs []analysis.InputInfo
}

// load reads a capture file; nil when it can't be sent again as it was: not
// Ethernet, cut by a snapshot length, or longer than an interface takes.
func load(t testing.TB, path string) *recording {
	t.Helper()
	files, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer files.Close()
	r := &recording{}
	for {
		buf, recs, err := files.ReadBlock(nil, nil)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for _, rec := range recs {
			if rec.Link != wire.LinkEthernet || rec.Cap != rec.Wire || rec.Cap > 65535 || rec.Cap < 14 {
				return nil
			}
			r.recs = append(r.recs, rec)
			r.frames = append(r.frames, buf[rec.Off:rec.Off+rec.Cap])
		}
	}
	r.faces, r.inputs = files.Interfaces(), files.Inputs()
	return r
}

// onceMore is a live capture of a recording that was sent again, with the
// recording's own times and descriptions in place of those of the second
// time. All that is left to compare is what it sees: the packets.
type onceMore struct {
	*live.Source
	want *recording
	n    int
}

func (o *onceMore) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	buf, recs, err := o.Source.ReadBlock(buf, recs)
	for i := range recs {
		if o.n < len(o.want.recs) {
			was := &o.want.recs[o.n]
			recs[i].Time, recs[i].Flags, recs[i].Lost, recs[i].Dir = was.Time, was.Flags, was.Lost, was.Dir
		}
		o.n++
	}
	return buf, recs, err
}

func (o *onceMore) Interfaces() []analysis.Interface { return o.want.faces }
func (o *onceMore) Inputs() []analysis.InputInfo     { return o.want.inputs }

func jsonOf(t testing.TB, s *analysis.Snapshot) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.JSON(&out, s, report.Options{Connections: -1}))
	return out.String()
}

// TestLiveEqualsOffline: each real capture, sent through a cable as fast as it
// goes, gives the report that its file gives, times aside.
func TestLiveEqualsOffline(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	paths, err := filepath.Glob(filepath.Join("..", "..", "pcaps", "testdata", "*.pcap*"))
	require.NoError(t, err)
	var from, to []string
	var senders []*vethtest.Sender
	for i := range 2 {
		a, b := vethtest.Pair(t, i)
		from, to = append(from, a), append(to, b)
		senders = append(senders, vethtest.NewSender(t, from[i]))
	}
	compared, tags, pauses := 0, 0, int64(0)
	for _, path := range paths {
		want := load(t, path)
		if want == nil || len(want.faces) > len(to) || len(want.recs) == 0 {
			t.Logf("%s: can't be sent again as it was", filepath.Base(path))
			continue
		}
		files, err := pcaps.Open([]string{path}, pcaps.Options{})
		require.NoError(t, err)
		offline, err := analysis.Analyze(context.Background(), files, analysis.Options{})
		require.NoError(t, err)
		require.NoError(t, files.Close())

		src, err := live.Open(live.Options{Interfaces: to[:len(want.faces)], BufferBytes: 64 << 20, Held: (&analysis.Options{}).Blocks()})
		require.NoError(t, err)
		engine := analysis.New(&onceMore{Source: src, want: want}, analysis.Options{})
		var again *analysis.Snapshot
		var wg sync.WaitGroup
		wg.Go(func() { again, err = engine.Run(context.Background()) })
		for i, f := range want.frames {
			senders[want.recs[i].Iface].Send(t, f)
			if i%100 == 0 {
				engine.RequestSnapshot() // changes nothing
			}
		}
		time.Sleep(50 * time.Millisecond) // the kernel's own way from end to end
		src.Stop()
		wg.Wait()
		require.NoError(t, err)
		var dropped int64
		for _, st := range src.Stats() {
			dropped += st.KernelDropped
		}
		require.Zero(t, dropped, "%s: the machine is too slow for this test", filepath.Base(path))
		require.NoError(t, src.Close())
		require.Equal(t, len(want.recs), int(again.Capture.Packets), filepath.Base(path))
		require.Equal(t, jsonOf(t, offline), jsonOf(t, again), filepath.Base(path))
		compared++
		pauses += again.Protocols.PFC.Packets
		for i := range again.Connections {
			for k := range again.Connections[i].Flows {
				tags += len(again.Connections[i].Flows[k].VLANIDs)
			}
		}
	}
	assert.Greater(t, compared, 40)
	assert.Positive(t, tags, "captures with VLAN tags")
	assert.Positive(t, pauses, "captures with pauses")
}

// slow is a capture whose reader is too slow for its ring.
type slow struct{ *live.Source }

func (s slow) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	time.Sleep(20 * time.Millisecond)
	return s.Source.ReadBlock(buf, recs)
}

// TestLiveOverload: a ring that is too small loses packets here and there. The
// report says so first, with the kernel's number, and calls none of it a loss
// of the network: nothing was sent again in this traffic.
func TestLiveOverload(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	path := filepath.Join(t.TempDir(), "clean.pcap")
	f, err := os.Create(path)
	require.NoError(t, err)
	require.NoError(t, synth.WriteBench(f, synth.BenchSpec{Packets: 40_000, Connections: 20, Hosts: 8, SnapLen: -1}))
	require.NoError(t, f.Close())
	want := load(t, path)
	src, err := live.Open(live.Options{Interfaces: []string{to}, BufferBytes: 2 << 20})
	require.NoError(t, err)
	defer src.Close()
	var snap *analysis.Snapshot
	var wg sync.WaitGroup
	wg.Go(func() { snap, err = analysis.Analyze(context.Background(), slow{src}, analysis.Options{}) })
	sender := vethtest.NewSender(t, from)
	for i, frame := range want.frames {
		sender.Send(t, frame)
		if i%2000 == 0 {
			time.Sleep(30 * time.Millisecond) // the ring is read, some of the time
		}
	}
	time.Sleep(100 * time.Millisecond)
	src.Stop()
	wg.Wait()
	require.NoError(t, err)
	dropped := int64(len(want.frames)) - snap.Capture.Packets
	require.Positive(t, dropped)
	require.Greater(t, snap.Capture.Packets, int64(5000))
	require.NotNil(t, snap.Capture.KernelDroppedPackets)
	assert.Equal(t, dropped, *snap.Capture.KernelDroppedPackets)
	assert.Equal(t, analysis.GradePoor, snap.Capture.Grade)
	assert.Contains(t, strings.ReplaceAll(strings.Join(snap.Capture.GradeReasons, "\n"), ",", ""), fmt.Sprintf("the recorder dropped %d packets", dropped))
	require.NotNil(t, snap.Capture.UnseenPackets)
	assert.Positive(t, *snap.Capture.UnseenPackets)
	require.Len(t, snap.FlowTotals(), 1)
	sums := snap.FlowTotals()[0]
	assert.Zero(t, value(sums.Retransmitted)+value(sums.RepeatResponses), "sent again")
	assert.Zero(t, value(sums.LostUpstream)+value(sums.LostDownstream), "lost")
	require.NotNil(t, sums.Episodes)
	assert.Zero(t, sums.Episodes.Total, "recoveries")
	rules := []string{}
	for _, f := range snap.Findings {
		if !strings.HasPrefix(f.Rule, "capture.") {
			rules = append(rules, f.Rule+": "+f.Title)
		}
	}
	t.Logf("%d of %d dropped; found beside the capture's faults: %q", dropped, len(want.frames), rules)
	for _, r := range rules {
		assert.False(t, strings.HasPrefix(r, "rc."), "invented: %s", r)
	}
}

// TestLiveProcess is no test: it is the program, for tests that need it as a
// process of its own.
func TestLiveProcess(t *testing.T) {
	for i, arg := range os.Args {
		if arg == "--" && os.Getenv("RDMASCOPE_TEST_PROCESS") != "" {
			os.Exit(run(os.Args[i+1:], os.Stdin, os.Stdout, os.Stderr))
		}
	}
}

// process is a run of the program.
type process struct {
	cmd      *exec.Cmd
	out, err lockedBuffer
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

func start(t testing.TB, args ...string) *process {
	t.Helper()
	p := &process{cmd: exec.Command(os.Args[0], append([]string{"-test.run=^TestLiveProcess$", "--"}, args...)...)}
	p.cmd.Env = append(os.Environ(), "RDMASCOPE_TEST_PROCESS=1")
	p.cmd.Stdout, p.cmd.Stderr = &p.out, &p.err
	require.NoError(t, p.cmd.Start())
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// waitFor waits until standard error holds text.
func (p *process) waitFor(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(p.err.String(), text) }, 20*time.Second, 10*time.Millisecond,
		"standard error never says %q", text)
}

// end sends a signal and returns the exit code.
func (p *process) end(t *testing.T, sig os.Signal) int {
	t.Helper()
	require.NoError(t, p.cmd.Process.Signal(sig))
	return p.wait(t)
}

func (p *process) wait(t *testing.T) int {
	t.Helper()
	_ = p.cmd.Wait()
	return p.cmd.ProcessState.ExitCode()
}

func sendAll(t *testing.T, name string, r *recording) {
	t.Helper()
	s := vethtest.NewSender(t, name)
	for _, f := range r.frames {
		s.Send(t, f)
	}
	time.Sleep(100 * time.Millisecond)
}

// packetsIn counts the packets of captures, which must be whole.
func packetsIn(t *testing.T, paths ...string) int64 {
	t.Helper()
	var n int64
	for _, path := range paths {
		files, err := pcaps.Open([]string{path}, pcaps.Options{})
		require.NoError(t, err)
		for err == nil {
			_, _, err = files.ReadBlock(nil, nil)
		}
		require.True(t, files.Inputs()[0].Complete, files.Inputs()[0].Error)
		n += files.Inputs()[0].Packets
		require.NoError(t, files.Close())
	}
	return n
}

// TestLiveCommand: the command from its start to Ctrl-C: report, file, ring.
func TestLiveCommand(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_exact_single_loss.pcap.gz"))
	dir := t.TempDir()
	file := filepath.Join(dir, "one.pcapng")
	p := start(t, "live", "-i", to, "-w", file, "-o", "json", "-f", "all")
	p.waitFor(t, "capturing on "+to)
	sendAll(t, from, rec)
	require.Equal(t, exitOK, p.end(t, os.Interrupt), p.err.String())
	var s analysis.Snapshot
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &s), p.out.String())
	assert.EqualValues(t, len(rec.frames), s.Capture.Packets)
	require.NotNil(t, s.Capture.KernelDroppedPackets)
	assert.Zero(t, *s.Capture.KernelDroppedPackets)
	assert.Equal(t, to, s.Inputs[0].Path)
	assert.Equal(t, "live", string(s.Inputs[0].Format))
	assert.Contains(t, p.err.String(), fmt.Sprintf("%s: %d packets received, 0 dropped by the kernel", to, len(rec.frames)))
	assert.EqualValues(t, len(rec.frames), packetsIn(t, file))
	st, err := os.Stat(file)
	require.NoError(t, err)
	assert.Equal(t, os.FileMode(0o600), st.Mode())

	// What was written is the capture: its report is the live one's.
	again := runArgs("analyze", "-o", "json", file)
	var b analysis.Snapshot
	require.NoError(t, json.Unmarshal([]byte(again.out), &b))
	assert.Equal(t, jsonOf(t, &analysis.Snapshot{Connections: s.Connections, Findings: s.Findings[:0]}), jsonOf(t, &analysis.Snapshot{Connections: b.Connections, Findings: b.Findings[:0]}))
	assert.EqualValues(t, 0, *b.Capture.KernelDroppedPackets, "told by the file's statistics")
}

func TestLiveRing(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_exact_single_loss.pcap.gz"))
	dir := t.TempDir()
	p := start(t, "live", "-i", to, "-w", filepath.Join(dir, "ring.pcapng"), "-b", "packets:50", "-b", "files:3", "-c", "220", "-f", "all", "-o", "ndjson")
	p.waitFor(t, "capturing on "+to)
	sendAll(t, from, rec)
	require.Greater(t, len(rec.frames), 220)
	require.Equal(t, exitOK, p.wait(t), p.err.String())
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 3)
	for i, f := range files {
		assert.Regexp(t, fmt.Sprintf(`^ring_%05d_\d{14}\.pcapng$`, i+3), filepath.Base(f))
	}
	assert.EqualValues(t, 50+50+20, packetsIn(t, files...))
	lines := strings.Split(strings.TrimSpace(p.out.String()), "\n")
	var last analysis.Snapshot
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &last))
	assert.EqualValues(t, 220, last.Capture.Packets)
	for _, line := range lines[:len(lines)-1] {
		var l struct{ Finding analysis.Finding }
		require.NoError(t, json.Unmarshal([]byte(line), &l))
		assert.NotEmpty(t, l.Finding.Rule)
	}
}

// TestLiveDiskFull: one line, all that was written is whole, the analysis
// goes on.
func TestLiveDiskFull(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_write_delay_jitter.pcap.gz"))
	dir := vethtest.SmallDisk(t, 128<<10)
	file := filepath.Join(dir, "x.pcapng")
	p := start(t, "live", "-i", to, "-w", file, "-o", "json", "-f", "all")
	p.waitFor(t, "capturing on "+to)
	sender := vethtest.NewSender(t, from)
	for i, f := range rec.frames {
		sender.Send(t, f)
		if i == 20 {
			time.Sleep(300 * time.Millisecond) // there is a block before
		}
	}
	p.waitFor(t, "no space left on device")
	assert.Equal(t, exitUsage, p.end(t, os.Interrupt))
	assert.Equal(t, 1, strings.Count(p.err.String(), "-w: "), p.err.String())
	assert.Contains(t, p.err.String(), "-w: "+file+": no space left on device: nothing more is written, the analysis goes on")
	var s analysis.Snapshot
	require.NoError(t, json.Unmarshal([]byte(p.out.String()), &s))
	assert.EqualValues(t, len(rec.frames), s.Capture.Packets)
	assert.GreaterOrEqual(t, packetsIn(t, file), int64(21))
}

// TestLiveKilled: what was written before a kill -9 can be read.
func TestLiveKilled(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_exact_single_loss.pcap.gz"))
	file := filepath.Join(t.TempDir(), "x.pcapng")
	p := start(t, "live", "-i", to, "-w", file, "-f", "all")
	p.waitFor(t, "capturing on "+to)
	sendAll(t, from, rec)
	time.Sleep(300 * time.Millisecond)
	p.end(t, syscall.SIGKILL)
	assert.EqualValues(t, len(rec.frames), packetsIn(t, file))
}

// TestLiveGone: an interface that goes away ends the capture with one line,
// the report and, with --strict, a code of its own.
func TestLiveGone(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_exact_single_loss.pcap.gz"))
	p := start(t, "live", "-i", to, "-f", "all", "--strict", "--color", "never")
	p.waitFor(t, "capturing on "+to)
	sendAll(t, from, rec)
	time.Sleep(200 * time.Millisecond)
	vethtest.IP(t, "link", "del", to)
	assert.Equal(t, exitIncomplete, p.wait(t), p.err.String())
	assert.Contains(t, p.err.String(), "rdmascope: warning: "+to+": the interface is gone; all before it analysed\n")
	assert.Contains(t, p.out.String(), fmt.Sprintf("%d packets", len(rec.frames)))
}

// TestLiveTrigger: a finding writes the packets around it.
func TestLiveTrigger(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("rxe_exact_single_loss.pcap.gz"))
	dir := t.TempDir()
	p := start(t, "live", "-i", to, "-f", "all", "--trigger", "warning", "--post", "300ms", "--trigger-dir", dir, "--every", "100ms")
	p.waitFor(t, "capturing on "+to)
	sendAll(t, from, rec)
	p.waitFor(t, "packets written to")
	require.Equal(t, exitOK, p.end(t, os.Interrupt), p.err.String())
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	assert.Regexp(t, `^rdmascope-\d{8}T\d{6}\.\d{3}-[a-z_.]+\.pcapng$`, filepath.Base(files[0]))
	assert.EqualValues(t, len(rec.frames), packetsIn(t, files[0]))
	text, err := os.ReadFile(files[0])
	require.NoError(t, err)
	assert.Regexp(t, regexp.MustCompile(`[a-z_.]+ \((warning|critical)\): `), string(text), "the first packet says why")
}

// TestLiveListen: metrics, report and health while the capture runs.
func TestLiveListen(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	rec := load(t, testdata("pfc_storm.pcap.gz"))
	p := start(t, "live", "-i", to, "-f", "all", "--listen", ":0", "--every", "100ms", "-o", "json")
	p.waitFor(t, "capturing on "+to)
	address := regexp.MustCompile(`http://(127\.0\.0\.1:\d+)/metrics`).FindStringSubmatch(p.err.String())
	require.NotNil(t, address, p.err.String())
	get := func(path string) (int, string) {
		res, err := http.Get("http://" + address[1] + path)
		require.NoError(t, err)
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(b)
	}
	sendAll(t, from, rec)
	want := fmt.Sprintf("rdmascope_capture_received_packets_total{iface=%q} %d\n", to, len(rec.frames))
	require.Eventually(t, func() bool {
		_, m := get("/metrics")
		return strings.Contains(m, want) && strings.Contains(m, `rdmascope_findings{rule="pfc.heavy",severity="warning"} 1`)
	}, 20*time.Second, 50*time.Millisecond)
	_, m := get("/metrics")
	assert.Contains(t, m, fmt.Sprintf("rdmascope_capture_dropped_packets_total{iface=%q,where=\"kernel\"} 0\n", to))
	assert.Regexp(t, fmt.Sprintf(`rdmascope_pfc_paused_seconds_total\{iface=%q,priority="3"\} 0\.\d+`, to), m)
	assert.NotContains(t, m, "192.0.2.")
	code, text := get("/healthz")
	assert.Equal(t, http.StatusOK, code)
	assert.Regexp(t, fmt.Sprintf(`^ok\n%s: up, %d packets received, 0 dropped by the kernel, 0 by the network card\nlast packet [0-9.]+m?s ago\nlast snapshot [0-9.]+m?s ago\n$`, to, len(rec.frames)), text)
	var s analysis.Snapshot
	require.Eventually(t, func() bool { // the newest snapshot may be older than the kernel's count
		code, text := get("/report")
		return code == http.StatusOK && json.Unmarshal([]byte(text), &s) == nil && s.Capture.Packets == int64(len(rec.frames))
	}, 20*time.Second, 50*time.Millisecond)
	assert.Len(t, s.Windows, 4)

	var wg sync.WaitGroup // a storm of scrapes
	for range 20 {
		wg.Go(func() {
			for range 20 {
				for _, path := range []string{"/metrics", "/report"} {
					if res, err := http.Get("http://" + address[1] + path); err == nil {
						_, _ = io.Copy(io.Discard, res.Body)
						_ = res.Body.Close()
					}
				}
			}
		})
	}
	wg.Wait()
	vethtest.IP(t, "link", "set", to, "down")
	require.Eventually(t, func() bool { code, _ := get("/healthz"); return code == http.StatusServiceUnavailable }, 20*time.Second, 50*time.Millisecond)
	require.Equal(t, exitOK, p.end(t, syscall.SIGTERM), p.err.String())
	found := 0
	for line := range strings.Lines(p.err.String()) {
		if strings.HasPrefix(line, "{") {
			var l struct{ Level, Msg, Rule, Severity string }
			require.NoError(t, json.Unmarshal([]byte(line), &l))
			assert.Equal(t, "finding", l.Msg)
			found++
		}
	}
	assert.Positive(t, found, "findings as JSON lines")
}

// TestLivePermission: without rights, the exit code and the way out.
func TestLivePermission(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	_, to := vethtest.Pair(t, 0)
	if err := live.DropPrivileges(false); err != nil {
		t.Skip(err)
	}
	r := runArgs("live", "-i", to)
	assert.Equal(t, exitCapture, r.code)
	assert.Empty(t, r.out)
	assert.Equal(t, "rdmascope: "+to+`: no permission to capture
    sudo setcap cap_net_raw,cap_net_admin+ep $(command -v rdmascope)
    or: sudo tcpdump -i `+to+` -w - | rdmascope live -r -
`, r.errors)
	r = runArgs("live", "-i", "nosuch0")
	assert.Equal(t, exitCapture, r.code)
}
