package wire

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
	EncapTapHeader // Arista, with a timestamp
	EncapMetamako  // Metamako or Arista 7130 trailer with a timestamp
	EncapExablaze  // Exablaze or Cisco Nexus 3550 trailer with a timestamp
	// What follows is recognised and counted, but not looked into.
	EncapTTag         // Cisco's timestamp tag, EtherType 0x8988
	EncapGigamon      // Gigamon header, EtherType 0x22e5
	EncapVSS          // VSS Monitoring trailer
	EncapHPERM        // HP encapsulated remote mirroring, UDP 7932
	EncapERSPANMarker // Cisco's marker packet between ERSPAN III ticks and UTC, UDP 8880
	EncapKeyFrame     // key frame of an Arista 7150, or of a tap that does as it does, between ticks and UTC: IP protocol 253
	encapCount
)

// EncapCount is the number of encapsulations, for tables indexed by EncapKind.
const EncapCount = int(encapCount)

var encapNames = [...]string{"", "vxlan", "geneve", "gre", "erspan1", "erspan2", "erspan3", "mpls", "pseudowire",
	"mpls_udp", "vntag", "snap", "nsh", "ipip", "tap_header", "metamako", "exablaze",
	"ttag", "gigamon", "vss", "hp_erm", "erspan_marker", "keyframe"}

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

// has tells whether k is among the encapsulations that were remembered.
func (e *Encap) has(k EncapKind) bool {
	for _, x := range e.Kinds {
		if x == k {
			return true
		}
	}
	return false
}

// String returns the path as "erspan2, vxlan".
func (e Encap) String() string {
	s := ""
	for _, k := range e.Kinds[:min(int(e.N), len(e.Kinds))] {
		if s != "" {
			s += ", "
		}
		s += k.String()
	}
	if int(e.N) > len(e.Kinds) {
		s += ", …"
	}
	return s
}
