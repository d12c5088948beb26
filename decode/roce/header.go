package roce

import "github.com/google/gopacket"

// Header names one kind of header.
type Header uint8

// The headers of the transport, in no particular order.
const (
	HeaderNone Header = iota
	HeaderBTH
	HeaderRDETH
	HeaderDETH
	HeaderXRCETH
	HeaderRETH
	HeaderAtomicETH
	HeaderAETH
	HeaderAtomicAckETH
	HeaderImmDt
	HeaderIETH
	HeaderFETH
	HeaderCNP // the 16 reserved bytes of a congestion notification packet
	HeaderICRC
	HeaderGRH
	HeaderLRH
	HeaderMAD
	HeaderCM
	headerCount
)

var headerNames = [headerCount]string{
	"none", "BTH", "RDETH", "DETH", "XRCETH", "RETH", "AtomicETH", "AETH", "AtomicAckETH",
	"ImmDt", "IETH", "FETH", "CNP", "ICRC", "GRH", "LRH", "MAD", "CM",
}

// headerLen is the length of each header; the last of a table's rows is 0 for
// what has no fixed length.
var headerLen = [headerCount]uint8{
	HeaderBTH:          BTHLen,
	HeaderRDETH:        RDETHLen,
	HeaderDETH:         DETHLen,
	HeaderXRCETH:       XRCETHLen,
	HeaderRETH:         RETHLen,
	HeaderAtomicETH:    AtomicETHLen,
	HeaderAETH:         AETHLen,
	HeaderAtomicAckETH: AtomicAckETHLen,
	HeaderImmDt:        ImmDtLen,
	HeaderIETH:         IETHLen,
	HeaderFETH:         FETHLen,
	HeaderCNP:          CNPLen,
	HeaderICRC:         ICRCLen,
	HeaderGRH:          GRHLen,
	HeaderLRH:          LRHLen,
	HeaderMAD:          MADHeaderLen,
}

// String returns the specification's name.
func (h Header) String() string {
	if h < headerCount {
		return headerNames[h]
	}
	return "invalid"
}

// Len returns the header's length in bytes, 0 when it is not fixed.
func (h Header) Len() int {
	if h < headerCount {
		return int(headerLen[h])
	}
	return 0
}

// layerType is gopacket's name of a header that can follow a BTH.
func (h Header) layerType() gopacket.LayerType {
	switch h {
	case HeaderRDETH:
		return LayerTypeRDETH
	case HeaderDETH:
		return LayerTypeDETH
	case HeaderXRCETH:
		return LayerTypeXRCETH
	case HeaderRETH:
		return LayerTypeRETH
	case HeaderAtomicETH:
		return LayerTypeAtomicETH
	case HeaderAETH:
		return LayerTypeAETH
	case HeaderAtomicAckETH:
		return LayerTypeAtomicAckETH
	case HeaderImmDt:
		return LayerTypeImmDt
	case HeaderIETH:
		return LayerTypeIETH
	case HeaderFETH:
		return LayerTypeFETH
	case HeaderCNP:
		return LayerTypeCNP
	}
	return gopacket.LayerTypePayload
}

// HeaderSet is a set of headers, one bit each.
type HeaderSet uint32

// Has tells whether h is in the set.
func (s HeaderSet) Has(h Header) bool { return s>>h&1 != 0 }
