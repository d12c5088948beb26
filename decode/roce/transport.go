package roce

import "github.com/google/gopacket"

// Transport decodes BTH, extension headers and ICRC as one gopacket
// DecodingLayer, in place of BTH, for use with a DecodingLayerParser: its
// payload is what the application sent, without pad and ICRC. It takes the end
// of the data for the end of the packet, as a UDP layer hands it down.
type Transport struct {
	BaseLayer
	Headers
}

// DecodeFromBytes decodes the transport that starts at the start of data.
func (t *Transport) DecodeFromBytes(data []byte, df gopacket.DecodeFeedback) error {
	t.Contents, t.Payload = nil, nil
	err := t.Decode(data, len(data))
	t.Contents = data[:t.Len:t.Len]
	if err == nil {
		t.Payload = data[t.Len : t.Len+t.PayloadCaptured]
	}
	return err
}

// LayerType returns LayerTypeBTH, the type under which it is found.
func (t *Transport) LayerType() gopacket.LayerType { return LayerTypeBTH }

// CanDecode returns LayerTypeBTH.
func (t *Transport) CanDecode() gopacket.LayerClass { return LayerTypeBTH }

// NextLayerType returns the MAD on QP0 and QP1, else the payload.
func (t *Transport) NextLayerType() gopacket.LayerType {
	if t.CarriesMAD() {
		return LayerTypeMAD
	}
	return gopacket.LayerTypePayload
}
