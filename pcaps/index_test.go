package pcaps

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// checkIndexed reads captures in order, and then every packet (or, of many, one
// in so many) by its number, in an order that jumps about.
func checkIndexed(t *testing.T, paths ...string) *Indexed {
	t.Helper()
	f, err := Open(paths, Options{})
	require.NoError(t, err)
	recs, frames := drain(t, f)
	require.NoError(t, f.Close())
	x, err := OpenIndexed(paths, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, x.Close()) })
	require.NoError(t, x.ReadAll(nil))
	require.True(t, x.Complete())
	require.EqualValues(t, len(recs), x.Count())
	require.Equal(t, f.Interfaces(), x.Interfaces())
	require.Equal(t, f.Inputs(), x.Inputs())
	if x.Reason() != "" {
		return x
	}
	most := min(len(recs), 400)
	for _, i := range rand.New(rand.NewPCG(1, uint64(len(recs)))).Perm(len(recs))[:most] {
		checkPacket(t, x, int64(i+1), recs[i], frames[i])
	}
	for i := range min(len(recs), 50) { // and in order
		checkPacket(t, x, int64(i+1), recs[i], frames[i])
	}
	for _, n := range []int64{0, -1, int64(len(recs)) + 1} {
		_, _, err := x.Packet(n)
		require.Error(t, err)
	}
	checkTimes(t, x, recs)
	return x
}

func checkPacket(t *testing.T, x *Indexed, n int64, want Record, frame []byte) {
	t.Helper()
	got, b, err := x.Packet(n)
	require.NoError(t, err, "packet %d", n)
	want.Off = 0
	if got != want || !bytes.Equal(frame, b) {
		require.Equal(t, want, got, "packet %d", n)
		require.Equal(t, frame, b, "packet %d", n)
	}
}

func checkTimes(t *testing.T, x *Indexed, recs []Record) {
	t.Helper()
	first := func(at int64) int64 {
		for i := range recs {
			if recs[i].Flags&FlagNoTime == 0 && recs[i].Time >= at {
				return int64(i + 1)
			}
		}
		return 0
	}
	for i := 0; i < len(recs); i += 1 + len(recs)/9 {
		for _, at := range []int64{recs[i].Time, recs[i].Time + 1} {
			n, ok, err := x.FindTime(at)
			require.NoError(t, err)
			want := first(at)
			require.Equal(t, want > 0, ok)
			if ok {
				require.Equal(t, want, n)
			}
		}
	}
}

func TestIndexedSamples(t *testing.T) {
	dir := t.TempDir()
	for i, s := range samples() {
		for name, data := range map[string][]byte{"": s.file.b, ".gz": gzipped(t, s.file.b), ".zst": zstded(t, s.file.b), ".cut": s.file.b[:len(s.file.b)-3]} {
			path := filepath.Join(dir, fmt.Sprintf("%d%s", i, name))
			writeFile(t, path, data)
			assert.Empty(t, checkIndexed(t, path).Reason())
		}
	}
}

func TestIndexedTestdata(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.pcap*")
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		assert.Empty(t, checkIndexed(t, path).Reason(), path)
	}
}

func TestIndexedSharedCaptures(t *testing.T) {
	dir := sharedDir(t)
	for folder, table := range map[string]map[string]corpusFile{"captures": ownCaptures, "captures-public": publicCaptures} {
		for name, want := range table {
			path := filepath.Join(dir, folder, name)
			if _, err := os.Stat(path); err == nil && want.refused == "" {
				checkIndexed(t, path)
			}
		}
	}
}

// bigNG is a pcapng of several blocks of reading: sections, interfaces that come
// late, blocks to pass over that are longer than a buffer.
func bigNG(t testing.TB, big bool) []byte {
	t.Helper()
	b := newBuilder(big).shb().idb(1, 0, newBuilder(big).opt(optIfName, []byte("eth0")))
	at := uint64(1_000_000)
	packets := func(id uint32, n, size int) {
		for i := range n {
			at += uint64(i % 3)
			frame := bytes.Repeat([]byte{byte(i), byte(i >> 8)}, size/2)
			b.epb(id, at, uint32(size+i%2), frame)
		}
	}
	packets(0, 3000, 300)
	b.idb(276, 0, b.opt(optIfTSResol, []byte{9}))
	packets(1, 2000, 100)
	b.block(77, make([]byte, 3*blockBytes))
	packets(0, 100, 1500)
	b.shb().idb(1, 0).idb(101, 0)
	packets(1, 1500, 700)
	packets(0, 1, 900_000)
	packets(0, 10, 64)
	b.block(78, make([]byte, blockBytes/2))
	b.shb().idb(1, 0, b.opt(optIfName, []byte("eth0")))
	packets(0, 20000, 120)
	return b.b
}

