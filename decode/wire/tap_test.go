package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
)

// A stamp of 1717000000.123456789 and its parts.
const (
	stampNS  = 1717000000*second + 123456789
	stampHex = "66575740 075bcd15"
	origFCS  = "deadbeef"
	newFCS   = "12345678"
)

func TestTapTrailers(t *testing.T) {
	ack := macs + "0800" + ackBody
	// A TCP acknowledgement, padded to 60 octets: the trailer comes after that.
	short := macs + "0800 4500 0028 0000 4000 40 06 0000 0a4d0001 0a4d0002 1234 4823 00000001 00000002 50 10 ffff 0000 0000" + "000000000000"
	arp := macs + "0806 0001 0800 06 04 0001 525400770001 0a4d0001 000000000000 0a4d0002" + zeros(18)
	for _, c := range []struct {
		name, trailer string
		kind          EncapKind // 0: none is found
		ns            int64
	}{
		{"nothing", "", EncapNone, 0},
		{"FCS", newFCS, EncapNone, 0},
		{"metamako", origFCS + stampHex + "01 0102 07", EncapMetamako, stampNS},
		{"metamako and FCS", origFCS + stampHex + "01 0102 07" + newFCS, EncapMetamako, stampNS},
		{"metamako with sequence number", origFCS + "00000001 00000060" + stampHex + "03 0102 07", EncapMetamako, stampNS},
		{"metamako with two extensions", origFCS + "00000001 00000060 abcdef00 00000041" + stampHex + "03 0102 07" + newFCS, EncapMetamako, stampNS},
		{"metamako with long extension", origFCS + "61626364 65666768 0000007f" + stampHex + "03 0102 07", EncapMetamako, stampNS},
		{"metamako, extension beyond the trailer", origFCS + "0000ffff" + stampHex + "03 0102 07", EncapNone, 0},
		{"metamako, unknown flags", origFCS + stampHex + "81 0102 07", EncapNone, 0},
		{"metamako, no nanoseconds", origFCS + "66575740 ffffffff" + "01 0102 07", EncapNone, 0},
		{"metamako, a year off", origFCS + "64768dc0 075bcd15" + "01 0102 07", EncapNone, 0},
		{"exablaze", origFCS + "09 03 66575740 8000000000 00", EncapExablaze, 1717000000*second + second/2},
		{"exablaze and FCS", origFCS + "09 03 66575740 8000000000 00" + newFCS, EncapExablaze, 1717000000*second + second/2},
		{"exablaze, last nanosecond", origFCS + "09 03 66575740 ffffffffff 00", EncapExablaze, 1717000000*second + second - 1},
		{"exablaze, a year off", origFCS + "09 03 64768dc0 8000000000 00", EncapNone, 0},
		{"VSS", stampHex, EncapVSS, 0},
		{"VSS and port", stampHex + "0102", EncapVSS, 0},
	} {
		for base, frame := range map[string]string{"ack": ack, "padded": short, "arp": arp} {
			t.Run(c.name+"/"+base, func(t *testing.T) {
				if c.kind == EncapVSS && base != "ack" {
					t.Skip("only where the trailer follows at once")
				}
				b := unhex(t, frame, c.trailer)
				p := packetOf(Config{SkipICRC: true}, LinkEthernet, b, len(b))
				assert.Zero(t, p.Stop, p.Stop.String())
				assert.Equal(t, c.trailer != "", p.Has(FlagTrailer))
				assert.Equal(t, c.kind == EncapNone, p.Encap.N == 0)
				assert.Equal(t, c.kind, p.Encap.Kinds[0])
				assert.Equal(t, c.ns != 0, p.Has(FlagTapTime))
				assert.Equal(t, c.ns, p.TrailerNS)
				if base == "ack" {
					assert.Equal(t, uint32(20), p.TransLen, "no trailer is taken for payload")
					assert.Equal(t, roce.MSN(5), p.RoCE.AETH.MSN)
				}
				tree := Tree(p)
				for _, name := range map[EncapKind][]string{
					EncapMetamako: {"metamako.orig_fcs", "metamako.srcport"}, EncapExablaze: {"exablaze.original_fcs", "exablaze.port"},
				}[c.kind] {
					n, ok := Find(tree, name)
					require.True(t, ok, name)
					if n.Label == "Original FCS" {
						assert.Equal(t, uint64(0xdeadbeef), n.Raw)
					}
				}
			})
		}
	}
}

