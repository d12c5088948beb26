package synth

import "net/netip"

// Attribute numbers of the communication management class (IBTA 12.6, 16.7).
const (
	CMReq     = 0x10
	CMMra     = 0x11
	CMRej     = 0x12
	CMRep     = 0x13
	CMRtu     = 0x14
	CMDreq    = 0x15
	CMDrep    = 0x16
	CMSidrReq = 0x17
	CMSidrRep = 0x18
)

// ServiceID is the service id of the RDMA IP CM service (IBTA A11): 0x06 for
// the TCP port space, 0x11 for UDP.
func ServiceID(portSpace uint8, port uint16) uint64 {
	return 1<<24 | uint64(portSpace)<<16 | uint64(port)
}

// CM makes the management datagram of a CM message (class 7, version 2,
// method Send).
func CM(transaction uint64, attribute uint16, data []byte) MAD {
	return MAD{Class: 7, ClassVersion: 2, Method: 3, Transaction: transaction, Attribute: attribute, Data: data}
}

// REQ asks for a connection (IBTA 12.6.5). Timeouts are exponents of
// 4.096 µs · 2ⁿ.
type REQ struct {
	LocalCommID        uint32
	ServiceID          uint64
	CAGUID             uint64
	LocalQKey          uint32
	LocalQPN           uint32
	ResponderResources uint8
	LocalEECN          uint32
	InitiatorDepth     uint8
	RemoteEECN         uint32
	RemoteCMTimeout    uint8
	Transport          uint8 // 0 RC, 1 UC, 3 XRC
	EndToEndFC         bool
	StartingPSN        uint32
	LocalCMTimeout     uint8
	RetryCount         uint8
	PKey               uint16
	PathMTU            uint8 // 1..5: 256..4096
	RDCExists          bool
	RNRRetry           uint8
	MaxCMRetries       uint8
	SRQ                bool
	ExtTransport       uint8
	Primary, Alternate CMPath
	Private            []byte // up to 92 octets
}

// CMPath is a path record inside a REQ.
type CMPath struct {
	LocalLID, RemoteLID uint16
	LocalGID, RemoteGID [16]byte
	FlowLabel           uint32
	PacketRate          uint8
	TClass, HopLimit    uint8
	SL                  uint8
	SubnetLocal         bool
	ACKTimeout          uint8
}

func (p *CMPath) append(dst []byte) []byte {
	dst = be.AppendUint16(be.AppendUint16(dst, p.LocalLID), p.RemoteLID)
	dst = append(append(dst, p.LocalGID[:]...), p.RemoteGID[:]...)
	dst = be.AppendUint32(dst, p.FlowLabel<<12|uint32(p.PacketRate&0x3f))
	return append(dst, p.TClass, p.HopLimit, p.SL<<4|bit(p.SubnetLocal, 3), p.ACKTimeout<<3)
}

// bit is 1<<n when b.
func bit(b bool, n int) byte {
	if b {
		return 1 << n
	}
	return 0
}

// append24 writes a 24-bit number and the octet that shares its word.
func append24(dst []byte, v uint32, low byte) []byte {
	return be.AppendUint32(dst, v<<8|uint32(low))
}

// MAD makes the datagram.
func (r *REQ) MAD(transaction uint64) MAD {
	d := make([]byte, 0, 232)
	d = be.AppendUint32(be.AppendUint32(d, r.LocalCommID), 0)
	d = be.AppendUint64(be.AppendUint64(d, r.ServiceID), r.CAGUID)
	d = be.AppendUint32(be.AppendUint32(d, 0), r.LocalQKey)
	d = append24(d, r.LocalQPN, r.ResponderResources)
	d = append24(d, r.LocalEECN, r.InitiatorDepth)
	d = append24(d, r.RemoteEECN, r.RemoteCMTimeout<<3|r.Transport<<1|bit(r.EndToEndFC, 0))
	d = append24(d, r.StartingPSN, r.LocalCMTimeout<<3|r.RetryCount&7)
	d = be.AppendUint16(d, r.PKey)
	d = append(d, r.PathMTU<<4|bit(r.RDCExists, 3)|r.RNRRetry&7,
		r.MaxCMRetries<<4|bit(r.SRQ, 3)|r.ExtTransport&7)
	d = r.Alternate.append(r.Primary.append(d))
	return CM(transaction, CMReq, append(d, r.Private...))
}

