package pcaps

import (
	"bytes"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// files writes each data to a file of its own.
func files(t testing.TB, datas ...[]byte) []string {
	t.Helper()
	dir := t.TempDir()
	var paths []string
	for i, data := range datas {
		paths = append(paths, filepath.Join(dir, string(rune('a'+i))+".pcap"))
		writeFile(t, paths[i], data)
	}
	return paths
}

func openAll(t testing.TB, paths ...string) *Files {
	t.Helper()
	f, err := Open(paths, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, f.Close()) })
	return f
}

// order is what a merge gave: the time and interface of each record.
func order(recs []Record) (times []int64, ifaces []int) {
	for _, r := range recs {
		times = append(times, r.Time)
		ifaces = append(ifaces, int(r.Iface))
	}
	return times, ifaces
}

func TestMergeByTime(t *testing.T) {
	f := openAll(t, files(t,
		pcapOf(t, 1, 10, 40, 40, 90),
		pcapOf(t, 1, 5, 40, 41, 80),
		pcapOf(t, 113, 40),
		pcapOf(t, 1),
	)...)
	recs, frames := drain(t, f)
	times, ifaces := order(recs)
	assert.Equal(t, []int64{5, 10, 40, 40, 40, 40, 41, 80, 90}, times)
	assert.Equal(t, []int{0, 1, 1, 1, 0, 2, 0, 0, 1}, ifaces, "equal times in the order of the files; interfaces in that of time")
	for i, r := range recs {
		assert.Equal(t, byte(r.Time), frames[i][0])
	}
	for i, want := range []int64{4, 4, 1, 0} {
		assert.Equal(t, want, f.Inputs()[i].Packets)
		assert.True(t, f.Inputs()[i].Complete)
	}
	assert.Equal(t, []int{1, 0, 2, 3}, inputsOf(f))
	read, total := f.Progress()
	assert.Equal(t, total, read)
}

func inputsOf(f *Files) (of []int) {
	for _, d := range f.Interfaces() {
		of = append(of, d.Input)
	}
	return of
}

// A ring of files is one interface, in whatever order it was named.
func TestMergeContinuesInterface(t *testing.T) {
	f := openAll(t, files(t, pcapOf(t, 1, 30, 31), pcapOf(t, 1, 10, 11), pcapOf(t, 1, 11, 20), pcapOf(t, 113, 50))...)
	recs, _ := drain(t, f)
	times, ifaces := order(recs)
	assert.Equal(t, []int64{10, 11, 11, 20, 30, 31, 50}, times)
	assert.Equal(t, []int{0, 0, 0, 0, 0, 0, 1}, ifaces)
	assert.Len(t, f.Interfaces(), 2)
}

func TestMergeOverlapIsNotContinued(t *testing.T) {
	f := openAll(t, files(t, pcapOf(t, 1, 10, 30), pcapOf(t, 1, 20, 40), pcapOf(t, 1, 50))...)
	recs, _ := drain(t, f)
	_, ifaces := order(recs)
	assert.Equal(t, []int{0, 1, 0, 1, 0}, ifaces)
}

func ringFile(ts uint64, name string, drops uint64) []byte {
	b := newBuilder(false).shb()
	b.idb(1, 0, b.opt(optIfName, []byte(name))).idb(1, 0, b.opt(optIfName, []byte("other")))
	b.epb(0, ts, 4, []byte("four")).epb(1, ts, 4, []byte("four"))
	return b.isb(0, b.opt64(optIsbIfDrop, drops)).b
}

func TestMergeContinuesByName(t *testing.T) {
	f := openAll(t, files(t, ringFile(1, "eth0", 3), ringFile(2, "eth0", 5), ringFile(3, "eth1", 7))...)
	recs, _ := drain(t, f)
	_, ifaces := order(recs)
	assert.Equal(t, []int{0, 1, 0, 1, 2, 1}, ifaces)
	d := f.Interfaces()
	assert.EqualValues(t, 5, d[0].Dropped, "counted from the start of the capture")
	assert.EqualValues(t, 7, d[2].Dropped)
}

// Sections put together by cat are treated as files given one by one.
func TestSectionsContinue(t *testing.T) {
	first, second := ringFile(1, "eth0", 3), ringFile(2, "eth0", 5)
	recs, _ := drain(t, openBytes(t, append(slices.Clone(first), second...)))
	_, ifaces := order(recs)
	assert.Equal(t, []int{0, 1, 0, 1}, ifaces)
	recs, _ = drain(t, openBytes(t, append(slices.Clone(second), first...)))
	_, ifaces = order(recs)
	assert.Equal(t, []int{0, 1, 2, 3}, ifaces, "back in time: not a continuation")
}

