package live_test

import (
	"bytes"
	"encoding/binary"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/pcaps/live"
	"rdmascope/pcaps/live/vethtest"
)

// taken is one packet out of a capture.
type taken struct {
	rec   live.Record
	frame []byte
}

// drain stops a capture and reads it to its end. A frame that was sent may
// still be in the hands of the kernel, which is no concern of the capture's.
func drain(t testing.TB, s *live.Source) []taken {
	t.Helper()
	time.Sleep(50 * time.Millisecond)
	s.Stop()
	return readAll(t, s)
}

func readAll(t testing.TB, s *live.Source) (all []taken) {
	t.Helper()
	var buf []byte
	var recs []live.Record
	var err error
	for range 1 << 20 {
		buf, recs, err = s.ReadBlock(buf, recs)
		if err == io.EOF {
			require.Empty(t, recs)
			return all
		}
		require.NoError(t, err)
		for _, r := range recs {
			all = append(all, taken{r, bytes.Clone(buf[r.Off : r.Off+r.Cap])})
		}
	}
	t.Fatal("no end")
	return nil
}

// frame is an Ethernet frame with n octets behind the addresses; the first of
// them are head, the last four number it.
func frame(number, n int, head ...byte) []byte {
	b := append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, head...)
	b = append(b, make([]byte, max(0, n-len(head)-4))...)
	return binary.BigEndian.AppendUint32(b, uint32(number))
}

