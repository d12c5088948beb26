package wire

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
)

var fuzzLinks = []uint16{LinkEthernet, LinkNull, LinkRaw12, LinkRaw14, LinkRaw, LinkLoop, LinkLinuxSLL, LinkIPv4, LinkIPv6, LinkInfiniBand, LinkLinuxSLL2, 147}

// FuzzDecode feeds octets behind every link type: nothing may panic or point
// beyond the frame, a second decode must say the same, and a cut must not make
// a frame malformed.
func FuzzDecode(f *testing.F) {
	for _, v := range vectors(f) {
		for i, l := range fuzzLinks {
			if int(l) == v.LinkType {
				f.Add(byte(i), uint16(0), uint16(len(v.Hex)/3), v.frame(f))
			}
		}
	}
	for _, b := range benchFrames(f) {
		f.Add(byte(0), uint16(100), uint16(20), b)
	}
	for _, v6 := range []bool{false, true} {
		f.Add(byte(0), uint16(0), uint16(90), mergedFrame(f, v6, middle(f, 7, 256), middle(f, 8, 256), middle(f, 9, 100)))
	}
	f.Add(byte(0), uint16(0), uint16(30), unhex(f, macs, "0800", ackBody, origFCS, stampHex, "01 0102 07"))
	d, again := NewDecoder(Config{}), NewDecoder(Config{})
	var reused, part Packet
	any := NewDecoder(Config{AnyTapTime: true, SkipICRC: true})
	f.Fuzz(func(t *testing.T, link byte, missing, prefix uint16, b []byte) {
		p := Packet{Time: vectorTime, Data: b, Wire: uint32(len(b)) + uint32(missing), Link: fuzzLinks[int(link)%len(fuzzLinks)]}
		d.Decode(&p)
		checkPlaces(t, &p)
		checkPair(t, d, &p)

		reused.Time, reused.Data, reused.Wire, reused.Link = p.Time, b, p.Wire, p.Link
		reused.Dir, reused.Flags = DirUnknown, 0 // as of a new record
		again.Decode(&reused)
		same := reused
		same.RoCE, same.TCP = p.RoCE, p.TCP // what isn't valid may be left over
		require.Equal(t, p, same)
		require.Equal(t, p.RoCE.Present, reused.RoCE.Present)

		for k := 1; k < int(p.Merged) && d.Part(&p, k, &part); k++ {
			require.LessOrEqual(t, k*(roce.BTHLen+roce.ICRCLen), len(b), "no more PDUs than there is room for")
			checkPlaces(t, &part)
		}
		q := Packet{Time: vectorTime, Data: b, Wire: p.Wire, Link: p.Link}
		any.Decode(&q)
		checkPlaces(t, &q)

		n := int(prefix) % (len(b) + 1)
		cut := Packet{Time: vectorTime, Data: b[:n], Wire: p.Wire, Link: p.Link}
		d.Decode(&cut)
		checkPlaces(t, &cut)
		if r := cut.Stop.Reason; p.Stop.Reason == ReasonNone || p.Stop.Reason == ReasonCut {
			require.Contains(t, []Reason{ReasonNone, ReasonCut}, r, "cut at %d: %s", n, cut.Stop)
		}
	})
}

// checkPair holds what a frame is sorted by against the whole decode.
func checkPair(t *testing.T, d *Decoder, p *Packet) bool {
	var pair Pair
	if !d.Pair(p.Link, p.Data, &pair) {
		return false
	}
	require.Equal(t, KindRoCEv2, p.Kind)
	require.True(t, p.Has(FlagNet|FlagPorts))
	require.Equal(t, pair.Src, p.Src)
	require.Equal(t, pair.Dst, p.Dst)
	if p.Has(FlagBTH) {
		require.Equal(t, pair.DestQP, uint32(p.RoCE.BTH.DestQP))
	}
	return true
}

// checkPlaces holds what is true of every packet.
func checkPlaces(t *testing.T, p *Packet) {
	require.LessOrEqual(t, len(p.Payload()), len(p.Data))
	require.GreaterOrEqual(t, p.RoCE.PayloadLen, p.RoCE.PayloadCaptured)
	require.Len(t, p.Payload(), p.RoCE.PayloadCaptured)
	require.Equal(t, p.Has(FlagBTH), p.RoCE.Present.Has(roce.HeaderBTH))
	if p.Has(FlagBTH) {
		require.True(t, p.Kind.IsRoCE())
		require.LessOrEqual(t, int(p.PayloadOff), len(p.Data))
		require.True(t, p.Has(FlagNet))
	}
	if p.ICRC != roce.ICRCUncheckable {
		require.LessOrEqual(t, int(p.TransOff+p.TransLen), len(p.Data))
	}
	if p.Kind == KindTCP {
		require.True(t, p.Has(FlagNet|FlagPorts))
		p.TCPChecksum()
	}
	require.Equal(t, p.Has(FlagTapTime), p.TrailerNS != 0)
	require.NotEmpty(t, Tree(p))
	checkNodes(t, p, Tree(p))
	_ = Summary(p)
}

func checkNodes(t *testing.T, p *Packet, nodes []Node) {
	for _, n := range nodes {
		if n.Off < 0 || n.Len < 0 || n.Off+n.Len > len(p.Data) && n.Len > 0 {
			t.Fatalf("%s at %d, %d long, of %d", n.Name, n.Off, n.Len, len(p.Data))
		}
		assert.True(t, n.Name != "" || n.Label != "")
		checkNodes(t, p, n.Children)
	}
}
