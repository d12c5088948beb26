package main

import (
	"errors"
	"io"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/net/bpf"

	"rdmascope/decode/wire"
	"rdmascope/pcaps"
	"rdmascope/pcaps/live"
	"rdmascope/pcaps/synth"
)

// passes runs a filter as the kernel does.
func passes(t *testing.T, name string) func(frame []byte) bool {
	t.Helper()
	f, err := live.Preset(name, 4999)
	require.NoError(t, err)
	return runner(t, f)
}

func runner(t *testing.T, f *live.Filter) func(frame []byte) bool {
	t.Helper()
	program, ok := bpf.Disassemble(f.Program())
	require.True(t, ok)
	vm, err := bpf.NewVM(program)
	require.NoError(t, err)
	return func(frame []byte) bool {
		n, err := vm.Run(frame)
		require.NoError(t, err)
		return n > 0
	}
}

// eachFrame calls f with every Ethernet frame of a capture and what it is.
func eachFrame(t *testing.T, path string, f func(p *wire.Packet)) {
	t.Helper()
	files, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer files.Close()
	d := wire.NewDecoder(wire.Config{SkipICRC: true})
	for {
		buf, recs, err := files.ReadBlock(nil, nil)
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		for _, r := range recs {
			if r.Link != wire.LinkEthernet {
				return
			}
			p := wire.Packet{Data: buf[r.Off : r.Off+r.Cap], Wire: r.Wire, Link: r.Link}
			d.Decode(&p)
			f(&p)
		}
	}
}

// wantedBy tells which kinds of packets a preset must let pass.
func wantedBy(preset string, k wire.Kind) bool {
	switch k {
	case wire.KindPFC, wire.KindPause, wire.KindLLDP:
		return true
	case wire.KindRoCEv1, wire.KindRoCEv2:
		return preset == "rdma" || preset == "roce"
	case wire.KindTCP:
		return preset == "rdma" || preset == "iwarp"
	}
	return false
}

// TestPresetsOnCaptures: of plain frames, a preset takes exactly the kinds
// that it is for.
func TestPresetsOnCaptures(t *testing.T) {
	paths, err := filepath.Glob(filepath.Join("..", "..", "pcaps", "testdata", "*.pcap*"))
	require.NoError(t, err)
	require.NotEmpty(t, paths)
	for _, preset := range []string{"rdma", "roce", "iwarp", "pfc"} {
		pass := passes(t, preset)
		taken, left := 0, 0
		for _, path := range paths {
			eachFrame(t, path, func(p *wire.Packet) {
				want := wantedBy(preset, p.Kind)
				if want {
					taken++
				} else {
					left++
				}
				hidden := preset != "pfc" && p.IPVersion == 6 && p.Has(wire.FlagIPOptions) // behind extension headers
				if got := pass(p.Data); got != want && !(got && hidden) {
					require.Failf(t, "wrong", "%s, %s: %v frame % x…", preset, filepath.Base(path), p.Kind, p.Data[:min(48, len(p.Data))])
				}
			})
		}
		assert.Positive(t, taken, preset)
		assert.Positive(t, left, preset)
	}
}

