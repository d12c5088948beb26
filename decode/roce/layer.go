package roce

import "github.com/google/gopacket"

// The numbers of our LayerTypes: a private range above gopacket's 2000, which
// it leaves to applications.
const layerTypeBase = 2100

// LayerTypes of this package, in the order in which the headers can appear.
var (
	LayerTypeLRH          = register(0, "LRH", gopacket.DecodeFunc(decodeLRH))
	LayerTypeGRH          = register(1, "GRH", gopacket.DecodeFunc(decodeGRH))
	LayerTypeBTH          = register(2, "BTH", gopacket.DecodeFunc(decodeBTH))
	LayerTypeRDETH        = register(3, "RDETH", alone(HeaderRDETH))
	LayerTypeDETH         = register(4, "DETH", alone(HeaderDETH))
	LayerTypeXRCETH       = register(5, "XRCETH", alone(HeaderXRCETH))
	LayerTypeRETH         = register(6, "RETH", alone(HeaderRETH))
	LayerTypeAtomicETH    = register(7, "AtomicETH", alone(HeaderAtomicETH))
	LayerTypeAETH         = register(8, "AETH", alone(HeaderAETH))
	LayerTypeAtomicAckETH = register(9, "AtomicAckETH", alone(HeaderAtomicAckETH))
	LayerTypeImmDt        = register(10, "ImmDt", alone(HeaderImmDt))
	LayerTypeIETH         = register(11, "IETH", alone(HeaderIETH))
	LayerTypeFETH         = register(12, "FETH", alone(HeaderFETH))
	LayerTypeCNP          = register(13, "CNP", alone(HeaderCNP))
	LayerTypeICRC         = register(14, "ICRC", gopacket.DecodeFunc(decodeICRC))
	LayerTypeMAD          = register(16, "MAD", gopacket.DecodeFunc(decodeMAD))
	LayerTypeREQ          = register(17, "REQ", message(AttributeREQ+0))
	LayerTypeMRA          = register(18, "MRA", message(AttributeREQ+1))
	LayerTypeREJ          = register(19, "REJ", message(AttributeREQ+2))
	LayerTypeREP          = register(20, "REP", message(AttributeREQ+3))
	LayerTypeRTU          = register(21, "RTU", message(AttributeREQ+4))
	LayerTypeDREQ         = register(22, "DREQ", message(AttributeREQ+5))
	LayerTypeDREP         = register(23, "DREP", message(AttributeREQ+6))
	LayerTypeSIDRREQ      = register(24, "SIDR_REQ", message(AttributeREQ+7))
	LayerTypeSIDRREP      = register(25, "SIDR_REP", message(AttributeREQ+8))
	LayerTypeLAP          = register(26, "LAP", message(AttributeREQ+9))
	LayerTypeAPR          = register(27, "APR", message(AttributeREQ+10))
	LayerTypeVCRC         = register(15, "VCRC", gopacket.DecodeFunc(decodeVCRC))
)

func register(n int, name string, d gopacket.Decoder) gopacket.LayerType {
	return gopacket.RegisterLayerType(layerTypeBase+n, gopacket.LayerTypeMetadata{Name: name, Decoder: d})
}

// BaseLayer keeps the bytes of a layer and of what it carries, for gopacket.
// Both are slices of the packet, never copies.
type BaseLayer struct {
	Contents []byte
	Payload  []byte
}

// LayerContents returns the bytes of the header itself.
func (b *BaseLayer) LayerContents() []byte { return b.Contents }

// LayerPayload returns the bytes that the layer carries.
func (b *BaseLayer) LayerPayload() []byte { return b.Payload }

func (b *BaseLayer) split(data []byte, n int) {
	b.Contents, b.Payload = data[:n:n], data[n:]
}

// extension is what every header of this package is.
type extension interface {
	gopacket.Layer
	gopacket.DecodingLayer
}

// alone decodes one header that was asked for by its LayerType, outside the
// chain that the BTH dictates: what follows is opaque then.
func alone(h Header) gopacket.Decoder {
	return gopacket.DecodeFunc(func(data []byte, p gopacket.PacketBuilder) error {
		return addLayer(p, newLayer(h), data)
	})
}

func addLayer(p gopacket.PacketBuilder, l extension, data []byte) error {
	if err := l.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(l)
	return p.NextDecoder(l.NextLayerType())
}

// cut reports a header that ends beyond data, to gopacket and to the caller.
func cut(h Header, df gopacket.DecodeFeedback) error {
	if df != nil {
		df.SetTruncated()
	}
	return cutErrors[h]
}

func be24(b []byte) uint32 {
	_ = b[2]
	return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
}

// message decodes a connection management message.
func message(a AttributeID) gopacket.Decoder {
	return gopacket.DecodeFunc(func(data []byte, p gopacket.PacketBuilder) error {
		l := newMessage(a)
		err := l.DecodeFromBytes(data, p)
		p.AddLayer(l) // a cut message keeps the fields that it has
		return err
	})
}

func newMessage(a AttributeID) extension {
	switch a {
	case AttributeREQ:
		return new(REQ)
	case AttributeMRA:
		return new(MRA)
	case AttributeREJ:
		return new(REJ)
	case AttributeREP:
		return new(REP)
	case AttributeRTU:
		return new(RTU)
	case AttributeDREQ:
		return new(DREQ)
	case AttributeDREP:
		return new(DREP)
	case AttributeSIDRREQ:
		return new(SIDRREQ)
	case AttributeSIDRREP:
		return new(SIDRREP)
	case AttributeLAP:
		return new(LAP)
	}
	return new(APR)
}
