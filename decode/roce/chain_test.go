package roce

import (
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// newPacket decodes a packet from the first header of ours that it has,
// without touching gopacket's table of ports.
func newPacket(t testing.TB, v vector, c carried, opts gopacket.DecodeOptions) gopacket.Packet {
	t.Helper()
	switch c.carrier {
	case CarrierGRH:
		return gopacket.NewPacket(c.packet, LayerTypeGRH, opts)
	case CarrierLRH, CarrierLRHGRH:
		return gopacket.NewPacket(append(c.packet[:len(c.packet):len(c.packet)], c.tail...), LayerTypeLRH, opts)
	}
	return gopacket.NewPacket(c.transport, LayerTypeBTH, opts)
}

// TestGopacketNumbers holds the numbers of outerUDP against gopacket's own.
func TestGopacketNumbers(t *testing.T) {
	assert.Equal(t, layers.LayerTypeIPv4, layerTypeIPv4)
	assert.Equal(t, layers.LayerTypeIPv6, layerTypeIPv6)
	assert.Equal(t, layers.LayerTypeUDP, layerTypeUDP)
}

func TestNewPacket(t *testing.T) {
	for _, v := range allVectors(t) {
		for _, opts := range []gopacket.DecodeOptions{gopacket.Default, gopacket.Lazy, gopacket.NoCopy} {
			t.Run(v.Name, func(t *testing.T) {
				c := scan(t, v)
				p := newPacket(t, v, c, opts)
				checkPacket(t, v, c, p)
			})
		}
	}
}

func checkPacket(t *testing.T, v vector, c carried, p gopacket.Packet) {
	var h Headers
	require.NoError(t, h.Decode(c.transport, len(c.transport)))
	var want []string
	if c.carrier == CarrierLRH || c.carrier == CarrierLRHGRH {
		want = append(want, "LRH")
	}
	if c.carrier == CarrierGRH || c.carrier == CarrierLRHGRH {
		want = append(want, "GRH")
	}
	want = append(want, "BTH")
	info := h.BTH.Opcode.Info()
	for _, k := range info.Headers[:info.Count] {
		want = append(want, k.String())
	}
	body := c.transport[h.Len : h.Len+h.PayloadLen]
	if h.CarriesMAD() {
		want = append(want, "MAD", AttributeID(uint16(body[16])<<8|uint16(body[17])).CMName())
	} else if len(body) > 0 {
		want = append(want, "Payload")
		app := p.ApplicationLayer()
		require.NotNil(t, app)
		assert.Equal(t, body, app.LayerContents(), "without pad and ICRC")
	}
	want = append(want, "ICRC")
	if want[0] == "LRH" {
		want = append(want, "VCRC")
	}
	var got []string
	for _, l := range p.Layers() {
		got = append(got, l.LayerType().String())
	}
	assert.Equal(t, want, got)
	assert.Nil(t, p.ErrorLayer())
	icrc := p.Layer(LayerTypeICRC).(*ICRC)
	assert.Equal(t, c.packet[len(c.packet)-ICRCLen:], icrc.Contents)
	switch c.carrier {
	case CarrierGRH, CarrierLRH, CarrierLRHGRH:
		assert.Equal(t, ICRCOK, icrc.State)
	default:
		assert.Equal(t, ICRCUncheckable, icrc.State, "no IP header given")
	}
	if vcrc, ok := p.Layer(LayerTypeVCRC).(*VCRC); ok {
		assert.True(t, vcrc.OK)
	}
}

// Behind gopacket's own Ethernet, IP and UDP, whose lengths and bytes the ICRC
// layer uses. The layers are decoded one after another, as no port is
// registered here.
type behindUDP struct{}

func (behindUDP) Decode(data []byte, p gopacket.PacketBuilder) error {
	eth := new(layers.Ethernet)
	if err := eth.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(eth)
	rest := eth.Payload
	if eth.EthernetType == layers.EthernetTypeIPv4 {
		ip := new(layers.IPv4)
		if err := ip.DecodeFromBytes(rest, p); err != nil {
			return err
		}
		p.AddLayer(ip)
		p.SetNetworkLayer(ip)
		rest = ip.Payload
	} else {
		ip := new(layers.IPv6)
		if err := ip.DecodeFromBytes(rest, p); err != nil {
			return err
		}
		p.AddLayer(ip)
		p.SetNetworkLayer(ip)
		rest = ip.Payload
	}
	udp := new(layers.UDP)
	if err := udp.DecodeFromBytes(rest, p); err != nil {
		return err
	}
	p.AddLayer(udp)
	p.SetTransportLayer(udp)
	return p.NextDecoder(LayerTypeBTH)
}

func TestNewPacketUDP(t *testing.T) {
	for _, v := range allVectors(t) {
		if v.LinkType != 1 || strings.Contains(v.Name, "vlan") || strings.Contains(v.Name, "qinq") {
			continue
		}
		for _, opts := range []gopacket.DecodeOptions{gopacket.Default, gopacket.Lazy} {
			p := gopacket.NewPacket(append(v.frame[:len(v.frame):len(v.frame)], 1, 2, 3, 4), behindUDP{}, opts)
			require.Nil(t, p.ErrorLayer(), v.Name)
			icrc, ok := p.Layer(LayerTypeICRC).(*ICRC)
			require.True(t, ok, v.Name)
			want := ICRCOK
			if v.ICRCKind == "bad" {
				want = ICRCBad
			}
			assert.Equal(t, want, icrc.State, v.Name)
			assert.False(t, p.Metadata().Truncated)
		}
	}
}

// Cut behind the headers: the packet is marked, the headers are there, and
// there is no ICRC to be misread from the payload.
func TestNewPacketCut(t *testing.T) {
	v := vector{}
	for _, v = range loadVectors(t, "testdata/rocev2.json") {
		if v.Name == "rc_write_first" {
			break
		}
	}
	for n := 42; n < len(v.frame); n++ {
		p := gopacket.NewPacket(v.frame[:n], behindUDP{}, gopacket.Default)
		assert.True(t, p.Metadata().Truncated, n)
		assert.Nil(t, p.Layer(LayerTypeICRC), n)
		assert.Equal(t, n >= 54, p.Layer(LayerTypeBTH) != nil, n)
		assert.Equal(t, n >= 70, p.Layer(LayerTypeRETH) != nil, n)
		if n > 70 {
			require.NotNil(t, p.ApplicationLayer(), n)
			assert.Len(t, p.ApplicationLayer().LayerContents(), min(n-70, 256))
		}
		if n > 42 && n < 70 { // gopacket stops by itself where no byte is left
			require.NotNil(t, p.ErrorLayer(), n)
			assert.ErrorIs(t, p.ErrorLayer().Error(), ErrTruncated, n)
		}
	}
}

// Any header on its own, asked for by its LayerType.
func TestNewPacketAlone(t *testing.T) {
	for _, test := range headerTests(t) {
		name := test.empty().LayerType()
		switch name {
		case LayerTypeBTH, LayerTypeGRH, LayerTypeLRH, LayerTypeMAD:
			continue // these go on
		}
		p := gopacket.NewPacket(append(test.bytes[:len(test.bytes):len(test.bytes)], 1, 2), name, gopacket.Default)
		require.Nil(t, p.ErrorLayer(), name)
		require.NotNil(t, p.Layer(name), name)
		assert.Equal(t, []byte{1, 2}, p.ApplicationLayer().LayerContents(), name)
		p = gopacket.NewPacket(test.bytes[:1], name, gopacket.Default)
		require.NotNil(t, p.ErrorLayer(), name)
		assert.ErrorIs(t, p.ErrorLayer().Error(), ErrTruncated)
	}
	for a := AttributeREQ; a <= AttributeAPR; a++ {
		name := a.cmLayerType()
		assert.Equal(t, a.CMName(), name.String())
		p := gopacket.NewPacket(cmBytes(), name, gopacket.Default)
		require.NotNil(t, p.Layer(name))
		p = gopacket.NewPacket(cmBytes()[:7], name, gopacket.Default)
		require.NotNil(t, p.Layer(name), "what is there")
		require.NotNil(t, p.ErrorLayer())
	}
	mad := append(unhex(t, "01 04 01 81 0000 0000 0000000000abcdef 0012 0000 00000000"), make([]byte, 232)...)
	p := gopacket.NewPacket(mad, LayerTypeMAD, gopacket.Default)
	require.NotNil(t, p.Layer(LayerTypeMAD))
	assert.Len(t, p.ApplicationLayer().LayerContents(), 232)
}

func TestTransportParser(t *testing.T) {
	var (
		tr  Transport
		mad MAD
		req REQ
	)
	parser := gopacket.NewDecodingLayerParser(LayerTypeBTH, &tr, &mad, &req)
	parser.IgnoreUnsupported = true
	var decoded []gopacket.LayerType
	c := named(t, "cm", "cm_req_nvme_ipv4")
	require.NoError(t, parser.DecodeLayers(c.transport, &decoded))
	assert.Equal(t, []gopacket.LayerType{LayerTypeBTH, LayerTypeMAD, LayerTypeREQ}, decoded)
	assert.EqualValues(t, 291, req.LocalQPN)

	c = named(t, "rocev2", "rc_send_only_pad3")
	require.NoError(t, parser.DecodeLayers(c.transport, &decoded))
	assert.Equal(t, []gopacket.LayerType{LayerTypeBTH}, decoded)
	assert.Equal(t, []byte{1, 2, 3, 4, 5}, tr.LayerPayload())
	assert.Equal(t, gopacket.LayerTypePayload, tr.NextLayerType())
	assert.Equal(t, LayerTypeBTH, tr.LayerType())
	assert.ErrorIs(t, parser.DecodeLayers(c.transport[:9], &decoded), ErrMalformed)
	assert.Empty(t, tr.LayerPayload())
}

func TestNewPacketOther(t *testing.T) {
	names := func(p gopacket.Packet) (out []string) {
		for _, l := range p.Layers() {
			out = append(out, l.LayerType().String())
		}
		return out
	}
	raw := gopacket.NewPacket(unhex(t, "00 00 0000 0004 0000 86dd 0102 0304 0506"), LayerTypeLRH, gopacket.Default)
	assert.Equal(t, []string{"LRH", "Payload"}, names(raw))

	grh := append([]byte{0x60, 0, 0, 0, 0, 4, 58, 1}, make([]byte, 36)...)
	other := gopacket.NewPacket(grh, LayerTypeGRH, gopacket.Default)
	assert.Equal(t, []string{"GRH", "Payload"}, names(other))
	version := gopacket.NewPacket(append([]byte{0x40}, grh[1:]...), LayerTypeGRH, gopacket.Default)
	assert.ErrorIs(t, version.ErrorLayer().Error(), ErrMalformed)

	// A MAD of another class, one that is cut in its message, and one that isn't
	// looked into.
	b := append([]byte{}, named(t, "cm", "cm_req_nvme_ipv4").transport...)
	b[21] = byte(MgmtClassPerf)
	p := gopacket.NewPacket(b, LayerTypeBTH, gopacket.Default)
	assert.Equal(t, []string{"BTH", "DETH", "MAD", "Payload", "ICRC"}, names(p))
	b[20] = 9
	p = gopacket.NewPacket(b, LayerTypeBTH, gopacket.Default)
	assert.ErrorIs(t, p.ErrorLayer().Error(), ErrUnknown)

	// What the opcode table doesn't know is BTH and an error, not a guess.
	b[0] = 0xc1
	p = gopacket.NewPacket(b, LayerTypeBTH, gopacket.Default)
	require.NotNil(t, p.Layer(LayerTypeBTH))
	assert.Equal(t, error(ErrOpcode), p.ErrorLayer().Error())
}

// What follows a BTH comes from the table; all else is payload.
func TestBTHNextLayerType(t *testing.T) {
	for o := range 256 {
		h := BTH{BTHFields: BTHFields{Opcode: Opcode(o)}}
		want := "Payload"
		if info := h.Opcode.Info(); info.Count > 0 {
			want = info.Headers[0].String()
		}
		assert.Equal(t, want, h.NextLayerType().String())
	}
	for h := HeaderRDETH; h <= HeaderCNP; h++ {
		assert.Equal(t, h.String(), h.layerType().String())
	}
}