// TestPresetsInTunnels: RoCE passes in whatever it is wrapped, and other
// traffic doesn't where the filter looks inside.
func TestPresetsInTunnels(t *testing.T) {
	path := &synth.Path{SrcMAC: synth.MAC{2, 0, 0, 0, 0, 1}, DstMAC: synth.MAC{2, 0, 0, 0, 0, 2},
		Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2"), SrcPort: 50000}
	path6 := *path
	path6.Src, path6.Dst = netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("2001:db8::2")
	tagged := *path
	tagged.VLANs = []synth.VLAN{{TPID: 0x88a8, VID: 5}, {TPID: 0x8100, VID: 100, PCP: 3}}
	rdma, roce, pfc := passes(t, "rdma"), passes(t, "roce"), passes(t, "pfc")
	looksInto := map[string]bool{"vxlan": true, "vxlan over IPv6": true, "vxlan on port 8472": true, "geneve": true, "geneve with options": true,
		"gre ethernet": true, "gre ethernet with all fields": true, "erspan I": true, "erspan II": true,
		"erspan III": true, "erspan III without sequence": true, "metamako": true, "metamako and fcs": true, "exablaze": true, "exablaze and fcs": true, "fcs": true}
	for _, p := range []*synth.Path{path, &path6, &tagged} {
		packet := &synth.Packet{Opcode: 4, DestQP: 17, PSN: 1, Payload: make([]byte, 64)}
		frame := synth.AppendRoCEv2(nil, p, packet)
		other := append([]byte(nil), frame...)
		port := strings.Index(string(other), "\x12\xb7") // 4791
		require.Positive(t, port)
		other[port], other[port+1] = 0x13, 0x89 // 5001
		assert.True(t, rdma(frame))
		assert.False(t, rdma(other))
		for _, e := range synth.Encapsulations() {
			if e.Link != synth.LinkEthernet {
				continue
			}
			wrapped := e.Wrap(append([]byte(nil), frame...))
			assert.True(t, rdma(wrapped), "%s: RoCE", e.Name)
			assert.True(t, roce(wrapped), "%s: RoCE", e.Name)
			assert.False(t, pfc(wrapped), "%s: RoCE", e.Name)
			if looksInto[e.Name] {
				assert.False(t, rdma(e.Wrap(append([]byte(nil), other...))), "%s: other traffic", e.Name)
			}
		}
	}
	further := append([]byte(nil), synth.AppendRoCEv2(nil, path, &synth.Packet{Opcode: 4, DestQP: 17})...)
	i := strings.Index(string(further), "\x12\xb7")
	further[i], further[i+1] = 4999>>8, 4999&0xff
	assert.True(t, rdma(further), "a further port")
	assert.False(t, passes(t, "iwarp")(further))
}

func TestParseDDD(t *testing.T) {
	// tcpdump -ddd 'udp dst port 4791', an Ethernet interface.
	const program = "11\n40 0 0 12\n21 0 8 2048\n48 0 0 23\n21 0 6 17\n40 0 0 20\n69 4 0 8191\n177 0 0 14\n72 0 0 16\n21 0 1 4791\n6 0 0 262144\n6 0 0 0\n"
	f, err := live.ParseDDD(strings.NewReader(program))
	require.NoError(t, err)
	require.Len(t, f.Program(), 11)
	pass := runner(t, f)
	path := &synth.Path{Src: netip.MustParseAddr("192.0.2.1"), Dst: netip.MustParseAddr("192.0.2.2")}
	assert.True(t, pass(synth.AppendRoCEv2(nil, path, &synth.Packet{Opcode: 4})))
	assert.False(t, pass(make([]byte, 60)))

	if tcpdump, err := exec.LookPath("tcpdump"); err == nil {
		out, err := exec.Command(tcpdump, "-ddd", "-y", "EN10MB", "udp dst port 4791 or vlan").Output()
		if err == nil { // without rights it may refuse
			f, err := live.ParseDDD(strings.NewReader(string(out)))
			require.NoError(t, err)
			assert.NotEmpty(t, f.Program())
		}
	}

	for _, tt := range []struct{ text, want string }{
		{"", "line 0: not the number of instructions"},
		{"x", "line 1: not the number of instructions"},
		{"0\n", "line 1: not the number of instructions"},
		{"4097\n", "line 1: not the number of instructions"},
		{"2\n6 0 0 0\n", "ends after 1 of 2 instructions"},
		{"1\n6 0 0\n", "line 2: not an instruction of tcpdump -ddd"},
		{"1\n6 0 256 0\n", "line 2: not an instruction of tcpdump -ddd"},
		{"1\n6 0 0 0\n6 0 0 0\n", "line 3: more than 1 instructions"},
	} {
		_, err := live.ParseDDD(strings.NewReader(tt.text))
		assert.ErrorContains(t, err, tt.want, "%q", tt.text)
	}
}
