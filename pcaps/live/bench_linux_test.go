package live_test

import (
	"fmt"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"rdmascope/pcaps/live"
	"rdmascope/pcaps/live/vethtest"
)

// BenchmarkTake measures what a packet costs between the ring and the caller's
// buffer: a ring is filled, and read when no more comes. It is the reader's
// time on a processor, not the clock's: others may want the same one.
func BenchmarkTake(b *testing.B) {
	if !vethtest.InNamespace(b) {
		return
	}
	from, to := vethtest.Pair(b, 0)
	sender := vethtest.NewSender(b, from)
	for _, size := range []int{60, 128, 1082, 4178} {
		b.Run(fmt.Sprintf("octets=%d", size), func(b *testing.B) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			f := frame(0, size-12, 0x08, 0x00)
			n := min(100_000, 100<<20/size)
			var buf []byte
			var recs []live.Record
			var took time.Duration
			var packets int
			for b.Loop() {
				s := open(b, live.Options{Interfaces: []string{to}, BufferBytes: 160 << 20})
				for range n {
					sender.Send(b, f)
				}
				time.Sleep(20 * time.Millisecond)
				for err := error(nil); ; {
					start := threadTime(b)
					buf, recs, err = s.ReadBlock(buf, recs)
					if len(recs) == 0 || err == io.EOF { // a lull
						break
					}
					took += threadTime(b) - start
					packets += len(recs)
				}
				require.NoError(b, s.Close())
			}
			b.ReportMetric(float64(took.Nanoseconds())/float64(packets), "ns/packet")
			b.ReportMetric(float64(took.Nanoseconds())/float64(packets*size), "ns/octet")
		})
	}
}

func threadTime(b *testing.B) time.Duration {
	var ts unix.Timespec
	require.NoError(b, unix.ClockGettime(unix.CLOCK_THREAD_CPUTIME_ID, &ts))
	return time.Duration(ts.Nano())
}