func TestIndexedLongFiles(t *testing.T) {
	dir := t.TempDir()
	for i, big := range []bool{false, true} {
		path := filepath.Join(dir, fmt.Sprintf("%d.pcapng", i))
		writeFile(t, path, bigNG(t, big))
		x := checkIndexed(t, path)
		assert.Empty(t, x.Reason())
		assert.Greater(t, len(x.windows), 5)
	}
	path := filepath.Join(dir, "long.pcap")
	times := make([]int64, 200_000)
	for i := range times {
		times[i] = int64(i) * 1000
	}
	writeFile(t, path, pcapOf(t, LinkEthernet, times...))
	x := checkIndexed(t, path)
	assert.Greater(t, len(x.windows), 5)
	n, ok, err := x.FindTime(150_000 * 1000)
	require.NoError(t, err)
	assert.True(t, ok)
	assert.EqualValues(t, 150_001, n)
}

// A ring of files is one capture; only where files overlap is it refused.
func TestIndexedRing(t *testing.T) {
	dir := t.TempDir()
	var ring []string
	for i := range 5 {
		path := filepath.Join(dir, fmt.Sprintf("ring%d", i))
		writeFile(t, path, ringFile(uint64(1000*i), "eth0", 40))
		ring = append(ring, path)
	}
	x := checkIndexed(t, ring...)
	assert.Empty(t, x.Reason())

	a, b, c := filepath.Join(dir, "a"), filepath.Join(dir, "b"), filepath.Join(dir, "c")
	writeFile(t, a, pcapOf(t, LinkEthernet, 10, 20, 30, 40))
	writeFile(t, b, pcapOf(t, LinkEthernet, 15, 25))
	writeFile(t, c, pcapOf(t, LinkEthernet, 100, 200, 300))
	y, err := OpenIndexed([]string{a, b, c}, Options{})
	require.NoError(t, err)
	defer y.Close()
	require.NoError(t, y.ReadAll(nil))
	require.EqualValues(t, 9, y.Count())
	_, _, err = y.Packet(2)
	var refused *NotIndexedError
	require.ErrorAs(t, err, &refused)
	assert.Contains(t, err.Error(), "mergecap")
	_, _, err = y.FindTime(20)
	require.ErrorAs(t, err, &refused)
}

func TestIndexedRefusals(t *testing.T) {
	plain := pcapOf(t, LinkEthernet, 1, 2, 3)
	x, err := OpenIndexed([]string{Stdin}, Options{Stdin: bytes.NewReader(plain)})
	require.NoError(t, err)
	require.NoError(t, x.ReadAll(nil))
	assert.EqualValues(t, 3, x.Count())
	assert.Contains(t, x.Reason(), "stdin can be read only once")
	_, _, err = x.Packet(1)
	assert.EqualError(t, err, x.Reason())
	_, _, err = x.FindTime(1)
	assert.Error(t, err)

	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.gz"), filepath.Join(dir, "b")
	writeFile(t, a, gzipped(t, plain))
	writeFile(t, b, plain)
	x, err = OpenIndexed([]string{a, b}, Options{})
	require.NoError(t, err)
	assert.Contains(t, x.Reason(), "gzip -dk "+a)
	require.NoError(t, x.ReadAll(nil))
	assert.EqualValues(t, 6, x.Count())

	_, err = OpenIndexed([]string{filepath.Join(dir, "none")}, Options{})
	assert.Error(t, err)

	// A compressed file that is too big to keep.
	big := filepath.Join(dir, "big.zst")
	frame := make([]byte, 1<<19)
	w := newBuilder(false).header(magicMicros, 2, 4, 0, 1)
	for i := range uint32(maxSpool>>19 + 2) {
		w.rec(i, 0, 1<<19, 1<<19, frame)
	}
	writeFile(t, big, zstded(t, w.b))
	x, err = OpenIndexed([]string{big}, Options{})
	require.NoError(t, err)
	require.NoError(t, x.ReadAll(nil))
	assert.Contains(t, x.Reason(), "zstd -d "+big)
	assert.EqualValues(t, maxSpool>>19+2, x.Count())
	assert.Nil(t, x.spool.kept)

	// A file that changes under the reader.
	x, err = OpenIndexed([]string{b}, Options{})
	require.NoError(t, err)
	require.NoError(t, x.ReadAll(nil))
	writeFile(t, b, plain[:len(plain)-1])
	_, _, err = x.Packet(3)
	assert.ErrorContains(t, err, "changed since it was read")
	writeFile(t, b, append(append([]byte{}, plain[:24]...), bytes.Repeat([]byte{0xff}, len(plain))...))
	_, _, err = x.Packet(3)
	assert.ErrorContains(t, err, "changed since it was read")
}

