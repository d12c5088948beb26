package filter

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// TestQuickEqualsTree wants the values read from the decoded packet to be those
// of the tree, field by field, and the guards to keep no packet out that has
// the field.
func TestQuickEqualsTree(t *testing.T) {
	seen := map[string]int{}
	shared := os.Getenv("RDMASCOPE_SHARED")
	if shared == "" {
		shared = "../../../shared"
	}
	for _, pattern := range []string{"../../pcaps/testdata/*.pcap*", filepath.Join(shared, "captures-public", "*.*")} {
		paths, err := filepath.Glob(pattern)
		require.NoError(t, err)
		for _, path := range paths {
			src, err := pcaps.Open([]string{path}, pcaps.Options{})
			if err != nil {
				continue
			}
			n, every := 0, 1
			if filepath.Base(filepath.Dir(path)) == "testdata" {
				every = 97 // there are thousands of the same
			}
			require.NoError(t, analysis.Packets(src, wire.Config{}, func(p *wire.Packet) bool {
				if n++; n%every == 0 || n < 40 {
					compareQuick(t, p, seen)
				}
				return !t.Failed()
			}))
			require.NoError(t, src.Close())
			require.False(t, t.Failed(), path)
		}
	}
	for _, name := range []string{"ip.src", "ipv6.src", "vlan.id", "infiniband.aeth.syndrome.error_code", "infiniband.reth.va",
		"macc.cbfc.enbv.c3", "tcp.flags", "octets of ip", "octets of ipv6", "octets of tcp", "octets of infiniband.bth",
		"infiniband.cm.req.serviceid"} {
		assert.NotZero(t, seen[name], "%s was never compared", name)
	}
}

func compareQuick(t *testing.T, p *wire.Packet, seen map[string]int) {
	f, err := CompilePacket("frame")
	require.NoError(t, err)
	e := &f.env
	e.p = p
	for name, fld := range packetFields() {
		want := treeValues(e, fld)
		if want == nil || p.Stop.Reason == wire.ReasonCut || p.Stop.Reason.Malformed() {
			continue
		}
		f.m.deep = repeats(p)
		got := fld.values(&f.m, nil)
		if !slices.Equal(want, got) {
			assert.Equal(t, want, got, "%s of packet %d: %s", name, p.Number, wire.Summary(p))
		}
		seen[name] += len(got)
	}
	for name := range headerAt() {
		var want [][]byte
		each(e.nodes(), name, func(n *wire.Node) { want = append(want, octetsOf(p, n)) })
		if got := packetFields()[name].exact(e, nil); p.Stop.Reason == wire.ReasonNone && !slices.EqualFunc(want, got, bytes.Equal) {
			assert.Equal(t, want, got, "%s of packet %d: %s", name, p.Number, wire.Summary(p))
		}
		seen["octets of "+name] += len(want)
	}
	for name, is := range present() {
		if p.Stop.Reason != wire.ReasonNone || name == "infiniband.xrceth" || name == "infiniband.rdeth" {
			continue
		}
		_, ok := wire.Find(e.nodes(), name)
		assert.Equal(t, ok, is(p) || repeats(p) && ok, "%s of packet %d: %s", name, p.Number, wire.Summary(p))
	}
}

// treeValues reads a field from the tree alone; nil: it isn't one of the tree's.
func treeValues(e *packetEnv, f *packetField) []num {
	if !f.Type.numeric() || guardOf(f.Name) == nil || !treeNames[f.Name] {
		return nil
	}
	all := treeNums(func(*wire.Packet) bool { return true }, f.Type, nil, f.Name)
	return append([]num{}, all(e, nil)...)
}

var treeNames = func() map[string]bool {
	m := map[string]bool{}
	for _, name := range wire.FieldNames() {
		m[name] = true
	}
	return m
}()

// TestEveryTreeFieldIsKnown wants every field of a tree to be a name that filters
// know, with a meaning.
func TestEveryTreeFieldIsKnown(t *testing.T) {
	for name := range treeNames {
		if f := packetFields()[name]; assert.NotNil(t, f, "%s is missing", name) {
			assert.NotEmpty(t, f.Doc, name)
		}
	}
	for name, f := range packetFields() {
		assert.Equal(t, name, f.Name)
		switch {
		case f.Type == TypeText:
			assert.NotNil(t, f.texts, name)
		case f.Type.numeric():
			assert.True(t, f.all != nil, name)
		default:
			assert.NotNil(t, f.octets, name)
		}
	}
}

// TestQuickTermsFirst wants expr to run only for what the other terms of an AND
// let pass, wherever they are written.
func TestQuickTermsFirst(t *testing.T) {
	p := &wire.Packet{Data: make([]byte, 64), Wire: 64}
	for expr, runs := range map[string]bool{
		"frame.len + 1 == 65":                                true,
		"frame.len + 1 == 65 && tcp":                         false,
		"tcp && frame.len + 1 == 65":                         false,
		"frame.len + 1 == 65 && frame.len == 64 && tcp":      false,
		"frame.len + 1 == 65 && frame.len == 64":             true,
		"(frame.len + 1 == 65 || ip) && (tcp or udp)":        false,
		"not frame.len + 1 == 65 && frame && !(frame || ip)": false,
		"frame.len == 60 + 4":                                false, // there is nothing to run
		"64 == (frame.len)":                                  false,
	} {
		f, err := CompilePacket(expr)
		require.NoError(t, err, expr)
		f.Match(p)
		assert.Equal(t, runs, f.m.vm != nil, expr)
	}
}
