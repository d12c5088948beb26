package wire

import "rdmascope/decode/roce"

// Packet is one captured frame after decoding: everything that the analyses
// need, in plain fields. The only pointer is Data; it aliases the block that
// the packet was read into and is valid as long as that block is (until every
// shard has consumed it). Nothing here is allocated per packet: a decoder
// fills reused Packets in place.
type Packet struct {
	// What tracking a RoCE packet needs comes first, up to the AETH: three
	// cache lines, instead of one or two fields in each of six.
	Number int64 // position in the capture, from 1, over all inputs
	Time   int64 // ns since the Unix epoch, the capture's clock
	Kind   Kind
	Dir    Dir
	Iface  uint16 // index of the interface that captured it
	Flags  Flags
	Print  uint64 // fingerprint, set by whoever decodes for an analysis that asks for one; not by Decode
	Wire   uint32 // length of the frame on the wire without FCS, preamble and gap
	IPID   uint16
	// Network header of the innermost datagram: IPv4, IPv6, or the GRH of
	// RoCEv1 and InfiniBand (valid with HasNet).
	IPVersion uint8 // 4, 6; 0 for InfiniBand without GRH
	TOS       uint8 // DSCP and ECN, IPv6 and GRH: traffic class
	Src, Dst  Addr

	// UDP or TCP (valid with HasPorts).
	SrcPort, DstPort uint16
	// The outermost VLAN tag of the frame that carries the transport (valid
	// with HasVLAN).
	VID   uint16
	PCP   uint8
	VLANs uint8 // tags seen in front of the network header

	ICRC   roce.ICRCState
	TTL    uint8  // hop limit
	Proto  uint8  // IP protocol after extension headers
	Stop   Stop   // where and why decoding ended early; zero when it didn't
	Merged uint16 // PDUs in the datagram, with FlagMulti where it can be told; see Decoder.Part

	// RoCE is valid for Kind RoCEv2, RoCEv1 and InfiniBand, each of its headers
	// only as far as RoCE.Present tells: what is not present is left over from
	// an earlier packet.
	RoCE roce.Headers

	Data       []byte // captured bytes from the link header on
	NetOff     uint32
	L4Off      uint32 // offset in Data of the UDP or TCP header; RoCEv1 and InfiniBand: of the BTH
	TransOff   uint32 // offset in Data of BTH, of the TCP payload, of the MAC control opcode
	TransLen   uint32 // true octets from TransOff to the end that the IP (or GRH, LRH) length tells; RoCE: iCRC included
	PayloadOff uint32 // RoCE: offset in Data of the payload

	Link uint16 // LINKTYPE_ number of Data
	Lost uint16 // packets the recorder says it lost just before this one

	// Ethernet (valid with HasEth), of the frame that carries the transport.
	EthDst, EthSrc MAC
	EtherType      uint16 // of the innermost decoded header

	Encap     Encap // tunnels that were opened on the way, outermost first
	TrailerNS int64 // time stamped by a tap, ns since the epoch (valid with HasTapTime)
	// A mirror's ticks since an epoch of its own (ERSPAN III): valid with TickNS,
	// their length in ns. They wrap; TickSource tells counters apart.
	Ticks, TickNS uint32
	TickSource    uint16
	MergedLen     uint32 // octets of all PDUs in the datagram, with Merged

	// TCP is valid for Kind TCP.
	TCP TCPHeader
}

// recordFlags are the flags that tell about the record, not its bytes: they
// are set before Decode and kept by it.
const recordFlags = FlagNoTime | FlagTruncated | FlagRxError

// reset clears what Decode fills in, but for RoCE's headers and the TCP header,
// which say themselves whether they are valid: clearing their 180 octets costs
// as much as decoding.
func (p *Packet) reset() {
	p.Kind, p.Stop = KindOther, Stop{}
	p.Flags &= recordFlags
	p.EthDst, p.EthSrc = MAC{}, MAC{}
	p.EtherType, p.VID, p.PCP, p.VLANs = 0, 0, 0, 0
	p.IPVersion, p.TOS, p.TTL, p.Proto, p.IPID = 0, 0, 0, 0, 0
	p.Src, p.Dst = Addr{}, Addr{}
	p.SrcPort, p.DstPort = 0, 0
	if p.Encap.N != 0 {
		p.Encap = Encap{}
	}
	p.TrailerNS, p.Ticks, p.TickNS, p.TickSource = 0, 0, 0, 0
	p.NetOff, p.L4Off, p.TransOff, p.TransLen, p.PayloadOff = 0, 0, 0, 0, 0
	p.RoCE.Present = 0
	p.RoCE.Len, p.RoCE.PayloadLen, p.RoCE.PayloadCaptured = 0, 0, 0
	p.ICRC, p.Merged, p.MergedLen = roce.ICRCUncheckable, 0, 0
}

