package pcaps_test

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/pcaps"
)

// TestStatistics: what a capture dropped is told by the file that it wrote.
func TestStatistics(t *testing.T) {
	var out bytes.Buffer
	w, err := pcaps.NewPcapngWriter(&out, []pcaps.Interface{{Name: "a", Link: 1}, {Name: "b", Link: 1}})
	require.NoError(t, err)
	frame := make([]byte, 60)
	for i := range 2 {
		require.NoError(t, w.Write(pcaps.Record{Time: int64(i), Cap: 60, Wire: 60, Iface: uint16(i), Link: 1}, frame, ""))
	}
	require.NoError(t, w.Statistics(0, 5, 1000, 7))
	require.NoError(t, w.Statistics(1, 5, 2000, -1))
	require.NoError(t, w.Flush())
	path := filepath.Join(t.TempDir(), "x.pcapng")
	require.NoError(t, os.WriteFile(path, out.Bytes(), 0o600))
	f, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer f.Close()
	for err == nil {
		_, _, err = f.ReadBlock(nil, nil)
	}
	require.ErrorIs(t, err, io.EOF)
	require.True(t, f.Inputs()[0].Complete, f.Inputs()[0].Error)
	faces := f.Interfaces()
	assert.EqualValues(t, 1000, faces[0].Received)
	assert.EqualValues(t, 7, faces[0].Dropped)
	assert.EqualValues(t, 2000, faces[1].Received)
	assert.EqualValues(t, -1, faces[1].Dropped)

	p, err := pcaps.NewPcapWriter(&out, 1, 0)
	require.NoError(t, err)
	assert.NoError(t, p.Statistics(0, 1, 1, 1))
}