func open(t testing.TB, opt live.Options) *live.Source {
	t.Helper()
	if opt.BufferBytes == 0 {
		opt.BufferBytes = 32 << 20 // tests are many
	}
	s, err := live.Open(opt)
	require.NoError(t, err)
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// TestFrames: what is sent is what is taken, tags and all, to the last frame,
// although nobody reads before the end.
func TestFrames(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	s := open(t, live.Options{Interfaces: []string{to}})
	frames := [][]byte{
		frame(0, 60, 0x08, 0x00),
		frame(1, 60, 0x81, 0x00, 0x60, 0x64, 0x08, 0x00),                         // PCP 3, VID 100
		frame(2, 60, 0x81, 0x00, 0x60, 0x00, 0x08, 0x00),                         // PCP 3, VID 0: a priority tag
		frame(3, 60, 0x81, 0x00, 0x00, 0x00, 0x08, 0x00),                         // TCI 0
		frame(4, 60, 0x88, 0xa8, 0xe0, 0x05, 0x81, 0x00, 0x60, 0x64, 0x08, 0x00), // QinQ
		frame(5, 60, 0x91, 0x00, 0xe0, 0x05, 0x08, 0x00),
		frame(6, 46, 0x88, 0x08, 0x01, 0x01, 0, 8, 0, 0, 0, 0, 0, 0, 0xff, 0xff),
		frame(7, 9000, 0x08, 0x00),
		frame(8, 4, 0x08, 0x00)[:14],
		frame(9, 65000, 0x81, 0x00, 0x60, 0x64, 0x08, 0x00),
	}
	sender := vethtest.NewSender(t, from)
	before := time.Now()
	for _, f := range frames {
		sender.Send(t, f)
	}
	got := drain(t, s)
	require.Len(t, got, len(frames))
	for i, g := range got {
		assert.Equal(t, frames[i], g.frame, "frame %d", i)
		assert.EqualValues(t, len(frames[i]), g.rec.Wire, "frame %d", i)
		assert.EqualValues(t, 1, g.rec.Link)
		assert.EqualValues(t, 1, g.rec.Dir, "inbound")
		assert.WithinRange(t, time.Unix(0, g.rec.Time), before, time.Now())
	}
	face := s.Interfaces()[0]
	assert.Equal(t, to, face.Name)
	assert.EqualValues(t, len(frames), face.Received)
	assert.Zero(t, face.Dropped)
	assert.EqualValues(t, 10e9, face.SpeedBps, "what the driver of these interfaces says")
	in := s.Inputs()[0]
	assert.True(t, in.Complete)
	assert.EqualValues(t, len(frames), in.Packets)
}

// TestDirection: what the capturing host sends itself is outbound.
func TestDirection(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, _ := vethtest.Pair(t, 0)
	s := open(t, live.Options{Interfaces: []string{from}})
	f := frame(0, 60, 0x81, 0x00, 0x60, 0x64, 0x08, 0x00)
	vethtest.NewSender(t, from).Send(t, f)
	got := drain(t, s)
	require.Len(t, got, 1)
	assert.EqualValues(t, 2, got[0].rec.Dir)
	assert.Equal(t, f, got[0].frame, "its tag is still in place")
}

func TestSnapLen(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	s := open(t, live.Options{Interfaces: []string{to}, SnapLen: 64})
	sender := vethtest.NewSender(t, from)
	plain, tagged := frame(0, 988, 0x08, 0x00), frame(1, 988, 0x81, 0x00, 0x60, 0x64, 0x08, 0x00)
	sender.Send(t, plain)
	sender.Send(t, tagged)
	got := drain(t, s)
	require.Len(t, got, 2)
	for i, f := range [][]byte{plain, tagged} {
		assert.Equal(t, f[:64], got[i].frame)
		assert.EqualValues(t, 1000, got[i].rec.Wire)
	}
}

// TestIdle: a lull is told, and the tail before it comes.
func TestIdle(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	s := open(t, live.Options{Interfaces: []string{to}})
	start := time.Now()
	_, recs, err := s.ReadBlock(nil, nil)
	require.NoError(t, err)
	assert.Empty(t, recs)
	assert.Less(t, time.Since(start), 2*time.Second)
	vethtest.NewSender(t, from).Send(t, frame(0, 60, 0x08, 0x00))
	start = time.Now()
	for len(recs) == 0 && time.Since(start) < 5*time.Second {
		_, recs, err = s.ReadBlock(nil, nil)
		require.NoError(t, err)
	}
	assert.Len(t, recs, 1)
	assert.Less(t, time.Since(start), 2*time.Second)
}

// TestOverload: with a ring that is too small and nobody reading, what the
// kernel says it dropped is exactly what is missing.
func TestOverload(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	s := open(t, live.Options{Interfaces: []string{to}, BufferBytes: 2 << 20})
	sender := vethtest.NewSender(t, from)
	const sent = 5000
	for i := range sent {
		sender.Send(t, frame(i, 1488, 0x08, 0x00))
	}
	got := drain(t, s)
	face := s.Interfaces()[0]
	assert.EqualValues(t, sent, face.Received)
	assert.EqualValues(t, sent-len(got), face.Dropped)
	assert.Greater(t, face.Dropped, int64(sent/3))
	st := s.Stats()[0]
	assert.Equal(t, face.Dropped, st.KernelDropped)
	assert.Zero(t, st.NICDropped)
	for i, g := range got { // a full ring drops the newest
		require.Equal(t, frame(i, 1488, 0x08, 0x00), g.frame)
	}
}

// TestMerge: packets of two interfaces, sent by turns, come in the order in
// which they were sent; so do those of several rings of one interface.
func TestMerge(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from0, to0 := vethtest.Pair(t, 0)
	from1, to1 := vethtest.Pair(t, 1)
	s := open(t, live.Options{Interfaces: []string{to0, to1}, Rings: 2})
	senders := []*vethtest.Sender{vethtest.NewSender(t, from0), vethtest.NewSender(t, from1)}
	const sent = 3000
	var all []taken
	var wg sync.WaitGroup
	wg.Go(func() { all = readAll(t, s) })
	for i := range sent {
		senders[i*7%5%2].Send(t, frame(i, 200, 0x08, 0x00))
		if i == sent/2 {
			time.Sleep(150 * time.Millisecond)
		}
	}
	s.Stop()
	wg.Wait()
	require.Len(t, all, sent)
	for i, g := range all {
		require.Equal(t, frame(i, 200, 0x08, 0x00), g.frame)
		require.EqualValues(t, i*7%5%2, g.rec.Iface)
	}
}

// TestRingsOfTwo: two captures of one process, each with several rings an
// interface, get in nobody's way, and each sees every packet once.
func TestRingsOfTwo(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from0, to0 := vethtest.Pair(t, 0)
	_, to1 := vethtest.Pair(t, 1)
	a := open(t, live.Options{Interfaces: []string{to1, to0}, Rings: 3})
	b := open(t, live.Options{Interfaces: []string{to0, to1}, Rings: 2})
	sender := vethtest.NewSender(t, from0)
	for i := range 200 {
		sender.Send(t, frame(i, 200, 0x08, 0x00))
	}
	assert.Len(t, drain(t, a), 200)
	assert.Len(t, drain(t, b), 200)
}

// TestStopEndsIt: what comes after Stop isn't taken, else a busy interface
// would never let go.
func TestStopEndsIt(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	s := open(t, live.Options{Interfaces: []string{to}})
	sender := vethtest.NewSender(t, from)
	quit := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-quit:
				return
			default:
				_ = sender.TrySend(frame(i, 200, 0x08, 0x00))
			}
		}
	})
	time.Sleep(100 * time.Millisecond)
	start := time.Now()
	got := drain(t, s)
	close(quit)
	wg.Wait()
	assert.NotEmpty(t, got)
	assert.Less(t, time.Since(start), 5*time.Second)
	s.Stop()
	require.NoError(t, s.Close())
	s.Stop()
	require.NoError(t, s.Close())
}

