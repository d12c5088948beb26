package analysis_test

import (
	"context"
	"fmt"
	"io"
	"net/netip"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// passing is a capture, made up while it is read, of connections that come and
// go: each writes one message of three packets, has it acknowledged and is
// never seen again. So many are open at a time, and they take turns packet by
// packet. Of every lossEvery-th the middle packet is lost behind the tap: a NAK
// asks for it, and two packets are sent again.
type passing struct {
	connections int
	open        int
	lossEvery   int
	gap         time.Duration // of the capture's time, between packets
	atMillion   func(millions int)

	now   int64
	began int
	ended int
	turn  int
	slots []passer
}

// passer is a connection under way.
type passer struct {
	number int // from 1; 0 in a free slot
	step   int
}

const (
	passingHosts = 4096
	passingMTU   = 256
)

var (
	passingClean = []int{0, 1, 2, passingACK}
	passingLossy = []int{0, 1, 2, passingNAK, 1, 2, passingACK}
	passingData  = synth.Pattern(7, 3*passingMTU)
)

const (
	passingACK = iota + 3
	passingNAK
)

func (s *passing) steps(number int) []int {
	if number%s.lossEvery == 0 {
		return passingLossy
	}
	return passingClean
}

// ReadBlock makes up the next packets.
func (s *passing) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	if s.slots == nil {
		s.slots, s.now = make([]passer, s.open), 1_700_000_000_000_000_000
	}
	buf, recs = buf[:0], recs[:0]
	for len(recs) < 1024 && s.ended < s.connections {
		p := &s.slots[s.turn]
		s.turn = (s.turn + 1) % len(s.slots)
		if p.number == 0 {
			if s.began == s.connections {
				continue
			}
			s.began++
			*p = passer{number: s.began}
		}
		at := len(buf)
		steps := s.steps(p.number)
		buf = appendPassing(buf, p.number, steps[p.step])
		n := uint32(len(buf) - at)
		recs = append(recs, analysis.Record{Time: s.now, Off: uint32(at), Cap: n, Wire: n, Link: wire.LinkEthernet})
		s.now += int64(s.gap)
		if p.step++; p.step == len(steps) {
			*p = passer{}
			if s.ended++; s.ended%1_000_000 == 0 && s.atMillion != nil {
				s.atMillion(s.ended / 1_000_000)
			}
		}
	}
	if len(recs) == 0 {
		return buf, recs, io.EOF
	}
	return buf, recs, nil
}

// appendPassing writes one frame of connection number: data packet 0 to 2, or
// an answer. Host pairs come again, queue pairs of a host pair don't.
func appendPassing(buf []byte, number, step int) []byte {
	a, b := number%passingHosts, (number/passingHosts)%(passingHosts-1)
	if b >= a {
		b++
	}
	host := func(h int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(h >> 8), byte(h)}) }
	qpn := func(side int) uint32 { return uint32(2*number+side)&0xffffff | 0x100 } // 8 million pairs later they come again
	psn := uint32(number) * 977 & 0xffffff
	flow := synth.Flow{Path: synth.Path{Src: host(a), Dst: host(b), SrcPort: uint16(0xc000 | number*7&0x3fff)}, DestQP: qpn(1), MTU: passingMTU, MigReq: true}
	var p synth.Packet
	switch step {
	case passingACK:
		p = synth.ACK((psn+2)&0xffffff, 1)
	case passingNAK:
		p = synth.NAK((psn+1)&0xffffff, 0, synth.NAKSequence)
	default:
		return flow.Append(buf, flow.WritePacket(psn, 0x7f00_0000_0000, 0x1234, passingData, step))
	}
	flow.Src, flow.Dst, flow.DestQP = flow.Dst, flow.Src, qpn(0)
	return flow.Append(buf, p)
}

func (s *passing) Interfaces() []analysis.Interface {
	return []analysis.Interface{{Name: "eth7", Link: wire.LinkEthernet, Received: -1, Dropped: -1, FCSBytes: -1, Nanos: true}}
}

func (s *passing) Inputs() []analysis.InputInfo {
	return []analysis.InputInfo{{Path: "eth7", Format: "live", SizeBytes: -1, Complete: true}}
}

// truth is what a whole run holds.
func (s *passing) truth() (packets, resent int64) {
	lossy := int64(s.connections / s.lossEvery)
	return 4*int64(s.connections) + 3*lossy, 2 * lossy
}

