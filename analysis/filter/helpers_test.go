package filter_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// captures are the captures of the repository, and those beside it where they
// are.
func captures(t testing.TB, folders ...string) []string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join("..", "..", "pcaps", "testdata", "*.pcap*"))
	require.NoError(t, err)
	require.NotEmpty(t, all)
	dir := os.Getenv("RDMASCOPE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	for _, folder := range folders {
		more, err := filepath.Glob(filepath.Join(dir, folder, "*.pcap*"))
		require.NoError(t, err)
		all = append(all, more...)
	}
	return all
}

func testdata(name string) string { return filepath.Join("..", "..", "pcaps", "testdata", name) }

// packets calls f for each packet of a capture; ok is false when it can't be
// read at all.
func packets(t testing.TB, path string, f func(*wire.Packet)) (ok bool) {
	t.Helper()
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	if err != nil {
		return false
	}
	defer func() { require.NoError(t, src.Close()) }()
	require.NoError(t, analysis.Packets(src, wire.Config{}, func(p *wire.Packet) bool {
		f(p)
		return true
	}))
	return true
}

// one is the first packet of a capture that pick wants, with octets of its own.
func one(t testing.TB, path string, pick func(*wire.Packet) bool) *wire.Packet {
	t.Helper()
	var found *wire.Packet
	packets(t, path, func(p *wire.Packet) {
		if found == nil && pick(p) {
			q := *p
			q.Data = append([]byte(nil), p.Data...)
			found = &q
		}
	})
	require.NotNil(t, found, "no such packet in %s", path)
	return found
}
