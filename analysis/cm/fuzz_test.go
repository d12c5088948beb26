package cm

import (
	"testing"

	"rdmascope/decode/wire"
)

// FuzzTracker: whatever MADs say, the tracker stays within its bounds, its
// index points to what it names, and results are the same when asked again.
func FuzzTracker(f *testing.F) {
	for _, b := range fuzzSeeds(f) {
		f.Add(b, b, uint8(0))
	}
	f.Fuzz(func(t *testing.T, x, y []byte, cut uint8) {
		fd := newFeedOf(t, Options{MaxDialogues: 2})
		for _, b := range [][]byte{x, y, x, y} {
			n := max(0, len(b)-int(cut))
			fd.packet(&wire.Packet{Link: 1, Data: b[:n], Wire: uint32(len(b))})
		}
		if len(fd.tr.entries) > 2 {
			t.Fatal("more dialogues than the bound")
		}
		for k, i := range fd.tr.index {
			e := &fd.tr.entries[i]
			if e.key(A) != k && e.key(B) != k {
				t.Fatalf("index entry %v points to another dialogue", k)
			}
		}
		if a, b := fd.result(), fd.result(); len(a.Dialogues) != len(b.Dialogues) {
			t.Fatal("a result disturbed the state")
		}
	})
}
