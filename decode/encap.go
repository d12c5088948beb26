package decode

// EncapKind names an encapsulation around the frame that was analysed.
type EncapKind uint8

// Encapsulations.
const (
	EncapNone EncapKind = iota
	EncapVXLAN
	EncapGENEVE
	EncapGRE
	EncapERSPAN1
	EncapERSPAN2
	EncapERSPAN3
	EncapMPLS
	EncapPseudowire
	EncapMPLSUDP
	EncapVNTag
	EncapSNAP
	EncapNSH
	EncapIPIP
	EncapTapHeader
	encapCount
)

// EncapCount is the number of encapsulations, for tables indexed by EncapKind.
const EncapCount = int(encapCount)

var encapNames = [...]string{"", "vxlan", "geneve", "gre", "erspan1", "erspan2", "erspan3", "mpls", "pseudowire",
	"mpls_udp", "vntag", "snap", "nsh", "ipip", "tap_header"}

// String returns the name used in reports.
func (k EncapKind) String() string {
	if int(k) < len(encapNames) {
		return encapNames[k]
	}
	return "invalid"
}

// Encap is the path of encapsulations that was opened, outermost first. Deeper
// ones than it has room for are decoded, but not remembered.
type Encap struct {
	N     uint8 // how many were opened
	Kinds [4]EncapKind
	IDs   [4]uint32 // VNI, session id, label, …
}

func (e *Encap) push(k EncapKind, id uint32) {
	if int(e.N) < len(e.Kinds) {
		e.Kinds[e.N], e.IDs[e.N] = k, id
	}
	if e.N < 255 {
		e.N++
	}
}