// TestPassing: the made-up capture holds what it says it holds.
func TestPassing(t *testing.T) {
	src := &passing{connections: 2000, open: 50, lossEvery: 40, gap: time.Microsecond}
	s, err := analysis.Analyze(context.Background(), src, analysis.Options{})
	require.NoError(t, err)
	packets, resent := src.truth()
	assert.Equal(t, packets, s.Capture.Packets)
	assert.Equal(t, packets, s.Protocols.RoCEv2.Packets)
	assert.EqualValues(t, src.connections, s.ConnectionsTotal)
	var got, lost, naks int64
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			f := &s.Connections[i].Flows[k]
			if f.Retransmitted != nil {
				got += *f.Retransmitted
			}
			if f.LostDownstream != nil {
				lost += *f.LostDownstream
			}
			if f.Naks != nil {
				naks += f.Naks.Total()
			}
		}
	}
	assert.Equal(t, resent, got)
	assert.EqualValues(t, resent/2, lost)
	assert.EqualValues(t, resent/2, naks)
}

// BenchmarkEndless lets connections pass through tables that hold few of
// them, and tells the memory after each million. How many pass is set by
// RDMASCOPE_ENDLESS_MILLIONS; RDMASCOPE_ENDLESS_EVERY=1s asks for snapshots
// meanwhile as `live` does, RDMASCOPE_ENDLESS_IDLE=1s lets connections go that
// were idle for so long: 25,000 a second come. RDMASCOPE_ENDLESS_LIMIT is how
// many are kept.
func BenchmarkEndless(b *testing.B) {
	millions, err := strconv.ParseFloat(os.Getenv("RDMASCOPE_ENDLESS_MILLIONS"), 64)
	if err != nil {
		b.Skip("RDMASCOPE_ENDLESS_MILLIONS is not set")
	}
	limit, err := strconv.Atoi(os.Getenv("RDMASCOPE_ENDLESS_LIMIT"))
	if err != nil {
		limit = 100_000
	}
	for b.Loop() {
		src := &passing{connections: int(millions * 1e6), open: 1000, lossEvery: 64, gap: 10 * time.Microsecond}
		began := time.Now()
		src.atMillion = func(n int) { // at once: a run of ten million takes its time
			fmt.Fprintf(os.Stderr, "%3d million: %s, %.0f s\n", n, memory(), time.Since(began).Seconds())
		}
		idle, _ := time.ParseDuration(os.Getenv("RDMASCOPE_ENDLESS_IDLE"))
		engine := analysis.New(src, analysis.Options{Decode: wire.Config{SkipICRC: true}, MaxFlows: 2 * limit, Idle: idle})
		every, _ := time.ParseDuration(os.Getenv("RDMASCOPE_ENDLESS_EVERY"))
		done := make(chan struct{})
		if every > 0 {
			go func() {
				for wait := every; ; {
					select {
					case <-done:
						return
					case <-time.After(wait):
					}
					old, asked := engine.Snapshot(), time.Now()
					engine.RequestSnapshot()
					for engine.Snapshot() == old {
						select {
						case <-done:
							return
						case <-time.After(10 * time.Millisecond):
						}
					}
					wait = max(every, 9*time.Since(asked))
				}
			}()
		}
		s, err := engine.Run(context.Background())
		close(done)
		require.NoError(b, err)
		packets, resent := src.truth()
		require.Equal(b, packets, s.Capture.Packets)
		require.EqualValues(b, src.connections, s.ConnectionsTotal)
		require.Len(b, s.FlowTotals(), 1)
		require.Equal(b, resent, *s.FlowTotals()[0].Retransmitted, "sent again, those included that were let go")
		b.Logf("at the end: %d connections told, %d listed, evicted %v; %s", s.ConnectionsTotal, len(s.Connections), s.Capture.Evictions, memory())
		b.ReportMetric(float64(time.Since(began).Nanoseconds())/float64(packets), "ns/packet")
	}
}

// memory tells what the process has in use, what of it is in the heap's spans,
// and what of that is still reached.
func memory() string {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	runtime.GC()
	runtime.ReadMemStats(&after)
	return fmt.Sprintf("resident %d MB, heap in use %d MB, reached %d MB", residentMB(), before.HeapInuse>>20, after.HeapAlloc>>20)
}

// residentMB is VmRSS, 0 where there is no /proc.
func residentMB() int {
	text, _ := os.ReadFile("/proc/self/status")
	if m := regexp.MustCompile(`VmRSS:\s+(\d+)`).FindSubmatch(text); m != nil {
		n, _ := strconv.Atoi(string(m[1]))
		return n >> 10
	}
	return 0
}
