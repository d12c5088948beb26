package pcaps

import (
	"io"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// drain reads a source to its end and checks what holds for every record.
func drain(t testing.TB, f *Files) (recs []Record, frames [][]byte) {
	t.Helper()
	recs, frames, _ = drainInto(t, f, nil)
	return recs, frames
}

// drainInto is drain with a buffer to begin with; it returns the last one.
func drainInto(t testing.TB, f *Files, buf []byte) (recs []Record, frames [][]byte, _ []byte) {
	t.Helper()
	var block []Record
	for {
		var err error
		buf, block, err = f.ReadBlock(buf[:0], block[:0])
		if err == io.EOF {
			require.Empty(t, block)
			return recs, frames, buf
		}
		require.NoError(t, err)
		require.NotEmpty(t, block, "a block without records")
		ifaces := len(f.Interfaces())
		for _, r := range block { // without testify: this runs for millions
			if int(r.Off)+int(r.Cap) > len(buf) || r.Cap > r.Wire || int(r.Iface) >= ifaces {
				require.Fail(t, "record out of bounds", "%+v in a block of %d bytes, %d interfaces", r, len(buf), ifaces)
			}
			recs = append(recs, r)
			frames = append(frames, slices.Clone(buf[r.Off:r.Off+r.Cap]))
		}
	}
}
