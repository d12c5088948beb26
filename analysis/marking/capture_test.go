package marking

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// shared is the folder of captures beside the repository, or skips the test.
func shared(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("RDMASCOPE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	if _, err := os.Stat(filepath.Join(dir, "captures")); err != nil {
		t.Skip("needs the shared captures, which are not here: " + dir)
	}
	return dir
}

// eachPacket decodes a capture and hands over every packet of it.
func eachPacket(t *testing.T, path string, f func(*wire.Packet)) {
	t.Helper()
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer src.Close()
	dec := wire.NewDecoder(wire.Config{SkipICRC: false})
	var buf []byte
	var recs []pcaps.Record
	var p wire.Packet
	for n := int64(0); ; {
		buf, recs, err = src.ReadBlock(buf[:0], recs[:0])
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		for _, r := range recs {
			n++
			p = wire.Packet{Number: n, Time: r.Time, Data: buf[r.Off : r.Off+r.Cap], Wire: r.Wire,
				Iface: r.Iface, Link: r.Link, Dir: wire.Dir(r.Dir)}
			dec.Decode(&p)
			f(&p)
		}
	}
}

// captureFile returns the path of a capture, packed or not.
func captureFile(t *testing.T, dir, name string) string {
	t.Helper()
	for _, ext := range []string{".pcap", ".pcap.gz", ".pcapng.gz", ".pcapng"} {
		if path := filepath.Join(dir, "captures", name+ext); exists(path) {
			return path
		}
	}
	require.Fail(t, "no capture of this name", name)
	return ""
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
