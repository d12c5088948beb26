package roce

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// slowICRC is the definition, straight: eight bytes of ones or the LRH, the
// variant fields replaced, one CRC over a copy.
func slowICRC(c Carrier, pkt []byte, bth int) uint32 {
	b := append([]byte{}, pkt...)
	ones := func(at ...int) {
		for _, i := range at {
			b[i] = 0xff
		}
	}
	grh := func(at int) {
		b[at] |= 0x0f
		ones(at+1, at+2, at+3, at+7)
	}
	ones(bth + 4)
	prefix := bytes.Repeat([]byte{0xff}, 8)
	switch c {
	case CarrierIPv4:
		ones(1, 8, 10, 11, bth-2, bth-1)
	case CarrierIPv6:
		grh(0)
		ones(bth-2, bth-1)
	case CarrierGRH:
		grh(0)
	case CarrierLRH:
		prefix = nil
		b[0] |= 0xf0
	case CarrierLRHGRH:
		prefix = nil
		ones(0, 1, 2, 3, 4, 5, 6, 7)
		grh(8)
	}
	return crc32.ChecksumIEEE(append(prefix, b...))
}

// Random packets of every length up to beyond the sizes at which the sum takes
// another way.
func TestICRCDefinition(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var checker ICRCChecker
	for k, bths := range map[Carrier][]int{
		CarrierIPv4: {28, 32, 68, icrcHeaders - BTHLen}, CarrierIPv6: {48, 56, 100}, CarrierGRH: {40}, CarrierLRH: {8}, CarrierLRHGRH: {48},
	} {
		for _, bth := range bths {
			for n := bth + BTHLen; n < 4200; n++ {
				if n == 400 {
					n = 4180
				}
				pkt := make([]byte, n+ICRCLen)
				for i := range pkt {
					pkt[i] = byte(r.Uint32())
				}
				want := slowICRC(k, pkt[:n], bth)
				sum, ok := checker.Sum(k, pkt[:n], bth)
				require.True(t, ok)
				require.Equal(t, want, sum, "carrier %d bth %d length %d", k, bth, n)
				binary.LittleEndian.PutUint32(pkt[n:], want)
				require.Equal(t, ICRCOK, checker.Check(k, pkt, bth, len(pkt)))
				pkt[n] ^= 1
				require.Equal(t, ICRCBad, checker.Check(k, pkt, bth, len(pkt)))
			}
		}
	}
}

// Each single bit of a packet is either covered or variant.
func TestICRCBits(t *testing.T) {
	for _, name := range []struct{ file, name string }{
		{"rocev2", "rc_write_only"}, {"rocev2", "ipv6_rc_send_only_pad3"}, {"rocev1", "rocev1_vlan_send_only"},
		{"native_ib", "ibn_rc_ack"}, {"native_ib", "ibn_grh_rc_write_only"},
	} {
		c := named(t, name.file, name.name)
		variant := 0
		var checker ICRCChecker
		for bit := range len(c.packet) * 8 {
			c.packet[bit/8] ^= 0x80 >> (bit % 8)
			if checker.Check(c.carrier, c.packet, c.bth, len(c.packet)) == ICRCOK {
				variant++
			}
			c.packet[bit/8] ^= 0x80 >> (bit % 8)
		}
		// TOS 8, TTL 8, two checksums 32 | class 8, label 20, hops 8, checksum 16 |
		// class 8, label 20, hops 8 | VL 4 | LRH 64, class 8, label 20, hops 8;
		// and the eight bits with FECN and BECN in all of them.
		want := map[Carrier]int{CarrierIPv4: 48, CarrierIPv6: 52, CarrierGRH: 36, CarrierLRH: 4, CarrierLRHGRH: 100}[c.carrier]
		assert.Equal(t, want+8, variant, name.name)
	}
}

func TestICRCBounds(t *testing.T) {
	c := named(t, "rocev2", "rc_ack_unlimited")
	var checker ICRCChecker
	n := len(c.packet)
	assert.Equal(t, ICRCOK, checker.Check(c.carrier, append(c.packet[:n:n], 1, 2, 3, 4), c.bth, n), "an FCS behind it")
	for _, k := range []Carrier{CarrierIPv4, CarrierIPv6, CarrierGRH, CarrierLRH, CarrierLRHGRH, 5, 255} {
		for bth := -3; bth < 300; bth++ {
			for _, wire := range []int{-1, 0, 3, 4, 15, 16, n - 1, n, n + 1, 1 << 30} {
				checker.Check(k, c.packet, bth, wire)
				checker.Check(k, nil, bth, wire)
				checker.Check(k, make([]byte, 300), bth, 300)
			}
		}
	}
	assert.Equal(t, ICRCUncheckable, checker.Check(9, c.packet, c.bth, n))
	assert.Equal(t, ICRCUncheckable, checker.Check(CarrierIPv4, c.packet, 19, n))
	assert.Equal(t, ICRCUncheckable, checker.Check(CarrierIPv4, c.packet, n-8, n))
	for s, want := range map[ICRCState]string{ICRCOK: "ok", ICRCBad: "bad", ICRCUncheckable: "not checkable"} {
		assert.Equal(t, want, s.String())
	}
}

func TestVCRC(t *testing.T) {
	// One bit at a time, with the polynomial as the specification writes it.
	slow := func(pkt []byte) uint16 {
		r := uint16(0xffff)
		for _, b := range pkt {
			for i := range 8 {
				in := (b>>i&1 != 0) != (r&0x8000 != 0)
				r <<= 1
				if in {
					r ^= 0x100b
				}
			}
		}
		var reflected uint16
		for i := range 16 {
			reflected |= r >> i & 1 << (15 - i)
		}
		return ^reflected
	}
	for _, pkt := range [][]byte{nil, {0}, {1, 2, 3}, bytes.Repeat([]byte{0xa5}, 300)} {
		assert.Equal(t, slow(pkt), VCRCSum(pkt))
	}
}
