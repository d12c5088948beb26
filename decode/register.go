package decode

import (
	"sync"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"

	"rdmascope/decode/iwarp"
	"rdmascope/decode/pfc"
	"rdmascope/decode/roce"
)

var registerOnce sync.Once

// Register enters RoCE and the pause frames into gopacket's tables, so that
// gopacket.NewPacket decodes them in any program: UDP port 4791, and the
// EtherTypes 0x8915 (RoCEv1) and 0x8808 (MAC control).
//
// The tables are the process's own, so this is never done behind anybody's
// back: call it once, before packets are decoded. wire.Decoder doesn't need it.
//
// gopacket looks at the source port when it knows no layer for the destination
// port, so a datagram from port 4791 to an unknown one is taken for RoCE, too.
func Register() {
	registerOnce.Do(func() {
		layers.RegisterUDPPortLayerType(layers.UDPPort(roce.UDPPort), roce.LayerTypeBTH)
		enterEtherType(roce.EtherType, "RoCEv1", roce.LayerTypeGRH)
		enterEtherType(pfc.EtherType, "MACControl", pfc.LayerTypeMACControl)
	})
}

func enterEtherType(et layers.EthernetType, name string, t gopacket.LayerType) {
	layers.EthernetTypeMetadata[et] = layers.EnumMetadata{DecodeWith: t, Name: name, LayerType: t}
}

// RegisterMPA enters iWARP for TCP ports into gopacket's tables, under the same
// conditions as Register. iWARP has no port of its own (NVMe-oF 4420, NFS 20049
// and SMB Direct 5445 are usual), so the ports must be named.
//
// gopacket looks into TCP only where DecodeOptions.DecodeStreamsAsDatagrams asks
// for it, and it has no streams: a segment that begins within an FPDU is payload
// to it, and of several FPDUs it shows the first.
func RegisterMPA(ports ...uint16) {
	for _, port := range ports {
		layers.RegisterTCPPortLayerType(layers.TCPPort(port), iwarp.LayerTypeMPA)
	}
}