func TestTapTimeOptions(t *testing.T) {
	late := unhex(t, macs, "0800", ackBody, origFCS, "64768dc0 075bcd15 01 0102 07") // a year off
	assert.False(t, packetOf(Config{}, LinkEthernet, late, len(late)).Has(FlagTapTime))
	assert.True(t, packetOf(Config{AnyTapTime: true}, LinkEthernet, late, len(late)).Has(FlagTapTime))
	good := unhex(t, macs, "0800", ackBody, origFCS, stampHex, "01 0102 07")
	assert.True(t, packetOf(Config{}, LinkEthernet, good, len(good)).Has(FlagTapTime))
	p := packetOf(Config{SkipTapTime: true}, LinkEthernet, good, len(good))
	assert.False(t, p.Has(FlagTapTime))
	assert.True(t, p.Has(FlagTrailer))
	assert.Equal(t, uint32(20), p.TransLen)
	assert.False(t, packetOf(Config{}, LinkEthernet, good[:len(good)-1], len(good)).Has(FlagTapTime), "cut")
	noTime := &Packet{Flags: FlagNoTime, Data: good, Wire: uint32(len(good)), Link: LinkEthernet}
	NewDecoder(Config{}).Decode(noTime)
	assert.False(t, noTime.Has(FlagTapTime), "nothing to compare it with")
	assert.True(t, noTime.Has(FlagNoTime), "what the record tells is kept")
}

func TestAristaTime(t *testing.T) {
	for name, c := range map[string]struct {
		header string
		time   int64
		want   int64
	}{
		"64 bit UTC":            {"0001 01 10 66575740 075bcd15", vectorTime, stampNS},
		"64 bit, called TAI":    {"0001 00 10 66575740 075bcd15", vectorTime, stampNS},
		"64 bit, a year off":    {"0001 01 10 64768dc0 075bcd15", vectorTime, 0},
		"48 bit":                {"0001 01 20 5740 075bcd15", vectorTime, stampNS},
		"48 bit, before wrap":   {"0001 01 20 ffff 00000000", 0x66580001 * second, 0x6657ffff * second},
		"48 bit, behind wrap":   {"0001 01 20 0001 00000000", 0x6657fffe * second, 0x66580001 * second},
		"48 bit, no nanosecond": {"0001 01 20 5740 ffffffff", vectorTime, 0},
	} {
		t.Run(name, func(t *testing.T) {
			b := unhex(t, macs, "d28b", c.header, "0800", ackBody)
			p := &Packet{Time: c.time, Data: b, Wire: uint32(len(b)), Link: LinkEthernet}
			NewDecoder(Config{}).Decode(p)
			assert.Equal(t, KindRoCEv2, p.Kind)
			assert.Equal(t, c.want, p.TrailerNS)
			assert.Equal(t, c.want != 0, p.Has(FlagTapTime))
			_, ok := Find(Tree(p), "avsp.etype")
			assert.True(t, ok)
		})
	}
	for name, header := range map[string]string{"subtype": "0002 01 10", "format": "0001 01 30"} {
		p := decodeHex(t, LinkEthernet, macs, "d28b", header, stampHex, "0800", ackBody)
		assert.Equal(t, Stop{LayerTapHeader, ReasonUnknown}, p.Stop, name)
	}
}

// TestERSPANTime: only nanoseconds with a subheader that has the seconds are
// absolute.
func TestERSPANTime(t *testing.T) {
	for name, c := range map[string]struct {
		gra, sub string
		want     int64
	}{
		"platform 5":  {"8005", "15550042 66575740", stampNS},
		"platform 6":  {"8005", "19550042 66575740", stampNS},
		"platform 3":  {"8005", "0c000042 66575740", 0},
		"100 ns":      {"8003", "15550042 66575740", 0},
		"by the user": {"8007", "15550042 66575740", 0},
	} {
		p := &Packet{Time: vectorTime, Link: LinkEthernet}
		p.Data = unhex(t, macs, "0800 4500 0000 0000 0000 40 2f 0000 c0a80001 c0a80002 1000 22eb 00000001 2064 602a 075bcd15 1111", c.gra, c.sub, macs, "0800", ackBody)
		p.Wire = uint32(len(p.Data))
		NewDecoder(Config{}).Decode(p)
		assert.Equal(t, KindRoCEv2, p.Kind, name)
		assert.Equal(t, c.want, p.TrailerNS, name)
		assert.Equal(t, c.want != 0, p.Has(FlagTapTime), name)
	}
}
