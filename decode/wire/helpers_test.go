package wire

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sharedDir finds the folder of captures and vectors that lies beside the
// repository, or skips the test.
func sharedDir(t testing.TB, sub string) string {
	t.Helper()
	dir := os.Getenv("RDMASCOPE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	path := filepath.Join(dir, sub)
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not there", path)
	}
	return path
}

// vector is one row of the vectors/*.json.
type vector struct {
	Name     string         `json:"name"`
	LinkType int            `json:"linktype"`
	Hex      string         `json:"hex"`
	Expected map[string]any `json:"expected"`
	ICRCKind string         `json:"icrc_kind"`
}

func (v *vector) frame(t testing.TB) []byte {
	t.Helper()
	b, err := hex.DecodeString(v.Hex)
	require.NoError(t, err, v.Name)
	return b
}

// number returns an expected value that is a number, or a string with one.
func (v *vector) number(t testing.TB, key string) (n uint64, ok bool) {
	t.Helper()
	switch x := v.Expected[key].(type) {
	case nil:
		return 0, false
	case json.Number:
		n, err := strconv.ParseUint(x.String(), 10, 64)
		require.NoError(t, err, "%s %s", v.Name, key)
		return n, true
	case string:
		n, err := strconv.ParseUint(x, 0, 64)
		require.NoError(t, err, "%s %s", v.Name, key)
		return n, true
	}
	t.Fatalf("%s: %s is %T", v.Name, key, v.Expected[key])
	return 0, false
}

func loadVectors(t testing.TB, path string) []vector {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var all []vector
	d := json.NewDecoder(f)
	d.UseNumber()
	require.NoError(t, d.Decode(&all))
	require.NotEmpty(t, all)
	return all
}

// erfLink is the ERF link type: the wrapper is taken off by package pcaps.
const erfLink = 197

// vectors returns the rows of all files in testdata, ERF unwrapped.
func vectors(t testing.TB) []vector {
	t.Helper()
	var all []vector
	for _, name := range []string{"encap", "native_ib", "rocev1", "rocev2", "pfc", "cnp", "icrc", "cm"} {
		all = append(all, loadVectors(t, filepath.Join("testdata", name+".json"))...)
	}
	return unwrapERF(t, all)
}

func unwrapERF(t testing.TB, all []vector) []vector {
	t.Helper()
	for i := range all {
		if all[i].LinkType != erfLink {
			continue
		}
		b := all[i].frame(t)
		wire := int(be16(b, 14))
		b = b[16:min(16+wire, len(b))]
		all[i].Hex, all[i].LinkType = hex.EncodeToString(b), LinkInfiniBand
	}
	return all
}

// wireLen is the frame's length on the wire, more than the row has where it
// was cut.
func (v *vector) wireLen(t testing.TB) int {
	if n, ok := v.number(t, "orig_len"); ok {
		return int(n)
	}
	return len(v.Hex) / 2
}

// packetOf decodes a frame.
func packetOf(c Config, link uint16, b []byte, wire int) *Packet {
	p := &Packet{Number: 1, Time: vectorTime, Data: b, Wire: uint32(wire), Link: link}
	NewDecoder(c).Decode(p)
	return p
}

// vectorTime is close to the time that the vectors' taps stamped.
const vectorTime = 1717000000 * second

// unhex takes a byte table, in which blanks and line ends separate fields.
func unhex(t testing.TB, parts ...string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(strings.Join(parts, "")), ""))
	require.NoError(t, err)
	return b
}
