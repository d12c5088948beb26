package synth

import (
	"bytes"
	"encoding/binary"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestReadPcap(t *testing.T) {
	s := small()
	s.Link = LinkEthernet
	s.Cut(2, 60)
	for _, o := range []PcapOptions{{Nanos: true}, {Nanos: true, Order: binary.BigEndian}} {
		var b bytes.Buffer
		require.NoError(t, s.WritePcap(&b, o))
		for n := range b.Len() { // every prefix is an error or a shorter capture
			if _, err := ReadPcap(bytes.NewReader(b.Bytes()[:n])); err == nil {
				require.GreaterOrEqual(t, n, 24)
			}
		}
		got, err := ReadPcap(&b)
		require.NoError(t, err)
		require.Equal(t, s, got)
	}
	_, err := ReadPcap(bytes.NewReader(make([]byte, 24)))
	assert.ErrorContains(t, err, "magic")
}

func TestRewrite(t *testing.T) {
	for _, path := range []Path{pathA, path6} {
		path.VLANs = []VLAN{{VID: 5}}
		p := Packet{Opcode: SendOnly, DestQP: 7, PSN: 5, AckReq: true, BECN: true, Payload: Pattern(1, 33)}
		f := AppendRoCEv2(nil, &path, &p)
		change := func(h *Headers) {
			assert.Equal(t, uint32(5), h.PSN())
			assert.Equal(t, uint32(7), h.DestQP())
			assert.Equal(t, path.SrcPort, h.SrcPort())
			assert.Len(t, h.Rest, 36)
			h.SetPSN(0xfffffe)
			h.SetDestQP(8)
			h.SetSrcPort(4)
		}
		got, ok := Rewrite(f, LinkEthernet, change)
		require.True(t, ok)
		p.PSN, p.DestQP, path.SrcPort = 0xfffffe, 8, 4
		want := AppendRoCEv2(nil, &path, &p)
		require.Equal(t, want, got)

		path.SrcPort = pathA.SrcPort
		bad := append([]byte(nil), f...)
		bad[len(bad)-1] ^= 0x55
		got, _ = Rewrite(bad, LinkEthernet, change)
		want[len(want)-1] ^= 0x55
		require.Equal(t, want, got, "a bad ICRC stays as bad")

		for n := range f { // cut anywhere: no panic, and no ICRC made up
			Rewrite(f[:n], LinkEthernet, func(h *Headers) { h.SetPSN(1) })
		}
	}
	_, ok := Rewrite(AppendPause(nil, macA, 1), LinkEthernet, func(*Headers) { t.Error("called") })
	assert.False(t, ok)
}

// TestRewriteCapture shifts every PSN of a real capture and back.
func TestRewriteCapture(t *testing.T) {
	s, err := LoadPcap(filepath.Join("..", "testdata", "rxe_mixed_ops_q4.pcap.gz"))
	require.NoError(t, err)
	mads := 0
	shifted := s.Rewritten(func(h *Headers) {
		if h.MAD() != nil {
			mads++
		}
		h.SetPSN(h.PSN() + 0x800000)
	})
	assert.NotEqual(t, s, shifted)
	assert.Positive(t, mads)
	for i := range shifted.Frames {
		require.GreaterOrEqual(t, checkICRC(shifted.Frames[i].Data, LinkEthernet), 0, "frame %d", i)
	}
	assert.Equal(t, s, shifted.Rewritten(func(h *Headers) { h.SetPSN(h.PSN() - 0x800000) }))
}