// Dir is the direction that the capture file tells for a packet, seen from
// the capturing interface.
type Dir uint8

// Directions; most files don't tell.
const (
	DirUnknown Dir = iota
	DirIn
	DirOut
)

// Kind is the family that a packet belongs to.
type Kind uint8

// Families. KindOther is everything that is neither RDMA nor pause, TCP only
// becomes iWARP once a stream has proved to be MPA.
const (
	KindOther Kind = iota
	KindRoCEv2
	KindRoCEv1
	KindInfiniBand
	KindTCP
	KindPFC   // 802.1Qbb
	KindPause // 802.3x
	KindLLDP
	kindCount
)

// KindCount is the number of families, for tables indexed by Kind.
const KindCount = int(kindCount)

var kindNames = [...]string{"other", "rocev2", "rocev1", "infiniband", "tcp", "pfc", "pause", "lldp"}

// String returns the name used in reports.
func (k Kind) String() string {
	if int(k) < len(kindNames) {
		return kindNames[k]
	}
	return "invalid"
}

// IsRoCE tells whether the packet carries a BTH.
func (k Kind) IsRoCE() bool { return k >= KindRoCEv2 && k <= KindInfiniBand }

// Flags are facts about a packet.
type Flags uint32

// Flags. FlagCut and FlagHiddenCut say that bytes are missing in the capture;
// neither means that anything was wrong on the wire.
const (
	FlagEth           Flags = 1 << iota // Ethernet addresses are valid
	FlagVLAN                            // VID and PCP are valid
	FlagNet                             // Src, Dst, TOS, TTL are valid
	FlagPorts                           // SrcPort and DstPort are valid
	FlagBTH                             // RoCE.BTH is valid
	FlagCut                             // fewer bytes captured than were on the wire
	FlagHiddenCut                       // the IP length reaches beyond the captured bytes of a record that claims to be whole
	FlagFragment                        // an IP fragment (not the whole datagram)
	FlagLaterFragment                   // an IP fragment that isn't the first: no transport header in it
	FlagIPChecksumBad                   // the IPv4 header checksum is wrong
	FlagIPOptions                       // IPv4 options or IPv6 extension headers were passed over
	FlagSuperFrame                      // longer than any MTU or IP length 0: merged by GRO, GSO or TSO
	FlagMACSame                         // source and destination MAC are equal
	FlagTapTime                         // TrailerNS is valid
	FlagTrailer                         // bytes follow the datagram which are no padding
	FlagNoTime                          // the file has no time for it
	FlagTruncated                       // the recorder or the mirror says it cut the frame
	FlagRxError                         // the recorder flagged a receive error
	FlagMulti                           // several transport PDUs were merged into one datagram by receive offload
	FlagPart                            // one of those, but not the first: its record's frame was counted with that
)

// Has tells whether all of f are set.
func (p *Packet) Has(f Flags) bool { return p.Flags&f == f }

// Payload returns the captured part of the RoCE payload, pad and iCRC
// excluded. Its true length is RoCE.PayloadLen.
func (p *Packet) Payload() []byte {
	return p.captured(int(p.PayloadOff), p.RoCE.PayloadCaptured)
}

// TCPPayload returns the captured part of the TCP payload. Its true length is
// TransLen.
func (p *Packet) TCPPayload() []byte {
	return p.captured(int(p.TransOff), int(p.TransLen))
}

// captured returns as many of n octets from off on as there are.
func (p *Packet) captured(off, n int) []byte {
	end := min(off+n, len(p.Data))
	if off >= end {
		return nil
	}
	return p.Data[off:end:end]
}

// ECN returns the two congestion notification bits (RFC 3168): 0 Not-ECT,
// 1 ECT(1), 2 ECT(0), 3 CE.
func (p *Packet) ECN() uint8 { return p.TOS & 3 }

// DSCP returns the differentiated services code point.
func (p *Packet) DSCP() uint8 { return p.TOS >> 2 }
