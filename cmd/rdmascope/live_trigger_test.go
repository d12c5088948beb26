package main

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps"
)

// TestTriggerPrePost: the file of a trigger holds the packets from --pre before
// the finding's first packet to --post after it was seen, each of them and no
// other, whatever blocks they came in.
func TestTriggerPrePost(t *testing.T) {
	const tick = 100 * time.Millisecond
	begin := time.Unix(1_700_000_000, 0)
	for _, tt := range []struct {
		pre, post   time.Duration
		first, seen int // in ticks
		end         int // of the traffic
		from, to    int // packets wanted
	}{
		{pre: 2 * time.Second, post: time.Second, first: 100, seen: 105, end: 300, from: 80, to: 115},
		{pre: 0, post: 0, first: 100, seen: 105, end: 300, from: 100, to: 105},
		{pre: 5 * time.Second, post: time.Second, first: 20, seen: 25, end: 300, from: 0, to: 35},     // the capture began later
		{pre: time.Second, post: 5 * time.Second, first: 100, seen: 105, end: 120, from: 90, to: 119}, // and it ended before
		{pre: time.Second, post: time.Second, first: 10, seen: 200, end: 300, from: 160, to: 210},     // seen late: what is held is written
	} {
		for _, blocks := range []int{1, 7} {
			name := fmt.Sprintf("%+v, %d packets a block", tt, blocks)
			dir := t.TempDir()
			var said []string
			tr, err := newTrigger(triggerOptions{severity: "critical", pre: tt.pre, post: tt.post, dir: dir, files: 5, memoryMiB: 8}, func(s string) { said = append(said, s) })
			require.NoError(t, err)
			faces := []analysis.Interface{{Name: "eth7", Link: 1, Received: 1000, Dropped: 3}}
			at := func(n int) int64 { return begin.Add(time.Duration(n) * tick).UnixNano() }
			for n := 0; n < tt.end; {
				var buf []byte
				var recs []analysis.Record
				for range blocks {
					if n < tt.end && (len(recs) == 0 || n != tt.seen+1) { // a block ends where the finding is seen
						recs = append(recs, analysis.Record{Time: at(n), Off: uint32(len(buf)), Cap: 60, Wire: 60, Link: 1})
						buf = append(buf, make([]byte, 60)...)
						n++
					}
				}
				tr.block(buf, recs, faces)
				if n == tt.seen+1 {
					tr.look([]analysis.Finding{{Rule: "pfc.storm", Severity: "critical", Title: "x", FirstTime: analysis.Time(at(tt.first))}})
					tr.block(nil, nil, faces) // nothing new, but the finding is
				}
			}
			tr.finish(faces)
			files, err := filepath.Glob(filepath.Join(dir, "*"))
			require.NoError(t, err)
			require.Len(t, files, 1, name)
			assert.Regexp(t, `rdmascope-\d{8}T\d{6}\.\d{3}-pfc\.storm\.pcapng$`, files[0])
			var times []int64
			src, err := pcaps.Open(files, pcaps.Options{})
			require.NoError(t, err)
			for {
				_, recs, err := src.ReadBlock(nil, nil)
				if err != nil {
					break
				}
				for _, r := range recs {
					times = append(times, r.Time)
				}
			}
			assert.True(t, src.Inputs()[0].Complete)
			assert.EqualValues(t, 3, src.Interfaces()[0].Dropped)
			require.NoError(t, src.Close())
			require.NotEmpty(t, times, name)
			if tt.first == 10 { // how much is held beyond --pre is the trigger's own affair
				assert.LessOrEqual(t, times[0], at(tt.seen)-int64(tt.pre), name)
			} else {
				assert.Equal(t, at(tt.from), times[0], name)
			}
			assert.Equal(t, at(tt.to), times[len(times)-1], name)
			for i := range times {
				require.Equal(t, times[0]+int64(i)*int64(tick), times[i], "%s: one after the other", name)
			}
		}
	}
}
