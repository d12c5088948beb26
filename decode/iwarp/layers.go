package iwarp

import "github.com/google/gopacket"

// Layer types of iWARP, in gopacket's private range. Registering a *type* only
// gives it a name; which TCP ports lead here is entered by the caller on
// request, never by this package.
var (
	LayerTypeMPAFrame       = gopacket.RegisterLayerType(2200, gopacket.LayerTypeMetadata{Name: "MPAFrame", Decoder: gopacket.DecodeFunc(decodeMPAFrame)})
	LayerTypeFPDU           = gopacket.RegisterLayerType(2201, gopacket.LayerTypeMetadata{Name: "FPDU", Decoder: gopacket.DecodeFunc(decodeFPDU)})
	LayerTypeDDP            = gopacket.RegisterLayerType(2202, gopacket.LayerTypeMetadata{Name: "DDP", Decoder: gopacket.DecodeFunc(decodeDDP)})
	LayerTypeReadRequest    = gopacket.RegisterLayerType(2203, gopacket.LayerTypeMetadata{Name: "RDMAPReadRequest", Decoder: gopacket.DecodeFunc(decodeReadRequest)})
	LayerTypeAtomicRequest  = gopacket.RegisterLayerType(2204, gopacket.LayerTypeMetadata{Name: "RDMAPAtomicRequest", Decoder: gopacket.DecodeFunc(decodeAtomicRequest)})
	LayerTypeAtomicResponse = gopacket.RegisterLayerType(2205, gopacket.LayerTypeMetadata{Name: "RDMAPAtomicResponse", Decoder: gopacket.DecodeFunc(decodeAtomicResponse)})
	LayerTypeImmediate      = gopacket.RegisterLayerType(2206, gopacket.LayerTypeMetadata{Name: "RDMAPImmediate", Decoder: gopacket.DecodeFunc(decodeImmediate)})
	LayerTypeTerminate      = gopacket.RegisterLayerType(2207, gopacket.LayerTypeMetadata{Name: "RDMAPTerminate", Decoder: gopacket.DecodeFunc(decodeTerminate)})
	// LayerTypeMPA decodes one TCP segment of unknown content: a start-up frame
	// by its key, an FPDU by a possible header, else payload, since a segment may
	// begin within an FPDU. It is what a program enters for a TCP port.
	LayerTypeMPA = gopacket.RegisterLayerType(2208, gopacket.LayerTypeMetadata{Name: "MPA", Decoder: gopacket.DecodeFunc(decodeMPA)})
)

// headerLayer is what every header of this package is to gopacket.
type headerLayer interface {
	gopacket.DecodingLayer
	gopacket.Layer
}

// decodeInto is the gopacket.Decoder form of a DecodingLayer.
func decodeInto(l headerLayer, data []byte, p gopacket.PacketBuilder) error {
	if err := l.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(l)
	next := l.NextLayerType()
	if next == gopacket.LayerTypeZero {
		return nil
	}
	return p.NextDecoder(next)
}

func decodeMPAFrame(b []byte, p gopacket.PacketBuilder) error { return decodeInto(&MPAFrame{}, b, p) }
func decodeFPDU(b []byte, p gopacket.PacketBuilder) error     { return decodeInto(&FPDUHeader{}, b, p) }
func decodeDDP(b []byte, p gopacket.PacketBuilder) error      { return decodeInto(&DDP{}, b, p) }
func decodeReadRequest(b []byte, p gopacket.PacketBuilder) error {
	return decodeInto(&ReadRequest{}, b, p)
}
func decodeAtomicRequest(b []byte, p gopacket.PacketBuilder) error {
	return decodeInto(&AtomicRequest{}, b, p)
}
func decodeAtomicResponse(b []byte, p gopacket.PacketBuilder) error {
	return decodeInto(&AtomicResponse{}, b, p)
}
func decodeImmediate(b []byte, p gopacket.PacketBuilder) error { return decodeInto(&Immediate{}, b, p) }
func decodeTerminate(b []byte, p gopacket.PacketBuilder) error { return decodeInto(&Terminate{}, b, p) }

func decodeMPA(b []byte, p gopacket.PacketBuilder) error {
	if matchKey(b) == keyWhole {
		return decodeMPAFrame(b, p)
	}
	if len(b) < 4 || !possible(b) {
		return p.NextDecoder(gopacket.LayerTypePayload)
	}
	return decodeFPDU(b, p)
}