// TestDownUp: an interface may go down and come back; one that is gone for
// good ends the capture.
func TestDownUp(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	var mu sync.Mutex
	var notices []string
	told := func() string {
		mu.Lock()
		defer mu.Unlock()
		if len(notices) == 0 {
			return ""
		}
		return notices[len(notices)-1]
	}
	s := open(t, live.Options{Interfaces: []string{to}, Notice: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		notices = append(notices, text)
	}})
	sender := vethtest.NewSender(t, from)
	var all []taken
	var wg sync.WaitGroup
	wg.Go(func() { all = readAll(t, s) })
	wait := func(text string) {
		t.Helper()
		require.Eventually(t, func() bool { return told() == text }, 10*time.Second, 20*time.Millisecond, "want %q", text)
	}
	sender.Send(t, frame(0, 60, 0x08, 0x00))
	time.Sleep(100 * time.Millisecond)
	vethtest.IP(t, "link", "set", to, "down")
	wait(to + ": the interface went down; waiting for it")
	assert.False(t, s.Stats()[0].Up)
	vethtest.IP(t, "link", "set", to, "up")
	wait(to + ": the interface is up again")
	vethtest.WaitUp(t, from)
	sender.Send(t, frame(1, 60, 0x08, 0x00))
	time.Sleep(100 * time.Millisecond)
	vethtest.IP(t, "link", "del", to)
	wg.Wait() // it ends by itself
	wait(to + ": the interface is gone")
	require.Len(t, all, 2)
	assert.Equal(t, frame(1, 60, 0x08, 0x00), all[1].frame)
	in := s.Inputs()[0]
	assert.False(t, in.Complete)
	assert.Equal(t, "the interface is gone", in.Error)
}

