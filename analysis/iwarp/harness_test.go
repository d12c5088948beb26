package iwarp_test

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// sharedDir is the folder of captures beside the repository, or skips.
func sharedDir(t testing.TB) string {
	if dir := os.Getenv("RDMASCOPE_SHARED"); dir != "" {
		if _, err := os.Stat(dir); err != nil {
			t.Skip("RDMASCOPE_SHARED: ", err)
		}
		return dir
	}
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		require.NotEqual(t, dir, filepath.Dir(dir), "no go.mod above")
		dir = filepath.Dir(dir)
	}
	shared := filepath.Join(filepath.Dir(dir), "shared")
	if _, err := os.Stat(shared); err != nil {
		t.Skip("no shared captures beside the repository")
	}
	return shared
}

// packets decodes a whole capture; the packets own their bytes.
func packets(t testing.TB, path string) []wire.Packet {
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer src.Close()
	var list []wire.Packet
	var d wire.Decoder
	for {
		buf, recs, err := src.ReadBlock(nil, nil)
		if errors.Is(err, io.EOF) {
			return list
		}
		require.NoError(t, err)
		for _, r := range recs {
			p := wire.Packet{Number: int64(len(list) + 1), Time: r.Time, Data: buf[r.Off : r.Off+r.Cap], Wire: r.Wire, Iface: r.Iface, Link: r.Link}
			d.Decode(&p)
			list = append(list, p)
		}
	}
}

// track runs packets through a fresh Tracker to the end.
func track(list []wire.Packet, opt iwarp.Options) iwarp.Result {
	t := iwarp.New(opt)
	var last int64
	for i := range list {
		t.Packet(&list[i])
		last = list[i].Time
	}
	t.Finish()
	return t.Result(last)
}

// captures calls f for each file of the shared folder that matches.
func captures(t *testing.T, pattern string, f func(t *testing.T, name string, list []wire.Packet)) {
	files, err := filepath.Glob(filepath.Join(sharedDir(t), pattern))
	require.NoError(t, err)
	require.NotEmpty(t, files, pattern)
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".pcap")
		t.Run(name, func(t *testing.T) { f(t, name, packets(t, file)) })
	}
}

// readJSON reads a file of the shared folder.
func readJSON(t testing.TB, v any, path ...string) {
	b, err := os.ReadFile(filepath.Join(append([]string{sharedDir(t)}, path...)...))
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(b, v))
}
