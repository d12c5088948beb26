package synth

import (
	"encoding/hex"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestImports keeps the witness independent: the standard library alone.
func TestImports(t *testing.T) {
	out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}", ".").Output()
	require.NoError(t, err)
	deps := strings.Fields(string(out))
	require.Len(t, deps, 1, "%v", deps)
	assert.True(t, strings.HasSuffix(deps[0], "pcaps/synth"))
}

// crcBits is CRC-32 bit by bit, straight from the polynomial.
func crcBits(reg uint32, b []byte) uint32 {
	for _, o := range b {
		reg ^= uint32(o)
		for range 8 {
			lsb := reg & 1
			reg >>= 1
			if lsb != 0 {
				reg ^= 0xedb88320
			}
		}
	}
	return reg
}

// TestICRC computes ICRCs the slow way: ones for the LRH, a masked copy, every
// bit.
func TestICRC(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 200 {
		p := Packet{Opcode: uint8(rng.IntN(0x18)), PSN: rng.Uint32(), DestQP: rng.Uint32(), FECN: rng.IntN(2) == 1,
			Payload: Pattern(rng.Uint32(), rng.IntN(100))}
		for _, path := range []Path{pathA, path6} {
			path.TTL, path.TOS, path.UDPChecksum = uint8(rng.Uint32()), uint8(rng.Uint32()), uint16(rng.Uint32())
			f := AppendRoCEv2(nil, &path, &p)
			m := append([]byte(nil), f[14:len(f)-4]...)
			if path.Src.Is4() {
				for _, i := range []int{1, 8, 10, 11, 26, 27, 32} {
					m[i] = 0xff
				}
			} else {
				m[0] |= 0x0f
				for _, i := range []int{1, 2, 3, 7, 46, 47, 52} {
					m[i] = 0xff
				}
			}
			reg := crcBits(0xffffffff, []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff})
			require.Equal(t, uint32(0xdebb20e3), reg)
			require.Equal(t, ^crcBits(reg, m), le.Uint32(f[len(f)-4:]))
		}
	}
}

// TestLengths holds the length of every opcode's headers against the table of
// IBTA 9.3.
func TestLengths(t *testing.T) {
	rc := [32]int{0x03: 4, 0x05: 4, 0x06: 16, 0x09: 4, 0x0a: 16, 0x0b: 20, 0x0c: 16, 0x0d: 4, 0x0f: 4, 0x10: 4,
		0x11: 4, 0x12: 12, 0x13: 28, 0x14: 28, 0x16: 4, 0x17: 4, 0x1c: 20, 0x1d: 16}
	for op := range 256 {
		want, low := 12, op&0x1f
		switch op & 0xe0 {
		case 0x00, UC:
			want += rc[low]
		case RD:
			want += rc[low] + 4
			if low < 0x0d || low > 0x12 {
				want += 8
			}
		case UD:
			want += rc[low] + 8
		case XRC:
			want += rc[low]
			if low < 0x0d || low > 0x12 {
				want += 4
			}
		default:
			want += rc[low]
		}
		if op == CongestionNotif {
			want = 12 + 16
		}
		for pad := range 4 {
			p := Packet{Opcode: uint8(op), Payload: make([]byte, 4-pad)}
			got := p.AppendTransport(nil)
			assert.Len(t, got, want+4, "opcode %#02x", op)
			assert.Equal(t, byte(pad), got[1]>>4&3)
			assert.Equal(t, len(got), p.size())
		}
	}
}

func TestAppendsDoNotAllocate(t *testing.T) {
	flow := Flow{Path: pathA, DestQP: 7, AutoID: true}
	flow6 := Flow{Path: path6, DestQP: 7}
	data := Pattern(1, 1024)
	buf := make([]byte, 0, 4096)
	seg := Segment{Flags: ACKFlag, Payload: data}
	for name, f := range map[string]func(){
		"WRITE": func() { buf = flow.Append(buf[:0], flow.WritePacket(1, 2, 3, data, 0)) },
		"IPv6":  func() { buf = flow6.Append(buf[:0], ACK(1, 2)) },
		"TCP":   func() { buf = AppendTCP(buf[:0], &flow.Path, &seg) },
		"PFC":   func() { buf = AppendPFCPriority(buf[:0], macA, 3, 9) },
	} {
		assert.Zero(t, testing.AllocsPerRun(100, f), name)
	}
}

