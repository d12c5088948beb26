package main

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/pcaps/live/vethtest"
	"rdmascope/pcaps/synth"
)

// BenchmarkLiveLoad sends healthy RoCE as fast as the machine can through a
// virtual cable, captured by the live analysis and by tcpdump -w in the same
// run, and tells what each took, dropped and cost. The sender takes a core of
// its own, so on a small machine all three fight for the same ones. `make load`
// runs it; how long is set by RDMASCOPE_LOAD_SECONDS, and with RDMASCOPE_LOAD_RATE
// so many packets a second are sent at most. With RDMASCOPE_LOAD_WRITE ours
// writes the packets too.
func BenchmarkLiveLoad(b *testing.B) {
	seconds, err := strconv.Atoi(os.Getenv("RDMASCOPE_LOAD_SECONDS"))
	if err != nil {
		b.Skip("RDMASCOPE_LOAD_SECONDS is not set")
	}
	if !vethtest.InNamespace(b) {
		return
	}
	for _, payload := range []int{64, 1024} {
		b.Run(fmt.Sprintf("payload=%d", payload), func(b *testing.B) { loadRun(b, payload, time.Duration(seconds)*time.Second) })
	}
}

func loadRun(b *testing.B, payload int, d time.Duration) {
	load := newLoad(2000, payload)
	from, to := vethtest.Pair(b, payload)
	batch := vethtest.NewSender(b, from).NewBatch(b, loadBatch)

	args := []string{"live", "-i", to, "--no-icrc", "-O", filepath.Join(b.TempDir(), "report")}
	if os.Getenv("RDMASCOPE_LOAD_WRITE") != "" {
		args = append(args, "-w", os.DevNull)
	}
	ours := start(b, args...)
	require.Eventually(b, func() bool { return strings.Contains(ours.err.String(), "capturing on") }, 20*time.Second, 10*time.Millisecond, "")
	var dump *exec.Cmd
	var said lockedBuffer
	if tcpdump, err := exec.LookPath("tcpdump"); err == nil {
		dump = exec.Command(tcpdump, "-i", to, "-n", "-B", "262144", "-w", os.DevNull)
		dump.Stderr = &said
		require.NoError(b, dump.Start())
		require.Eventually(b, func() bool { return strings.Contains(said.String(), "listening on") }, 20*time.Second, 10*time.Millisecond, "")
	}
	rate, _ := strconv.Atoi(os.Getenv("RDMASCOPE_LOAD_RATE"))
	pid := ours.cmd.Process.Pid
	memory := []string{residentMB(pid)}
	begin := time.Now()
	for next := d / 6; time.Since(begin) < d; {
		for range 20 {
			require.NoError(b, batch.Send(load.next()))
		}
		if rate > 0 {
			time.Sleep(time.Duration(load.sent)*time.Second/time.Duration(rate) - time.Since(begin))
		}
		if time.Since(begin) >= next {
			memory = append(memory, residentMB(pid))
			next += d / 6
		}
	}
	took := time.Since(begin)
	time.Sleep(300 * time.Millisecond)
	require.NoError(b, ours.cmd.Process.Signal(os.Interrupt))
	_ = ours.cmd.Wait()
	counts := regexp.MustCompile(`(\d+) packets received, (\d+) dropped by the kernel`).FindStringSubmatch(ours.err.String())
	require.NotNil(b, counts, ours.err.String())
	average, _ := os.ReadFile("/proc/loadavg")
	b.Logf("%d octets of payload, %v: %d packets sent, %.0f a second; load of the machine %s", payload, d, load.sent, float64(load.sent)/took.Seconds(), average)
	b.Logf("  ours: %s received, %s dropped; CPU %v, %.2f µs a packet; anonymous memory in MB, from the start to the end: %s",
		counts[1], counts[2], cpu(ours.cmd), float64(cpu(ours.cmd).Nanoseconds())/1e3/float64(load.sent), strings.Join(memory, ", "))
	if dump != nil {
		require.NoError(b, dump.Process.Signal(syscall.SIGINT))
		_ = dump.Wait()
		theirs := regexp.MustCompile(`(\d+) packets captured\s+(\d+) packets received by filter\s+(\d+) packets dropped by kernel`).FindStringSubmatch(said.String())
		require.NotNil(b, theirs, said.String())
		b.Logf("  tcpdump -w: %s received, %s dropped; CPU %v", theirs[2], theirs[3], cpu(dump))
		our, _ := strconv.Atoi(counts[2])
		their, _ := strconv.Atoi(theirs[3])
		assert.LessOrEqual(b, our, their, "ours drops no more than tcpdump")
	}
}

