package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/analysis/report"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// lentCapture is a recording as a capture that lends its memory, in blocks of
// so many packets. What lies between the frames is its own, and all of a block
// is overwritten as soon as it comes back.
type lentCapture struct {
	want *recordedFrames
	n    int
	at   int

	mu    sync.Mutex
	out   map[*byte]bool
	wrong int
}

// recordedFrames is a capture file in memory.
type recordedFrames struct {
	recs   []analysis.Record
	frames [][]byte
	faces  []analysis.Interface
	inputs []analysis.InputInfo
}

func recorded(t *testing.T, path string) *recordedFrames {
	t.Helper()
	files, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer files.Close()
	r := &recordedFrames{}
	for {
		buf, recs, err := files.ReadBlock(nil, nil)
		if err != nil {
			break
		}
		for _, rec := range recs {
			r.recs = append(r.recs, rec)
			r.frames = append(r.frames, buf[rec.Off:rec.Off+rec.Cap])
		}
	}
	r.faces, r.inputs = files.Interfaces(), files.Inputs()
	return r
}

const lentHeader = 82 // in front of each frame

func (l *lentCapture) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	if l.at == len(l.want.recs) {
		return buf, recs, io.EOF
	}
	own := make([]byte, 0, 4096)
	for len(recs) < l.n && l.at < len(l.want.recs) {
		own = append(own, bytes.Repeat([]byte{0x55}, lentHeader)...)
		r := l.want.recs[l.at]
		r.Off = uint32(len(own))
		own = append(own, l.want.frames[l.at]...)
		recs = append(recs, r)
		l.at++
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.out[unsafe.SliceData(own)] = true
	return own, recs, nil
}

func (l *lentCapture) Release(buf []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if cap(buf) == 0 {
		return nil
	}
	if first := unsafe.SliceData(buf); l.out[first] {
		delete(l.out, first)
	} else {
		l.wrong++
	}
	for i := range buf {
		buf[i] = 0xaa
	}
	return nil
}

func (l *lentCapture) Interfaces() []analysis.Interface { return l.want.faces }
func (l *lentCapture) Inputs() []analysis.InputInfo     { return l.want.inputs }
func (*lentCapture) Stop()                              {}
func (*lentCapture) Close() error                       { return nil }

// TestNobodyKeepsALentBlock: through all that `live` and the browser put between
// a capture and its analysis, a block can be overwritten once it was released:
// the report, the file of -w, that of a trigger and the packets kept for a look
// are those of the recording.
func TestNobodyKeepsALentBlock(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "pcaps", "testdata", "*.pcap*"))
	require.NoError(t, err)
	compared := 0
	for _, path := range paths {
		want := recorded(t, path)
		if len(want.recs) == 0 {
			continue
		}
		compared++
		files, err := pcaps.Open([]string{path}, pcaps.Options{})
		require.NoError(t, err)
		offline, err := analysis.Analyze(context.Background(), files, analysis.Options{})
		require.NoError(t, err)
		require.NoError(t, files.Close())
		t.Run(filepath.Base(path), func(t *testing.T) { lentRun(t, want, reportOf(t, offline)) })
	}
	require.Positive(t, compared)
}

func reportOf(t *testing.T, s *analysis.Snapshot) string {
	t.Helper()
	var out bytes.Buffer
	require.NoError(t, report.JSON(&out, s, report.Options{Connections: -1}))
	return out.String()
}

func lentRun(t *testing.T, want *recordedFrames, offline string) {
	dir := t.TempDir()
	src := &lentCapture{want: want, n: 50, out: map[*byte]bool{}}
	var said []string
	writer, err := newRingWriter(filepath.Join(dir, "all.pcapng"), nil, func(s string) { said = append(said, s) })
	require.NoError(t, err)
	require.NoError(t, writer.open(want.faces, time.Now()))
	opt := triggerOptions{severity: "notice", pre: time.Hour, post: time.Hour, dir: dir, files: 1, memoryMiB: 512}
	trig, err := newTrigger(opt, func(string) {})
	require.NoError(t, err)
	trig.look([]analysis.Finding{{Rule: "x", Severity: "critical"}})
	recent := newRecentPackets(wire.Config{}, 512)
	tee := &liveTee{src: src, left: -1, sinks: []sink{writer, trig, recent}}
	recent.stamped = analysis.NewStamped(tee, wire.Config{}, analysis.ClockCapture)
	engine := analysis.New(recent.stamped, analysis.Options{Workers: 3})
	engine.RequestSnapshot()
	snap, err := engine.Run(context.Background())
	require.NoError(t, err)
	tee.finish()
	assert.Empty(t, src.out, "still out")
	assert.Zero(t, src.wrong, "released, but not out")
	require.Equal(t, offline, reportOf(t, snap))
	assert.Empty(t, said)

	for i, frame := range want.frames {
		_, kept, err := recent.find(int64(i + 1))
		require.NoError(t, err)
		require.True(t, bytes.Equal(frame, kept), "packet %d kept", i+1)
	}
	sameFrames(t, want, filepath.Join(dir, "all.pcapng"))
	shots, err := filepath.Glob(filepath.Join(dir, "rdmascope-*"))
	require.NoError(t, err)
	require.Len(t, shots, 1, fmt.Sprint(want.recs[0].Time))
	sameFrames(t, want, shots[0])
}

// sameFrames compares a file's frames.
func sameFrames(t *testing.T, want *recordedFrames, path string) {
	t.Helper()
	got := recorded(t, path)
	require.Len(t, got.frames, len(want.frames), path)
	for i := range want.frames {
		require.True(t, bytes.Equal(want.frames[i], got.frames[i]), "%s: packet %d", path, i+1)
	}
}