func TestPathVariants(t *testing.T) {
	t.Run("IPv4 options", func(t *testing.T) {
		path := pathA
		path.Options = []byte{1, 1, 1, 0}
		ip := path.AppendIP(nil, ProtoUDP, 100)
		require.Len(t, ip, 24)
		assert.Equal(t, byte(0x46), ip[0])
		assert.Equal(t, uint16(124), be.Uint16(ip[2:]))
		assert.Zero(t, Checksum(0, ip))
	})
	t.Run("fragment", func(t *testing.T) {
		ip := pathA.AppendIPv4Fragment(nil, ProtoUDP, 16, 1480, true)
		assert.Equal(t, uint16(0x2000|185), be.Uint16(ip[6:]))
		assert.Zero(t, Checksum(0, ip))
	})
	t.Run("IPv6 extensions", func(t *testing.T) {
		path := path6
		path.Extensions = []Extension{{Type: 0, Body: make([]byte, 7)}, {Type: 60, Body: make([]byte, 7)}}
		ip := path.AppendIP(nil, ProtoUDP, 100)
		require.Len(t, ip, 56)
		assert.Equal(t, uint16(116), be.Uint16(ip[4:]))
		assert.Equal(t, []byte{0, 60, ProtoUDP}, []byte{ip[6], ip[40], ip[48]})
	})
	t.Run("checksum of an odd length", func(t *testing.T) {
		assert.Equal(t, ^uint16(0x0102+0x0300), Checksum(0, []byte{1, 2, 3}))
	})
}

// TestFCS uses the CRC-32 check property: over a frame with its FCS the
// register ends in a constant.
func TestFCS(t *testing.T) {
	f := FCS()(AppendPause(nil, macA, 1))
	assert.Equal(t, uint32(0xdebb20e3), crcBits(0xffffffff, f), hex.EncodeToString(f))
}

func TestShims(t *testing.T) {
	ack := AppendRoCEv2(nil, &pathA, &Packet{Opcode: Acknowledge})
	tagged := pathA
	tagged.VLANs = []VLAN{{VID: 5}}
	withTag := AppendRoCEv2(nil, &tagged, &Packet{Opcode: Acknowledge})
	for name, c := range map[string]struct {
		wrap Wrap
		in   []byte
		head string
	}{
		"VN-Tag":              {VNTag(true, 2, 17), ack, "89268002" + "0011" + "0800"},
		"SNAP":                {SNAP(), ack, "0038aaaa03000000" + "0800"},
		"SNAP behind a tag":   {SNAP(), withTag, "810000050038aaaa03000000" + "0800"},
		"MPLS behind a tag":   {MPLS(Label{Label: 16, TTL: 1}), withTag, "810000058847" + "00010101" + "45"},
		"two labels":          {MPLS(Label{Label: 1, TTL: 9}, Label{Label: 2, TC: 7, TTL: 9}), ack, "8847" + "00001009" + "00002f09" + "45"},
		"NSH":                 {NSH(pathA, 0x123456, 255, nil), ack, "894f" + "0fc2" + "0203" + "123456ff" + "e41d"},
		"Arista 48":           {Arista(AristaTAI, true, at(0x12345678, 9)), ack, "d28b0001" + "0020" + "5678" + "00000009" + "0800"},
		"GENEVE":              {GENEVE(tunnel, 42, make([]byte, 4)), ack, "0800"},
		"pseudowire, control": {Pseudowire(pathA, true, Label{Label: 3, TTL: 2}), ack, "8847" + "00003102" + "00000000" + "e41d"},
	} {
		assert.Equal(t, c.head, hex.EncodeToString(c.wrap(c.in)[12:12+len(c.head)/2]), name)
	}
	geneve := GENEVE(tunnel, 42, make([]byte, 4))(ack)
	assert.Equal(t, "17c1"+"0052"+"0000"+"01006558"+"00002a00"+"00000000"+"e41d", hex.EncodeToString(geneve[36:36+18+2]))
	assert.Equal(t, withTag, SNAP()(append(withTag, make([]byte, 1500)...))[:len(withTag)], "too long for 802.3")
	for _, e := range Encapsulations() {
		if !strings.HasPrefix(e.Name, "llc") {
			before := append([]byte(nil), ack...)
			e.Wrap(ack)
			assert.Equal(t, before, ack, "%s changes its input", e.Name)
		}
	}
}