// Packets may be asked for while the source is being read.
func TestIndexedWhileReading(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.pcapng")
	writeFile(t, path, bigNG(t, false))
	f, err := Open([]string{path}, Options{})
	require.NoError(t, err)
	recs, frames := drain(t, f)
	x, err := OpenIndexed([]string{path}, Options{})
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		for asked := 0; asked < 200 || !x.Complete(); asked++ {
			if n := x.Count(); n > 0 {
				i := rand.Int64N(n)
				got, b, err := x.Packet(i + 1)
				want := recs[i]
				want.Off = 0
				if !assert.NoError(t, err) || !assert.Equal(t, want, got) || !assert.Equal(t, frames[i], b) {
					return
				}
			}
			runtime.Gosched()
		}
	})
	require.NoError(t, x.ReadAll(nil))
	wg.Wait()
}

// TestIndexIsBounded makes the table of a file of 10 million packets, and of one
// a thousand times as long, without the files.
func TestIndexIsBounded(t *testing.T) {
	for _, blocks := range []int64{100, 20_000, 2_000_000} {
		x := &Indexed{}
		state := &walkState{}
		const each = 500
		for i := range blocks {
			x.add(window{first: 1 + i*each, count: each, off: 24 + i*blockBytes, size: blockBytes, most: i, state: state})
			x.count += each
		}
		require.Empty(t, x.Reason())
		require.LessOrEqual(t, len(x.windows), maxWindows)
		require.GreaterOrEqual(t, len(x.windows), min(int(blocks), maxWindows/4))
		for _, n := range []int64{1, 2, each, each + 1, x.count / 3, x.count - 1, x.count} {
			w, err := x.find(n)
			require.NoError(t, err)
			require.True(t, n >= w.first && n < w.first+w.count)
			require.Equal(t, 24+(w.first-1)/each*blockBytes, w.off)
			require.Equal(t, w.count/each*blockBytes, w.size)
		}
	}
	// Windows that can't be joined are refused before they are too many.
	x := &Indexed{}
	for i := range int64(3 * maxWindows) {
		if x.reason != "" {
			break
		}
		x.add(window{first: 1 + i, count: 1, off: i, size: 1, state: &walkState{}})
		require.LessOrEqual(t, len(x.windows), maxWindows+64)
	}
	assert.NotEmpty(t, x.Reason())
	assert.Empty(t, x.windows)
}

// FuzzIndexed wants every packet that reading delivers to be found again, of
// whatever file.
func FuzzIndexed(f *testing.F) {
	for _, s := range samples() {
		f.Add(s.file.b)
		f.Add(s.file.b[:len(s.file.b)-3])
	}
	f.Add(ringFile(1, "eth0", 3))
	f.Add(append(ringFile(1, "eth0", 3), ringFile(9, "eth1", 2)...))
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 16<<10 {
			return
		}
		src, err := Open([]string{Stdin}, Options{Stdin: bytes.NewReader(data)})
		if err != nil || src.Inputs()[0].Compression != "" {
			return
		}
		recs, frames, buf := drainInto(t, src, fuzzBuffer)
		fuzzBuffer = buf
		path := filepath.Join(dir, "x")
		writeFile(t, path, data)
		x, err := OpenIndexed([]string{path}, Options{})
		require.NoError(t, err)
		defer x.Close()
		for {
			if fuzzBuffer, _, err = x.ReadBlock(fuzzBuffer[:0], nil); err == io.EOF {
				break
			}
			require.NoError(t, err)
		}
		require.EqualValues(t, len(recs), x.Count())
		for i := range recs {
			if i < 20 || i%37 == 0 || i == len(recs)-1 {
				checkPacket(t, x, int64(i+1), recs[i], frames[i])
			}
		}
	})
}

func BenchmarkIndexedPacket(b *testing.B) {
	path := filepath.Join(b.TempDir(), "x.pcap")
	times := make([]int64, 500_000)
	for i := range times {
		times[i] = int64(i)
	}
	writeFile(b, path, pcapOf(b, LinkEthernet, times...))
	x, err := OpenIndexed([]string{path}, Options{})
	require.NoError(b, err)
	require.NoError(b, x.ReadAll(nil))
	for _, name := range []string{"next", "jump"} {
		b.Run(name, func(b *testing.B) {
			n := int64(0)
			for b.Loop() {
				if n++; name == "jump" {
					n += 123_457
				}
				_, _, err := x.Packet(n%500_000 + 1)
				require.NoError(b, err)
			}
		})
	}
}