// REP accepts a REQ (IBTA 12.6.8).
type REP struct {
	LocalCommID, RemoteCommID uint32
	LocalQKey                 uint32
	LocalQPN                  uint32
	LocalEECN                 uint32
	StartingPSN               uint32
	ResponderResources        uint8
	InitiatorDepth            uint8
	TargetACKDelay            uint8
	Failover                  uint8
	EndToEndFC                bool
	RNRRetry                  uint8
	SRQ                       bool
	CAGUID                    uint64
	Private                   []byte // up to 196 octets
}

// MAD makes the datagram.
func (r *REP) MAD(transaction uint64) MAD {
	d := make([]byte, 0, 232)
	d = be.AppendUint32(be.AppendUint32(d, r.LocalCommID), r.RemoteCommID)
	d = be.AppendUint32(d, r.LocalQKey)
	d = append24(d, r.LocalQPN, 0)
	d = append24(d, r.LocalEECN, 0)
	d = append24(d, r.StartingPSN, 0)
	d = append(d, r.ResponderResources, r.InitiatorDepth,
		r.TargetACKDelay<<3|r.Failover<<1|bit(r.EndToEndFC, 0), r.RNRRetry<<5|bit(r.SRQ, 4))
	d = be.AppendUint64(d, r.CAGUID)
	return CM(transaction, CMRep, append(d, r.Private...))
}

// pair begins every message that names both communication ids.
func pair(local, remote uint32) []byte {
	return be.AppendUint32(be.AppendUint32(make([]byte, 0, 232), local), remote)
}

// RTU says "ready to use" (IBTA 12.6.9).
func RTU(transaction uint64, local, remote uint32, private []byte) MAD {
	return CM(transaction, CMRtu, append(pair(local, remote), private...))
}

// REJ refuses (IBTA 12.6.7). rejected tells what: 0 REQ, 1 REP, 2 no message.
func REJ(transaction uint64, local, remote uint32, rejected uint8, reason uint16, info, private []byte) MAD {
	d := append(pair(local, remote), rejected<<6, byte(len(info))<<1)
	d = append(be.AppendUint16(d, reason), info...)
	return CM(transaction, CMRej, append(zeroTo(d, 84), private...))
}

// MRA asks for more time (IBTA 12.6.6).
func MRA(transaction uint64, local, remote uint32, message, timeout uint8, private []byte) MAD {
	d := append(pair(local, remote), message<<6, timeout<<3)
	return CM(transaction, CMMra, append(d, private...))
}

// DREQ ends a connection (IBTA 12.6.10).
func DREQ(transaction uint64, local, remote, remoteQPN uint32, private []byte) MAD {
	return CM(transaction, CMDreq, append(append24(pair(local, remote), remoteQPN, 0), private...))
}

// DREP confirms the end (IBTA 12.6.11).
func DREP(transaction uint64, local, remote uint32, private []byte) MAD {
	return CM(transaction, CMDrep, append(pair(local, remote), private...))
}

// SIDRREQ resolves a service to a UD queue pair (IBTA 12.11.1).
func SIDRREQ(transaction uint64, request uint32, pkey uint16, service uint64, private []byte) MAD {
	d := be.AppendUint16(be.AppendUint32(nil, request), pkey)
	d = be.AppendUint64(be.AppendUint16(d, 0), service)
	return CM(transaction, CMSidrReq, append(d, private...))
}

// SIDRREP answers it (IBTA 12.11.2).
func SIDRREP(transaction uint64, request uint32, status uint8, qpn uint32, service uint64, qkey uint32, private []byte) MAD {
	d := append(be.AppendUint32(nil, request), status, 0, 0, 0)
	d = be.AppendUint64(append24(d, qpn, 0), service)
	d = zeroTo(be.AppendUint32(d, qkey), 96)
	return CM(transaction, CMSidrRep, append(d, private...))
}

// IPCMHeader is the private data header of the RDMA IP CM service (IBTA
// A11.2), which begins the private data of REQ and SIDR_REQ.
func IPCMHeader(port uint16, src, dst netip.Addr) []byte {
	version := byte(0x60)
	if src.Is4() {
		version = 0x40
	}
	d := be.AppendUint16([]byte{0, version}, port)
	for _, a := range []netip.Addr{src, dst} {
		if a.Is4() { // in the last four of 16 octets, the others zero
			v := a.As4()
			d = append(append(d, make([]byte, 12)...), v[:]...)
			continue
		}
		v := a.As16()
		d = append(d, v[:]...)
	}
	return d
}

// GID of an address: IPv4 as ::ffff:a.b.c.d (IBTA A17.4).
func GID(a netip.Addr) [16]byte { return a.As16() }