func TestOpenErrors(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	_, to := vethtest.Pair(t, 0)
	for _, tt := range []struct {
		names []string
		want  string
	}{
		{nil, "no interface named"},
		{[]string{"nosuch0"}, "nosuch0: no such interface\n    ip -br link lists them"},
		{[]string{"a name longer than any"}, "a name longer than any: no such interface\n    ip -br link lists them"},
		{[]string{to, to}, to + ": named twice"},
		{[]string{"any"}, "any: connections and pauses belong to one interface: name each with its own -i"},
	} {
		_, err := live.Open(live.Options{Interfaces: tt.names})
		var start *live.StartError
		require.ErrorAs(t, err, &start)
		assert.Equal(t, tt.want, err.Error())
	}
	dropPrivileges(t, false)
	_, err := live.Open(live.Options{Interfaces: []string{to}})
	require.Error(t, err)
	assert.Equal(t, to+`: no permission to capture
    sudo setcap cap_net_raw,cap_net_admin+ep $(command -v rdmascope)
    or: sudo tcpdump -i `+to+` -w - | rdmascope live -r -`, err.Error())
}

func dropPrivileges(t *testing.T, writesFiles bool) {
	if err := live.DropPrivileges(writesFiles); err != nil {
		if strings.Contains(err.Error(), "cgo") {
			t.Skip(err)
		}
		t.Fatal(err)
	}
}

// TestDropPrivileges: an open capture goes on, and ends, without any.
func TestDropPrivileges(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	s := open(t, live.Options{Interfaces: []string{to}})
	sender := vethtest.NewSender(t, from)
	dropPrivileges(t, true)
	sender.Send(t, frame(0, 60, 0x08, 0x00))
	got := drain(t, s)
	require.Len(t, got, 1)
	assert.EqualValues(t, 1, s.Interfaces()[0].Received)
}

// TestHardwareTime: where the card has no clock, it is told, and the kernel's
// times are as good.
func TestHardwareTime(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	from, to := vethtest.Pair(t, 0)
	var said []string
	s := open(t, live.Options{Interfaces: []string{to}, HardwareTime: true, Notice: func(text string) { said = append(said, text) }})
	vethtest.NewSender(t, from).Send(t, frame(0, 60, 0x08, 0x00))
	got := drain(t, s)
	require.Len(t, got, 1)
	assert.Zero(t, got[0].rec.Flags)
	assert.WithinDuration(t, time.Now(), time.Unix(0, got[0].rec.Time), time.Minute)
	require.Len(t, said, 1)
	assert.Contains(t, said[0], to+": no time stamps of the network card")
}

// TestPromiscuous: the interface is promiscuous while the capture runs, unless
// it is told not to be.
func TestPromiscuous(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	_, to := vethtest.Pair(t, 0)
	promiscuity := func() string {
		out, err := exec.Command("ip", "-d", "-o", "link", "show", "dev", to).Output()
		require.NoError(t, err)
		_, after, _ := strings.Cut(string(out), "promiscuity ")
		return after[:1]
	}
	s := open(t, live.Options{Interfaces: []string{to}})
	assert.Equal(t, "1", promiscuity())
	require.NoError(t, s.Close())
	assert.Equal(t, "0", promiscuity())
	open(t, live.Options{Interfaces: []string{to}, NotPromiscuous: true})
	assert.Equal(t, "0", promiscuity())
}

// FuzzParseDDD: no text makes it panic, and what it takes has as many
// instructions as it says.
func FuzzParseDDD(f *testing.F) {
	f.Add("1\n6 0 0 262144\n")
	f.Add("2\n40 0 0 12\n6 0 0 0\n")
	f.Add("4096\n")
	f.Fuzz(func(t *testing.T, text string) {
		filter, err := live.ParseDDD(strings.NewReader(text))
		if err == nil {
			require.NotEmpty(t, filter.Program())
			require.LessOrEqual(t, len(filter.Program()), 4096)
		}
	})
}

// TestLoopback: the frames of a loopback interface come once, not twice.
func TestLoopback(t *testing.T) {
	if !vethtest.InNamespace(t) {
		return
	}
	s := open(t, live.Options{Interfaces: []string{"lo"}})
	vethtest.NewSender(t, "lo").Send(t, frame(0, 60, 0x08, 0x00))
	got := drain(t, s)
	require.Len(t, got, 1)
	assert.EqualValues(t, 1, got[0].rec.Dir)
}
