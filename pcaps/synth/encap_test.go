package synth

import (
	"encoding/hex"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tunnel is the outer path of the vectors.
var tunnel = Path{
	SrcMAC: macA, DstMAC: macB, ID: 0x1234, SrcPort: 54321,
	Src: netip.MustParseAddr("198.51.100.1"), Dst: netip.MustParseAddr("198.51.100.2"),
}

func at(sec, nsec uint32) func() (uint32, uint32) {
	return func() (uint32, uint32) { return sec, nsec }
}

func TestEncapVectors(t *testing.T) {
	inner := AppendRoCEv2(nil, &pathA, &Packet{
		Opcode: Acknowledge, MigReq: true, DestQP: 1110, PSN: 268, Syndrome: SyndromeACK, MSN: 9,
	})
	three := ERSPAN{VLAN: 100, COS: 3, Session: 42, Timestamp: 0x89abcdef, SGT: 0x1111, Hardware: 3, Direction: 1, Protocol: true}
	utc, upper, bare := three, three, three
	utc.Timestamp, utc.Granularity = 123456789, 2
	utc.Platform = platform(5<<26|0x155<<16|66, 1717000000)
	upper.Platform = platform(3<<26|66<<0, 23)
	bare.Granularity, bare.Protocol = 3, false
	fcs := [4]byte{0xde, 0xad, 0xbe, 0xef}
	key := uint32(5)
	when := at(1717000000, 123456789)
	wraps := map[string]Wrap{
		"erspan_I_rocev2":          ERSPAN1(tunnel),
		"erspan_II_rocev2":         ERSPAN2(tunnel, 77, ERSPAN{VLAN: 100, COS: 3, Encap: 3, Session: 42, Index: 0x12345}),
		"erspan_III_rocev2":        ERSPAN3(tunnel, GRE{Sequence: true, Seq: 78}, three),
		"erspan_III_plat5_utc":     ERSPAN3(tunnel, GRE{Sequence: true, Seq: 79}, utc),
		"erspan_III_plat3_upper32": ERSPAN3(tunnel, GRE{Sequence: true, Seq: 80}, upper),
		"erspan_III_no_gre_seq":    ERSPAN3(tunnel, GRE{}, bare),
		"gre_teb_rocev2":           GREEthernet(tunnel, GRE{Key: &key}),
		"vxlan_rocev2":             VXLAN(tunnel, 0x123456),
		"mpls_ipv4_rocev2":         MPLS(Label{Label: 1000, TC: 5, TTL: 64}),
		"arista_d28b_64bit_utc":    Arista(AristaUTC, false, when),
		"metamako_trailer":         Metamako(Trailer{Now: when, Device: 0x102, Port: 7, Flags: 1, FCS: &fcs}),
		"exablaze_trailer":         Exablaze(Trailer{Now: at(1717000000, 500000000), Device: 9, Port: 3, FCS: &fcs}),
		"rc_ack_with_ethernet_fcs": FCS(),
	}
	for _, v := range vectors(t, "encap") {
		w, ok := wraps[v.Name]
		if !ok {
			require.Equal(t, "rc_write_first_snaplen96", v.Name)
			path := pathA
			whole := AppendRoCEv2(nil, &path, &Packet{Opcode: WriteFirst, MigReq: true, DestQP: 0x123, PSN: 0x107,
				VA: 0x7f3a10002000, RKey: 0x1a2b3c, DMALen: 600, Payload: counting(256)})
			require.Len(t, whole, int(v.num("orig_len")))
			assert.Equal(t, v.Hex, hex.EncodeToString(whole[:96]), v.Name)
			continue
		}
		assert.Equal(t, v.Hex, hex.EncodeToString(w(inner)), v.Name)
	}
}

// platform is an ERSPAN III subheader.
func platform(word, info uint32) []byte { return be.AppendUint32(be.AppendUint32(nil, word), info) }

func counting(n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}
