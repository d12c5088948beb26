package wire

// Stop says where and why decoding of a packet ended before its end. The
// three classes must never be mixed: a cut packet lost bytes in the capture,
// a malformed one contradicts itself on the wire, an unknown one holds
// something that this program doesn't know.
type Stop struct {
	Layer  Layer
	Reason Reason
}

// String returns "bth: cut" and the like.
func (s Stop) String() string {
	if s.Reason == ReasonNone {
		return ""
	}
	return s.Layer.String() + ": " + s.Reason.String()
}

// Layer names the header at which decoding stopped.
type Layer uint8

// Layers.
const (
	LayerNone Layer = iota
	LayerLink
	LayerEthernet
	LayerVLAN
	LayerLLC
	LayerMPLS
	LayerGRE
	LayerERSPAN
	LayerVXLAN
	LayerGENEVE
	LayerNSH
	LayerVNTag
	LayerTapHeader
	LayerIPv4
	LayerIPv6
	LayerUDP
	LayerTCP
	LayerLRH
	LayerGRH
	LayerBTH
	LayerExt
	LayerMAD
	LayerMACControl
	LayerSLL
	LayerSLL2
	LayerLoopback
	LayerLLDP
	LayerTapTrailer
	layerCount
)

// LayerCount is the number of layers, for tables indexed by Layer.
const LayerCount = int(layerCount)

var layerNames = [...]string{"", "link", "ethernet", "vlan", "llc", "mpls", "gre", "erspan", "vxlan", "geneve", "nsh",
	"vntag", "tap_header", "ipv4", "ipv6", "udp", "tcp", "lrh", "grh", "bth", "extension", "mad", "mac_control",
	"sll", "sll2", "loopback", "lldp", "tap_trailer"}

// String returns the layer's name as used in reports.
func (l Layer) String() string {
	if int(l) < len(layerNames) {
		return layerNames[l]
	}
	return "invalid"
}

// Reason says why decoding stopped.
type Reason uint8

// Reasons. ReasonCut: captured bytes end inside the header. ReasonUnknown:
// a type or opcode without a definition here. All others are malformed.
const (
	ReasonNone Reason = iota
	ReasonCut
	ReasonUnknown
	ReasonShort   // the enclosing length leaves no room for the header
	ReasonVersion // version field wrong
	ReasonLength  // a length field contradicts itself or its surroundings
	ReasonPadding // more padding than payload
	ReasonDepth   // too many nested headers
	ReasonAddress // destination address not the reserved one
	ReasonVector  // PFC: high octet of the enable vector not 0
	reasonCount
)

// ReasonCount is the number of reasons, for tables indexed by Reason.
const ReasonCount = int(reasonCount)

var reasonNames = [...]string{"", "cut", "unknown", "short", "version", "length", "padding", "depth", "address", "vector"}

// String returns the reason's name as used in reports.
func (r Reason) String() string {
	if int(r) < len(reasonNames) {
		return reasonNames[r]
	}
	return "invalid"
}

// Malformed tells whether the reason is a contradiction on the wire.
func (r Reason) Malformed() bool { return r > ReasonUnknown }