// loadBatch is how many frames go with one system call.
const loadBatch = 64

// trafficLoad is RDMA WRITEs of three packets and their ACKs, on connections
// that take turns at random and go on for as long as they are asked to, without
// a loss.
type trafficLoad struct {
	frames [][]byte
	at     int
	sent   int
	step   uint32 // by which PSNs have gone on when the frames come once more
}

// Messages that each connection has among the frames.
const loadMessages = 12

func newLoad(connections, payload int) *trafficLoad {
	rng := rand.New(rand.NewPCG(1, 2))
	turns := make([]int, 0, connections*loadMessages*4)
	for c := range connections {
		for range loadMessages * 4 {
			turns = append(turns, c)
		}
	}
	rng.Shuffle(len(turns), func(i, k int) { turns[i], turns[k] = turns[k], turns[i] })
	data := synth.Pattern(3, 3*payload)
	host := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, 1, byte(n)}) }
	taken := make([]int, connections)
	l := &trafficLoad{step: 3 * loadMessages}
	for _, c := range turns {
		message, kind := taken[c]/4, taken[c]%4
		taken[c]++
		psn := uint32(c)*1009 + uint32(3*message)
		flow := synth.Flow{Path: synth.Path{Src: host(1 + c%100), Dst: host(101 + c/100%100), SrcPort: uint16(0xc000 | c)}, DestQP: uint32(0x20000 + c), MTU: payload, MigReq: true}
		if kind < 3 {
			l.frames = append(l.frames, flow.Append(nil, flow.WritePacket(psn&0xffffff, 0x7f00_0000_0000, 0x1234, data, kind)))
			continue
		}
		flow.Src, flow.Dst, flow.DestQP = flow.Dst, flow.Src, uint32(0x10000+c)
		l.frames = append(l.frames, flow.Append(nil, synth.ACK((psn+2)&0xffffff, uint32(message+1))))
	}
	return l
}

// next is the frames to send next.
func (l *trafficLoad) next() [][]byte {
	if l.at == len(l.frames) {
		l.at = 0
	}
	batch := l.frames[l.at:min(l.at+loadBatch, len(l.frames))]
	l.at += len(batch)
	if l.sent >= len(l.frames) {
		for _, f := range batch {
			l.goOn(f)
		}
	}
	l.sent += len(batch)
	return batch
}

// Offsets in the frames: untagged IPv4 without options.
const (
	loadBTH = 14 + 20 + 8
	loadPSN = loadBTH + 8 // with the octet of the ACK request before it
	loadMSN = loadBTH + 12
)

// goOn moves a frame on. Its iCRC is wrong from then on.
func (l *trafficLoad) goOn(f []byte) {
	add := func(b []byte, n uint32) {
		w := binary.BigEndian.Uint32(b)
		binary.BigEndian.PutUint32(b, w&0xff000000|(w+n)&0xffffff)
	}
	add(f[loadPSN:], l.step)
	if f[loadBTH] == 0x11 { // RC ACK
		add(f[loadMSN:], loadMessages)
	}
}

func cpu(c *exec.Cmd) time.Duration {
	return (c.ProcessState.UserTime() + c.ProcessState.SystemTime()).Round(10 * time.Millisecond)
}

// residentMB is the memory of a process' own that is in use; the rings are
// shared with the kernel.
func residentMB(pid int) string {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return "?"
	}
	m := regexp.MustCompile(`RssAnon:\s+(\d+)`).FindSubmatch(text)
	if m == nil {
		return "?"
	}
	n, _ := strconv.Atoi(string(m[1]))
	return strconv.Itoa(n >> 10)
}
