package live_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"rdmascope/pcaps/live"
	"rdmascope/pcaps/live/vethtest"
)

// outBlock is a block that is not released yet.
type outBlock struct {
	buf   []byte
	recs  []live.Record
	first int // number of its first packet
}

// release gives a block back after a last look at it, and overwrites it before:
// nobody else's frames may lie there. It tells whether the block was lent.
func (o *outBlock) release(t *testing.T, s *live.Source, want func(int) []byte) bool {
	t.Helper()
	for i, r := range o.recs {
		require.True(t, bytes.Equal(want(o.first+i), o.buf[r.Off:r.Off+r.Cap]), "packet %d", o.first+i)
	}
	for i := range o.buf {
		o.buf[i] = 0xaa
	}
	return s.Release(o.buf) == nil
}

// manyFrames are frames of all lengths, with tags of all sorts.
func manyFrames(i int) []byte {
	heads := [][]byte{
		{0x08, 0x00},
		{0x81, 0x00, 0x60, 0x64, 0x08, 0x00},
		{0x81, 0x00, 0x60, 0x00, 0x08, 0x00},
		{0x81, 0x00, 0x00, 0x00, 0x08, 0x00},
		{0x88, 0xa8, 0xe0, 0x05, 0x81, 0x00, 0x60, 0x64, 0x08, 0x00},
		{0x91, 0x00, 0xe0, 0x05, 0x08, 0x00},
	}
	return frame(i, []int{48, 60, 300, 1070, 4000, 9000}[i%37%6], heads[i%6]...)
}

// TestLent: blocks are lent, stay as they are for as long as they are held,
// while more comes, and may come back in any order. Nothing is lost, and each
// tag is back in its place.
func TestLent(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	const held, rounds, batch = 6, 60, 1500
	s := open(t, live.Options{Interfaces: []string{to}, BufferBytes: 32 << 20, Held: held})
	sender := vethtest.NewSender(t, from)
	rng := rand.New(rand.NewPCG(1, 2))
	var out []outBlock
	sent, read, lent, copied := 0, 0, 0, 0
	give := func(i int) {
		if out[i].release(t, s, manyFrames) {
			lent++
		} else {
			copied++
		}
		out = append(out[:i], out[i+1:]...)
	}
	for range rounds {
		for range batch {
			sender.Send(t, manyFrames(sent))
			sent++
		}
		for lull := false; !lull; {
			if len(out) == held {
				give(rng.IntN(held))
			}
			buf, recs, err := s.ReadBlock(nil, nil)
			require.NoError(t, err)
			if lull = len(recs) == 0; !lull {
				out = append(out, outBlock{buf, recs, read})
				read += len(recs)
			}
		}
	}
	for len(out) > 0 {
		give(0)
	}
	assert.Equal(t, sent, read)
	assert.Zero(t, s.Interfaces()[0].Dropped)
	assert.Greater(t, lent, rounds, "blocks lent")
	assert.NotZero(t, copied, "blocks copied")
	t.Logf("%d blocks lent, %d copied", lent, copied)
}

// TestLentSnapLen: what a tag adds to a frame that was cut is cut off.
func TestLentSnapLen(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	s := open(t, live.Options{Interfaces: []string{to}, BufferBytes: 32 << 20, Held: 4, SnapLen: 256})
	sender := vethtest.NewSender(t, from)
	for i := range 3000 {
		sender.Send(t, manyFrames(i))
	}
	lent := 0
	for read := 0; read < 3000; {
		buf, recs, err := s.ReadBlock(nil, nil)
		require.NoError(t, err)
		for i, r := range recs {
			want := manyFrames(read + i)
			require.EqualValues(t, len(want), r.Wire)
			require.Equal(t, want[:min(256, len(want))], buf[r.Off:r.Off+r.Cap])
		}
		read += len(recs)
		if s.Release(buf) == nil && len(recs) > 0 {
			lent++
		}
	}
	assert.Positive(t, lent)
}

