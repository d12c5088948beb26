package main

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// hostile is a capture of an hour in which every frame was damaged: bits
// flipped, ends cut off, frames joined in the middle, or nothing but noise. Its
// time goes on with its packets, not with the system's clock.
type hostile struct {
	frames  [][]byte
	rng     *rand.Rand
	packets int
	sent    int
	begin   int64
	gap     int64
	quarter func(n int) // told after each quarter
	stopped atomic.Bool
}

func (h *hostile) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	buf, recs = buf[:0], recs[:0]
	if h.sent == h.packets || h.stopped.Load() {
		return buf, recs, io.EOF
	}
	for len(recs) < 500 && h.sent < h.packets {
		at := len(buf)
		buf = h.damaged(buf)
		n := uint32(len(buf) - at)
		recs = append(recs, analysis.Record{Time: h.begin + int64(h.sent)*h.gap, Off: uint32(at), Cap: n, Wire: n, Link: wire.LinkEthernet})
		h.sent++
		if h.sent%(h.packets/4) == 0 {
			h.quarter(h.sent / (h.packets / 4))
		}
	}
	return buf, recs, nil
}

func (h *hostile) damaged(buf []byte) []byte {
	pick := func() []byte { return h.frames[h.rng.IntN(len(h.frames))] }
	f, at := pick(), len(buf)
	switch h.rng.IntN(8) {
	case 0:
		buf = append(buf, f[:h.rng.IntN(len(f))]...)
	case 1:
		o := pick()
		buf = append(append(buf, f[:h.rng.IntN(len(f))]...), o[h.rng.IntN(len(o)):]...)
	case 2:
		for range 14 + h.rng.IntN(200) {
			buf = append(buf, byte(h.rng.Uint32()))
		}
	default:
		buf = append(buf, f...)
		head := min(len(f), 80)
		for range 1 + h.rng.IntN(4) { // mostly where the headers are
			buf[at+h.rng.IntN(head)] ^= 1 << h.rng.IntN(8)
		}
	}
	if len(buf)-at < 14 {
		buf = append(buf, make([]byte, 14)...)
	}
	return buf
}

func (h *hostile) Interfaces() []analysis.Interface {
	return []analysis.Interface{{Name: "eth7", Link: wire.LinkEthernet, Received: int64(h.sent), FCSBytes: -1, Nanos: true}}
}

func (h *hostile) Inputs() []analysis.InputInfo {
	return []analysis.InputInfo{{Path: "eth7", Format: "live", SizeBytes: -1, Complete: true}}
}

func (h *hostile) Stop()        { h.stopped.Store(true) }
func (h *hostile) Close() error { return nil }

// framesOf are the Ethernet frames of captures, so many of each.
func framesOf(t *testing.T, most int, names ...string) (all [][]byte) {
	t.Helper()
	for _, name := range names {
		files, err := pcaps.Open([]string{testdata(name)}, pcaps.Options{})
		require.NoError(t, err)
		buf, recs, err := files.ReadBlock(nil, nil)
		require.NoError(t, err)
		for _, r := range recs[:min(len(recs), most)] {
			if r.Link == wire.LinkEthernet && r.Cap > 20 {
				all = append(all, bytes.Clone(buf[r.Off:r.Off+r.Cap]))
			}
		}
		require.NoError(t, files.Close())
	}
	return all
}

// TestHourOfMalformed: an hour of malformed traffic goes through the whole of a
// live capture: analysis, windows, findings, metrics. Each packet is counted,
// what was malformed is told, memory doesn't grow after the first quarter, and
// nobody's log is flooded.
func TestHourOfMalformed(t *testing.T) {
	if testing.Short() {
		t.Skip("takes some seconds")
	}
	var out, said bytes.Buffer
	f := &liveFlags{every: 10 * time.Millisecond, stopPackets: -1}
	f.output, f.progress = "text", "none"
	run := &liveRun{app: &app{stdout: &out, stderr: &said}, flags: f, options: analysis.Options{MaxFlows: 10_000, Idle: 5 * time.Minute}}
	heap := make([]uint64, 5)
	src := &hostile{rng: rand.New(rand.NewPCG(1, 1)), packets: 300_000, begin: 1_700_000_000_000_000_000,
		frames: framesOf(t, 100, "rxe_write_loss1_before_cap.pcap.gz", "rxe_cm_loss20.pcap", "rxe_vlan100.pcap.gz", "siw_exact_every40.pcap.gz",
			"pfc_storm.pcap.gz", "rxe_read_loss3.pcap.gz"),
		quarter: func(n int) {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			heap[n] = m.HeapAlloc >> 20
		}}
	src.gap = int64(time.Hour) / int64(src.packets)
	run.tee = &liveTee{src: src, left: -1}
	run.log = newFindingsLog(run)
	run.engine = analysis.New(run.tee, run.options)
	server, err := newLiveServer("127.0.0.1:0", run)
	require.NoError(t, err)
	defer server.close()
	run.server = server
	require.NoError(t, run.run())

	s := run.newest.Load()
	require.EqualValues(t, src.packets, s.Capture.Packets)
	assert.InDelta(t, float64(time.Hour), float64(*s.Capture.DurationNS), 1e9)
	assert.Greater(t, s.Capture.MalformedPackets, int64(src.packets/20))
	assert.NotEmpty(t, s.Capture.DecodeStops)
	require.Len(t, s.Windows, 4)
	for _, w := range s.Windows { // an hour in a few snapshots: they are longer than asked for, and say so
		assert.InDelta(t, float64(src.packets)*float64(w.DurationNS)/float64(time.Hour), float64(w.Packets), 1, w.Name)
	}
	t.Logf("reached heap in MB after each quarter: %d; %d connections, evicted %v; %d lines said", heap[1:], s.ConnectionsTotal, s.Capture.Evictions, strings.Count(said.String(), "\n"))
	assert.Less(t, heap[4], heap[1]+30, "memory grows")
	assert.Less(t, strings.Count(said.String(), "\n"), 1000, said.String())
	assert.NotEmpty(t, out.String())
	_, health := get(t, "http://"+server.addr.String()+"/healthz")
	assert.True(t, strings.HasPrefix(health, "ok\n"), health)
}
