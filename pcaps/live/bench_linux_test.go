package live_test

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"rdmascope/pcaps/live"
	"rdmascope/pcaps/live/vethtest"
)

// BenchmarkTake measures what a packet costs between the ring and the caller,
// copied and lent: a ring is filled, and read when no more comes; each block is
// released before the next one is read. It is the reader's time on a processor,
// not the clock's: others may want the same one. The ring has been read all
// around before, since the first touch of its memory costs more than a packet.
func BenchmarkTake(b *testing.B) {
	if !vethtest.InNamespace(b) {
		return
	}
	from, to := vethtest.Pair(b, 0)
	sender := vethtest.NewSender(b, from)
	for _, size := range []int{60, 128, 1082, 4178} {
		for _, held := range []int{0, 6} {
			b.Run(fmt.Sprintf("octets=%d/held=%d", size, held), func(b *testing.B) {
				runtime.LockOSThread()
				defer runtime.UnlockOSThread()
				s := open(b, live.Options{Interfaces: []string{to}, BufferBytes: 96 << 20, Held: held})
				f := frame(0, size-12, 0x08, 0x00)
				n := 40 << 20 / (size + 100) // of ring, with its header
				for range 2 {
					takeRound(b, s, sender, f, n)
				}
				var took time.Duration
				packets := 0
				for b.Loop() {
					more, read := takeRound(b, s, sender, f, n)
					took += more
					packets += read
				}
				b.ReportMetric(float64(took.Nanoseconds())/float64(packets), "ns/packet")
				b.ReportMetric(float64(took.Nanoseconds())/float64(packets*size), "ns/octet")
				require.NoError(b, s.Close())
			})
		}
	}
}

// takeRound sends n frames and reads them, and returns how long it read how many.
func takeRound(b *testing.B, s *live.Source, sender *vethtest.Sender, f []byte, n int) (took time.Duration, packets int) {
	for range n {
		sender.Send(b, f)
	}
	time.Sleep(20 * time.Millisecond)
	var buf []byte
	var recs []live.Record
	for {
		start := threadTime(b)
		var err error
		buf, recs, err = s.ReadBlock(buf, recs)
		if len(recs) == 0 { // a lull
			require.NoError(b, err)
			return took, packets
		}
		took += threadTime(b) - start
		packets += len(recs)
		buf = s.Release(buf)
	}
}

func threadTime(b *testing.B) time.Duration {
	var ts unix.Timespec
	require.NoError(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts))
	return time.Duration(ts.Nano())
}