func TestMergeTellsWhichIsCut(t *testing.T) {
	whole := pcapOf(t, 1, 1, 5, 9)
	paths := files(t, whole, whole[:len(whole)-1], gzipped(t, whole))
	recs, _ := drain(t, openAll(t, paths...))
	assert.Len(t, recs, 8)
	f := openAll(t, paths...)
	drain(t, f)
	in := f.Inputs()
	assert.Equal(t, []string{"", "cut short in packet 3", ""}, []string{in[0].Error, in[1].Error, in[2].Error})
	assert.Equal(t, "gzip", in[2].Compression)

	_, err := Open(append(paths, filepath.Join(t.TempDir(), "none")), Options{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestMergeWithStdin(t *testing.T) {
	paths := files(t, pcapOf(t, 1, 2, 4))
	f, err := Open([]string{paths[0], Stdin}, Options{Stdin: bytes.NewReader(pcapOf(t, 1, 1, 3, 5))})
	require.NoError(t, err)
	recs, _ := drain(t, f)
	times, ifaces := order(recs)
	assert.Equal(t, []int64{1, 2, 3, 4, 5}, times)
	assert.Equal(t, []int{0, 1, 0, 1, 0}, ifaces)
}

func TestMergeFileThatVanishes(t *testing.T) {
	paths := files(t, pcapOf(t, 1, 1), pcapOf(t, 1, 2))
	f := openAll(t, paths...)
	require.NoError(t, os.Remove(paths[1]))
	recs, _ := drain(t, f)
	assert.Len(t, recs, 1)
	assert.Equal(t, "no such file", f.Inputs()[1].Error)
	assert.False(t, f.Inputs()[1].Complete)
}

// Records without a time stay behind the record that they follow.
func TestMergeWithoutTimes(t *testing.T) {
	ng := newBuilder(false).shb()
	ng.idb(1, 0, ng.opt(optIfTSResol, []byte{9})).epb(0, 20, 4, []byte("four"))
	ng.block(blockSimple, ng.body().u32(4).raw([]byte("simp")...).b)
	f := openAll(t, files(t, pcapOf(t, 1, 10, 30), ng.b)...)
	recs, frames := drain(t, f)
	require.Len(t, recs, 4)
	assert.Equal(t, "four", string(frames[1]))
	assert.Equal(t, "simp", string(frames[2]))
}

// The merge of many files at random is the stable sort of their records,
// whatever blocks they come in.
func TestMergeIsStableSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for range 12 {
		type rec struct {
			time  int64
			frame string
		}
		var want []rec
		var datas [][]byte
		for i := range 1 + rnd.IntN(6) {
			var b bytes.Buffer
			w, err := NewPcapWriter(&b, 1, 0)
			require.NoError(t, err)
			at := rnd.Int64N(1000)
			for n := range rnd.IntN(1500) {
				at += rnd.Int64N(20) * rnd.Int64N(20)
				frame := bytes.Repeat([]byte{byte(i), byte(n), byte(n >> 8)}, 1+rnd.IntN(600))
				require.NoError(t, w.Write(Record{Time: at, Link: 1}, frame, ""))
				want = append(want, rec{at, string(frame)})
			}
			require.NoError(t, w.Flush())
			datas = append(datas, b.Bytes())
		}
		slices.SortStableFunc(want, func(a, b rec) int { return int(a.time - b.time) })
		recs, frames := drain(t, openAll(t, files(t, datas...)...))
		require.Len(t, recs, len(want))
		for i, r := range recs {
			require.Equal(t, want[i].time, r.Time)
			require.Equal(t, want[i].frame, string(frames[i]))
		}
	}
}

// A live stream that is silent doesn't hold back what is known to come first.
func TestMergeDeliversBeforeWaiting(t *testing.T) {
	r, w := io.Pipe()
	data := pcapOf(t, 1, 5, 15)
	go func() { _, _ = w.Write(data) }()
	paths := files(t, pcapOf(t, 1, 1, 10, 20))
	f, err := Open([]string{paths[0], Stdin}, Options{Stdin: r})
	require.NoError(t, err)
	var times []int64
	var buf []byte
	var recs []Record
	for len(times) < 4 {
		buf, recs, err = f.ReadBlock(buf, recs)
		require.NoError(t, err)
		got, _ := order(recs)
		times = append(times, got...)
	}
	assert.Equal(t, []int64{1, 5, 10, 15}, times)
	require.NoError(t, w.Close())
	rest, _ := drain(t, f)
	require.Len(t, rest, 1)
}
