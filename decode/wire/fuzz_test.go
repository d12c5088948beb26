package wire

import (
	"bytes"
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
		checkPlain(t, d, &p)

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
		checkPlain(t, any, &q)
		checkPlaces(t, &q)

		n := int(prefix) % (len(b) + 1)
		cut := Packet{Time: vectorTime, Data: b[:n], Wire: p.Wire, Link: p.Link}
		d.Decode(&cut)
		checkPlain(t, d, &cut)
		checkPlaces(t, &cut)
		if r := cut.Stop.Reason; p.Stop.Reason == ReasonNone || p.Stop.Reason == ReasonCut {
			require.Contains(t, []Reason{ReasonNone, ReasonCut}, r, "cut at %d: %s", n, cut.Stop)
		}
	})
}

// checkPlain holds the short way through a plain frame against the long one.
func checkPlain(t *testing.T, d *Decoder, p *Packet) bool {
	record := Packet{Time: p.Time, Data: p.Data, Wire: p.Wire, Link: p.Link, Flags: p.Flags & recordFlags}
	short, long := record, record
	short.Encap.push(EncapVXLAN, 7) // what an earlier packet may have left
	short.PCP, short.TickNS, short.Merged = 1, 2, 3
	if !d.plain(&short) {
		return false
	}
	d.decode(&long, nil)
	require.Equal(t, long, short)
	return true
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

// TestPlain: the short way is taken by the frames that it is for, cut and whole,
// and left by every kind of odd one. That it says the same as the long one is
// checked with each of them, and by FuzzDecode.
func TestPlain(t *testing.T) {
	d := NewDecoder(Config{})
	for name, want := range map[string]bool{"Write128": true, "Write1KiB": true, "ACK": true, "TCP": false, "VXLANACK": false, "PFC": false} {
		p := benchPackets(t, name, 1)[0]
		require.Equal(t, want, checkPlain(t, d, &p), name)
	}
	ack := benchFrames(t)["ACK"]
	odd := func(change func(b []byte) []byte) bool {
		b := change(bytes.Clone(ack))
		return checkPlain(t, d, &Packet{Data: b, Wire: uint32(len(ack)), Link: LinkEthernet})
	}
	poke := func(at int, x byte) func([]byte) []byte {
		return func(b []byte) []byte { b[at] ^= x; return b }
	}
	require.True(t, odd(poke(14+1, 0xff)), "another TOS")
	require.True(t, odd(poke(14+11, 1)), "a wrong IP checksum, which the iCRC leaves out")
	require.True(t, odd(func(b []byte) []byte { return b[:len(b)-1] }), "cut")
	for what, change := range map[string]func([]byte) []byte{
		"EtherType": poke(12, 0x40), "version": poke(14, 0x20), "options": poke(14, 1), "fragment": poke(14+6, 0x20), "protocol": poke(14+9, 1),
		"IP length": poke(14+3, 1), "port": poke(34+2, 1), "UDP length": poke(34+5, 1), "opcode": poke(42, 0x80), "to QP 1": func(b []byte) []byte {
			copy(b[42+5:], []byte{0, 0, 1})
			return b
		},
		"bad iCRC": poke(len(ack)-1, 1), "padded": func(b []byte) []byte { return append(b, 0) }, "cut in the BTH": func(b []byte) []byte { return b[:42+11] },
	} {
		require.False(t, odd(change), what)
	}
}