// TestHeldLeavesRoom: while the caller holds all that he may, the ring takes as
// much as one of which nothing is lent; what he would hold beyond is copied.
func TestHeldLeavesRoom(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	const held, mebibytes, size = 12, 16, 60_000 // long frames: most blocks are full before their time is over
	s := open(t, live.Options{Interfaces: []string{to}, BufferBytes: mebibytes << 20, Held: held})
	sender := vethtest.NewSender(t, from)
	plain := func(i int) []byte { return frame(i, size-12, 0x08, 0x00) }
	send := func(first, n int) {
		for i := range n {
			sender.Send(t, plain(first+i))
		}
		time.Sleep(50 * time.Millisecond)
	}
	const early = 150 // 9 MB
	send(0, early)
	var out []outBlock
	read, copied := 0, 0
	for read < early {
		buf, recs, err := s.ReadBlock(nil, nil)
		require.NoError(t, err)
		switch {
		case len(out) < held && len(buf) > 2*size: // else it was copied since it is short
			out = append(out, outBlock{buf, recs, read})
		case s.Release(buf) != nil && len(out) == held:
			copied++
		}
		read += len(recs)
	}
	require.Len(t, out, held)
	require.Positive(t, copied)
	const late = (mebibytes - 4) << 20 / (size + 200) // 16 blocks, less those that held would take up, were too few
	send(early, late)
	for read < early+late {
		buf, recs, err := s.ReadBlock(nil, nil)
		require.NoError(t, err)
		require.NotEmpty(t, recs)
		o := outBlock{buf, recs, read}
		o.release(t, s, plain)
		read += len(recs)
	}
	s.Stop()
	for err := error(nil); err != io.EOF; {
		_, _, err = s.ReadBlock(nil, nil)
	}
	assert.Zero(t, s.Interfaces()[0].Dropped)
	for i := range out {
		require.True(t, out[i].release(t, s, plain))
	}
}

// TestLentOverload: a caller that keeps what it has for too long loses packets,
// as many as the kernel says, and those that come are whole and in order.
func TestLentOverload(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	const held = 6
	s := open(t, live.Options{Interfaces: []string{to}, BufferBytes: held << 20, Held: held})
	sender := vethtest.NewSender(t, from)
	const sent = 4000
	var out []outBlock
	read, next := 0, 0
	look := func(o outBlock) {
		for _, r := range o.recs {
			number := int(binary.BigEndian.Uint32(o.buf[r.Off+r.Cap-4:]))
			require.GreaterOrEqual(t, number, next)
			require.True(t, bytes.Equal(frame(number, 9000, 0x81, 0x00, 0x60, 0x64), o.buf[r.Off:r.Off+r.Cap]))
			next = number + 1
		}
		s.Release(o.buf)
	}
	take := func() error {
		buf, recs, err := s.ReadBlock(nil, nil)
		out = append(out, outBlock{buf: buf, recs: recs})
		read += len(recs)
		return err
	}
	for i := range sent {
		sender.Send(t, frame(i, 9000, 0x81, 0x00, 0x60, 0x64))
		if i%400 == 399 && len(out) < held {
			require.NoError(t, take())
		}
	}
	time.Sleep(50 * time.Millisecond)
	s.Stop()
	for err := error(nil); err != io.EOF; {
		for len(out) > 0 {
			look(out[0])
			out = out[1:]
		}
		err = take()
	}
	dropped := s.Interfaces()[0].Dropped
	assert.EqualValues(t, sent, s.Interfaces()[0].Received)
	assert.EqualValues(t, sent-read, dropped)
	assert.Positive(t, dropped)
	assert.Positive(t, read)
}

// TestLentByNobody: a ring that would more than double, and a caller who says
// nothing about holding, get copies.
func TestLentByNobody(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	sender := vethtest.NewSender(t, from)
	for _, opt := range []live.Options{{BufferBytes: 2 << 20, Held: 6}, {BufferBytes: 32 << 20}} {
		opt.Interfaces = []string{to}
		s := open(t, opt)
		for i := range 150 {
			sender.Send(t, frame(i, 4000, 0x08, 0x00))
		}
		for read := 0; read < 150; {
			buf, recs, err := s.ReadBlock(nil, nil)
			require.NoError(t, err)
			require.True(t, len(recs) == 0 || s.Release(buf) != nil)
			read += len(recs)
		}
		require.NoError(t, s.Close())
	}
}

// rings counts the ring memory of this process.
func rings(t *testing.T) int {
	maps, err := os.ReadFile("/proc/self/maps")
	require.NoError(t, err)
	return bytes.Count(maps, []byte(" socket:["))
}

