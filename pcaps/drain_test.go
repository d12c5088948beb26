package pcaps

import (
	"io"
	"testing"

	"github.com/stretchr/testify/require"
)

// drain reads a source to its end and checks what holds for every record.
func drain(t testing.TB, f *Files) (recs []Record, frames [][]byte) {
	t.Helper()
	var buf []byte
	var block []Record
	for {
		var err error
		buf, block, err = f.ReadBlock(buf[:0], block[:0])
		if err == io.EOF {
			require.Empty(t, block)
			return recs, frames
		}
		require.NoError(t, err)
		require.NotEmpty(t, block, "a block without records")
		for _, r := range block {
			require.LessOrEqual(t, int(r.Off)+int(r.Cap), len(buf))
			require.LessOrEqual(t, r.Cap, r.Wire)
			require.Less(t, int(r.Iface), len(f.Interfaces()))
			recs = append(recs, r)
			frames = append(frames, append([]byte(nil), buf[r.Off:r.Off+r.Cap]...))
		}
	}
}
