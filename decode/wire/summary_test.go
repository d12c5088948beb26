package wire

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestSummary(t *testing.T) {
	rc := func(bth string, more ...string) string {
		s := macs + "0800 4500 0000 1234 4000 40 11 0000 0a4d0001 0a4d0002 c000 12b7 0000 0000 " + bth
		for _, m := range more {
			s += m
		}
		return s
	}
	for _, c := range []struct{ frame, want string }{
		{rc("06 00 ffff 00 000019 00 1a0b0a", "00007f3a10002000 001a2b3c 00001000", zeros(256), icrcNone),
			"RC RDMA Write First  QP 0x000019 PSN 1706762 VA 0x7f3a10002000 R_Key 0x001a2b3c length 4096 payload 256"},
		{rc("05 00 ffff 00 000019 80 000001", "deadbeef", icrcNone), "RC Send Only Immediate  QP 0x000019 PSN 1 Imm 0xdeadbeef AckReq"},
		{rc("17 00 ffff 00 000019 00 000001", "deadbeef", icrcNone), "RC Send Only Invalidate  QP 0x000019 PSN 1 invalidates 0xdeadbeef"},
		{rc("11 00 ffff 00 000019 00 000001", "1f000007", icrcNone), "RC Acknowledge  QP 0x000019 PSN 1 ACK MSN 7"},
		{rc("11 00 ffff 00 000019 00 000001", "06000007", icrcNone), "RC Acknowledge  QP 0x000019 PSN 1 ACK credits 8 MSN 7"},
		{rc("11 00 ffff 00 000019 00 000001", "60000007", icrcNone), "RC Acknowledge  QP 0x000019 PSN 1 NAK PSN sequence error MSN 7"},
		{rc("11 00 ffff 00 000019 00 000001", "2c000007", icrcNone), "RC Acknowledge  QP 0x000019 PSN 1 RNR NAK timer 0.64 ms MSN 7"},
		{rc("11 00 ffff 00 000019 00 000001", "20000007", icrcNone), "RC Acknowledge  QP 0x000019 PSN 1 RNR NAK timer 655.36 ms MSN 7"},
		{rc("81 00 ffff 40 000019 00 000000", zeros(16), icrcNone), "CNP  QP 0x000019 PSN 0"},
		{rc("64 00 ffff 00 000022 00 000003", "11111111 00000024", icrcNone), "UD Send Only  QP 0x000022 PSN 3 from QP 0x000024"},
		{rc("9f 00 ffff 00 000019 00 000000", icrcNone), "Unknown (0x9f)  QP 0x000019 PSN 0 [bth: unknown]"},
		{"0180c2000001 525400770001 8808 0101 0048 0000 0000 0000 ffff 0000 0000 0000 0000", "PFC prio 3: 65535 quanta prio 6: 0 quanta"},
		{"0180c2000001 525400770001 8808 0001 ffff" + zeros(42), "PAUSE 65535 quanta"},
		{macs + "0800 4500 0028 0000 4000 40 06 0000 0a4d0001 0a4d0002 1234 4823 00000001 00000002 50 12 ffff 0000 0000", "4660 → 18467 [SYN, ACK] Seq 1 Ack 2 Win 65535 Len 0"},
		{macs + "0800 4500 0020 0000 4000 40 11 0000 0a4d0001 0a4d0002 1234 0035 000c 0000 00000000", "4660 → 53 Len 4"},
		{macs + "0800 4500 0014 0000 4000 40 01 0000 0a4d0001 0a4d0002", "ICMP"},
		{macs + "0806" + zeros(28), "ARP"},
		{macs + "88cc" + zeros(28), "LLDP"},
		{macs + "1234" + zeros(28), "EtherType 0x1234"},
		{macs + "0800 55", "IPv4 [ipv4: short]"},
	} {
		assert.Equal(t, c.want, Summary(decodeHex(t, LinkEthernet, c.frame)))
	}
	ce := decodeHex(t, LinkEthernet, macs, "0800 4503", ip4ACK[4:], udpACK, bthACK, aethACK, icrcNone)
	assert.Equal(t, "RC Acknowledge  QP 0x000013 PSN 1706762 ACK MSN 5 CE", Summary(ce))
	b := unhex(t, macs, "0800", ackBody)
	assert.Contains(t, Summary(packetOf(Config{}, LinkEthernet, b, len(b))), "[iCRC bad]")
	b = mergedFrame(t, false, middle(t, 1, 256), middle(t, 2, 256))
	assert.Contains(t, Summary(packetOf(Config{}, LinkEthernet, b, len(b))), "[merged by receive offload: 2 packets]")
}

