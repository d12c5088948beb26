package decode_test

import (
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// packets decodes the first n packets of each Ethernet capture whose name fits.
func packets(t *testing.T, pattern string, n int) (all []wire.Packet) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("..", "pcaps", "testdata", pattern))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, path := range paths {
		all = append(all, first(t, path, n)...)
	}
	return all
}

func first(t *testing.T, path string, n int) (all []wire.Packet) {
	t.Helper()
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, src.Close()) }()
	d := wire.NewDecoder(wire.Config{})
	for {
		buf, recs, err := src.ReadBlock(nil, nil)
		if errors.Is(err, io.EOF) {
			return all
		}
		require.NoError(t, err)
		for _, r := range recs {
			if len(all) == n {
				return all
			}
			if r.Link != wire.LinkEthernet {
				continue
			}
			p := wire.Packet{Time: r.Time, Data: buf[r.Off : r.Off+r.Cap], Wire: r.Wire, Link: r.Link}
			d.Decode(&p)
			all = append(all, p)
		}
	}
}