// TestCloseWhileHeld: what is held outlives Close, and goes with the last
// block that comes back, whoever brings it.
func TestCloseWhileHeld(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	before := rings(t)
	s := open(t, live.Options{Interfaces: []string{to}, BufferBytes: 32 << 20, Held: 4})
	require.Equal(t, before+1, rings(t))
	sender := vethtest.NewSender(t, from)
	for i := range 1000 {
		sender.Send(t, manyFrames(i))
	}
	var out []outBlock
	for read := 0; len(out) < 3; {
		buf, recs, err := s.ReadBlock(nil, nil)
		require.NoError(t, err)
		if len(buf) >= 64<<10 {
			out = append(out, outBlock{buf, recs, read})
		}
		read += len(recs)
	}
	require.NoError(t, s.Close())
	for i := range out {
		require.Equal(t, before+1, rings(t))
		require.True(t, out[i].release(t, s, manyFrames))
	}
	require.Equal(t, before, rings(t), "the memory is gone")
	own := make([]byte, 10)
	require.Len(t, s.Release(own), 10)
	require.Nil(t, s.Release(nil))
	require.NoError(t, s.Close())
}

// TestNoHasteWhileHeld: poll calls a ring readable for as long as its newest
// block is out; waiting for the next one costs no time on a processor even so,
// and it comes soon.
func TestNoHasteWhileHeld(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	s := open(t, live.Options{Interfaces: []string{to}, BufferBytes: 32 << 20, Held: 4})
	sender := vethtest.NewSender(t, from)
	const frames = 30
	var out []byte
	var recs []live.Record
	for len(recs) != frames { // on a busy machine the kernel may end a block in between
		s.Release(out)
		for i := range frames {
			sender.Send(t, frame(i, 4000, 0x08, 0x00))
		}
		time.Sleep(50 * time.Millisecond)
		for all := 0; all < frames; all += len(recs) {
			var err error
			out, recs, err = s.ReadBlock(nil, nil)
			require.NoError(t, err)
		}
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	start, used := time.Now(), processTime(t)
	for range 5 {
		_, recs, err := s.ReadBlock(nil, nil)
		require.NoError(t, err)
		require.Empty(t, recs)
	}
	waited, used := time.Since(start), processTime(t)-used
	assert.Greater(t, waited, 400*time.Millisecond)
	assert.Less(t, used, waited/4, "time on a processor while waiting")
	sender.Send(t, frame(100, 60, 0x08, 0x00))
	start = time.Now()
	for recs = recs[:0]; len(recs) == 0; {
		var err error
		_, recs, err = s.ReadBlock(nil, nil)
		require.NoError(t, err)
	}
	assert.Less(t, time.Since(start), 2*time.Second)
	require.Nil(t, s.Release(out))
}

func processTime(t *testing.T) time.Duration {
	var ts unix.Timespec
	require.NoError(t, unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &ts))
	return time.Duration(ts.Nano())
}

// TestLentMerged: of several rings, blocks are lent where no other ring has
// frames in between, and the order stays that in which the frames were sent.
func TestLentMerged(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from0, to0 := vethtest.Pair(t, 0)
	from1, to1 := vethtest.Pair(t, 1)
	s := open(t, live.Options{Interfaces: []string{to0, to1}, BufferBytes: 32 << 20, Held: 6})
	senders := []*vethtest.Sender{vethtest.NewSender(t, from0), vethtest.NewSender(t, from1)}
	const sent = 12000
	turn := func(i int) int { // by turns, then one of them mostly
		if i < sent/3 {
			return i * 7 % 5 % 2
		}
		return b2i(i%997 == 0)
	}
	for i := range sent {
		senders[turn(i)].Send(t, manyFrames(i%3000))
	}
	time.Sleep(50 * time.Millisecond)
	s.Stop()
	read, lent, copied := 0, 0, 0
	var spare []byte
	for {
		buf, recs, err := s.ReadBlock(spare, nil)
		if err == io.EOF {
			break
		}
		require.NoError(t, err)
		for i, r := range recs {
			require.True(t, bytes.Equal(manyFrames((read+i)%3000), buf[r.Off:r.Off+r.Cap]), "packet %d", read+i)
			require.EqualValues(t, turn(read+i), r.Iface, fmt.Sprintf("packet %d", read+i))
		}
		read += len(recs)
		if spare = s.Release(buf); len(recs) == 0 {
			continue
		}
		if spare == nil {
			lent++
		} else {
			copied++
		}
	}
	assert.Equal(t, sent, read)
	assert.Greater(t, lent, 3)
	assert.Positive(t, copied)
	t.Logf("%d blocks lent, %d copied", lent, copied)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
