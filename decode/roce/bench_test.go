package roce

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// named returns the transport of one vector.
func named(t testing.TB, file, name string) carried {
	t.Helper()
	for _, v := range loadVectors(t, filepath.Join("testdata", file+".json")) {
		if v.Name == name {
			return scan(t, v)
		}
	}
	require.Fail(t, "no vector", name)
	return carried{}
}

func BenchmarkHeaders(b *testing.B) {
	for _, name := range []string{"rc_write_middle", "rc_write_first", "rc_write_only_imm", "rc_ack_unlimited", "rc_cmpswap"} {
		b.Run(name, func(b *testing.B) {
			c := named(b, "rocev2", name)
			var h Headers
			b.ReportAllocs()
			for b.Loop() {
				if h.Decode(c.transport, len(c.transport)) != nil {
					b.Fatal()
				}
			}
		})
	}
}

func BenchmarkICRC(b *testing.B) {
	for _, name := range []string{"rc_ack_unlimited", "rc_write_middle", "ipv6_rc_send_only_pad3", "4096"} {
		b.Run(name, func(b *testing.B) {
			var c carried
			if name == "4096" {
				c = named(b, "rocev2", "rc_write_middle")
				c.packet = append(c.packet, make([]byte, 4096-256)...)
			} else {
				c = named(b, "rocev2", name)
			}
			var checker ICRCChecker
			b.ReportAllocs()
			b.SetBytes(int64(len(c.packet)))
			for b.Loop() {
				checker.Check(c.carrier, c.packet, c.bth, len(c.packet))
			}
		})
	}
}