func TestTCPChecksum(t *testing.T) {
	build := func(v6 bool, payload int) []byte {
		head := macs + "0800 4500 0000 0000 4000 40 06 0000 0a4d0001 0a4d0002"
		if v6 {
			head = macs + "86dd 60000000 0000 06 40 fd770000000000000000000000000001 fd770000000000000000000000000002"
		}
		b := unhex(t, head, "1234 4823 00000001 00000002 50 12 ffff 0000 0000")
		for i := range payload {
			b = append(b, byte(i*7+1))
		}
		if v6 {
			binary.BigEndian.PutUint16(b[18:], uint16(len(b)-54))
		} else {
			binary.BigEndian.PutUint16(b[16:], uint16(len(b)-14))
		}
		return b
	}
	for _, v6 := range []bool{false, true} {
		for n := range 9 {
			b := build(v6, n)
			from := 34
			if v6 {
				from = 54
			}
			// Octet by octet, as RFC 9293 §3.1 has it.
			var pseudo uint32
			addrs := b[26:34]
			if v6 {
				addrs = b[22:54]
			}
			for i, x := range addrs {
				pseudo += uint32(x) << (8 * (1 - i%2))
			}
			pseudo += uint32(6 + len(b) - from)
			total := pseudo
			for i, x := range b[from:] {
				total += uint32(x) << (8 * (1 - i%2))
			}
			carry := func(v uint32) uint16 {
				for v > 0xffff {
					v = v>>16 + v&0xffff
				}
				return uint16(v)
			}
			check := func(sum uint16) CheckState {
				binary.BigEndian.PutUint16(b[from+16:], sum)
				return packetOf(Config{}, LinkEthernet, b, len(b)).TCPChecksum()
			}
			assert.Equal(t, CheckOK, check(^carry(total)))
			assert.Equal(t, CheckBad, check(^carry(total)+1))
			assert.Equal(t, CheckPartial, check(carry(pseudo)))
			p := packetOf(Config{}, LinkEthernet, b[:len(b)-1], len(b))
			assert.Equal(t, CheckNone, p.TCPChecksum(), "cut")
		}
	}
}

// TestNamed has what is recognised by name and not looked into.
func TestNamed(t *testing.T) {
	udp := func(port, payload string) *Packet {
		return decodeHex(t, LinkEthernet, macs, "0800 4500 0000 0000 4000 40 11 0000 0a4d0001 0a4d0002 c000", port, "0000 0000", payload)
	}
	p := udp("1efc", zeros(12)+macs+"0800"+ackBody)
	assert.Equal(t, EncapHPERM, p.Encap.Kinds[0])
	assert.Equal(t, Stop{LayerTapHeader, ReasonUnknown}, p.Stop)
	p = udp("1efc", zeros(80))
	assert.Zero(t, p.Encap.N, "something else on that port")
	assert.Zero(t, p.Stop)
	p = udp("22b0", zeros(54)+"a5a5a5a5")
	assert.Equal(t, EncapERSPANMarker, p.Encap.Kinds[0])
	assert.Zero(t, p.Stop)
	p = udp("22b0", zeros(58))
	assert.Zero(t, p.Encap.N)
	for k := EncapKind(1); int(k) < EncapCount; k++ {
		assert.NotEmpty(t, k.String())
	}
	for l := Layer(1); int(l) < LayerCount; l++ {
		assert.NotEmpty(t, l.String())
	}
}

// TestTreeOfVectors: the iCRC's verdict and the VCRC's are in the tree, and all
// that the decoder saw is there at its place.
func TestTreeOfVectors(t *testing.T) {
	for _, v := range vectors(t) {
		p := packetOf(Config{}, uint16(v.LinkType), v.frame(t), v.wireLen(t))
		tree := Tree(p)
		if want, ok := v.number(t, "icrc"); ok {
			n, ok := Find(tree, "infiniband.invariant.crc")
			require.True(t, ok, v.Name)
			assert.Equal(t, want, n.Raw, v.Name)
			assert.Contains(t, n.Value, "("+p.ICRC.String()+")", v.Name)
		}
		if want, ok := v.number(t, "vcrc"); ok {
			n, ok := Find(tree, "infiniband.variant.crc")
			require.True(t, ok, v.Name)
			assert.Equal(t, want, n.Raw, v.Name)
			assert.Contains(t, n.Value, "(ok)", v.Name)
		}
		for name, key := range map[string]string{
			"erspan.index": "er_index", "erspan.timestamp": "er_ts", "erspan.pid5.timestamp": "er_p5_sec", "erspan.pid3.timestamp": "er_p3_up",
			"erspan.sgt": "er_sgt", "erspan.gra": "er_gra", "gre.sequence_number": "gre_seq", "vxlan.vni": "vni", "mpls.exp": "mpls_exp",
			"metamako.srcdevice": "mm_dev", "exablaze.device": "ex_dev", "infiniband.lrh.pktlen": "pktlen", "infiniband.lrh.sl": "lrh_sl",
			"infiniband.grh.flowlabel": "grh_flow", "macc.cbfc.enbv": "cev", "macc.cbfc.pause_time.c3": "q3",
		} {
			if want, ok := v.number(t, key); ok {
				n, ok := Find(tree, name)
				require.True(t, ok, "%s %s", v.Name, name)
				assert.Equal(t, want, n.Raw, "%s %s", v.Name, name)
			}
		}
	}
}
