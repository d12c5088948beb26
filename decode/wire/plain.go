package wire

import (
	"encoding/binary"

	"rdmascope/decode/roce"
)

// plain decodes what nearly every frame of a RoCEv2 capture is: untagged
// Ethernet, IPv4 without options, UDP to a RoCE port, lengths that agree up to
// the frame's end, all headers captured, no MAD. Each field is written once, and
// each octet looked at once. Whatever is odd it leaves to decode, which begins
// anew: false means that nothing of p counts. A fuzz test holds it against decode.
func (d *Decoder) plain(p *Packet) bool {
	const ip, udp, bth = 14, 14 + 20, 14 + 20 + 8
	b := p.Data
	if p.Link != LinkEthernet || len(b) < bth+roce.BTHLen {
		return false
	}
	h := (*[bth]byte)(b)
	// EtherType, version, header length; flags, offset; protocol.
	if be16(h[:], 12) != etherIPv4 || h[ip] != 0x45 || be16(h[:], ip+6)&0x3fff != 0 || h[ip+9] != protoUDP {
		return false
	}
	total := int(be16(h[:], ip+2))
	if total != int(p.Wire)-ip || len(b) > ip+total || total > maxMTU || int(be16(h[:], udp+4)) != total-20 {
		return false
	}
	port := be16(h[:], udp+2)
	if !d.isRoCEPort(port) {
		return false
	}
	flags := p.Flags&recordFlags | FlagEth | FlagNet | FlagPorts | FlagBTH
	whole := len(b) == ip+total
	if !whole {
		flags |= FlagCut
	}
	length := total - 20 - 8
	if p.RoCE.Decode(b[bth:], length) != nil || p.RoCE.BTH.DestQP <= roce.QPNGSI || length > maxPDU {
		return false
	}
	src, dst := binary.LittleEndian.Uint64(h[6:])<<16, binary.LittleEndian.Uint64(h[:])<<16
	if src == dst {
		flags |= FlagMACSame
	}
	if !headerChecksumOK(h[ip:udp]) {
		flags |= FlagIPChecksumBad
	}
	p.Kind, p.Flags, p.Stop = KindRoCEv2, flags, Stop{}
	p.IPID, p.IPVersion, p.TOS = be16(h[:], ip+4), 4, h[ip+1]
	p.Src, p.Dst = AddrV4(be32(h[:], ip+12)), AddrV4(be32(h[:], ip+16))
	p.SrcPort, p.DstPort = be16(h[:], udp), port
	p.VID, p.PCP, p.VLANs = 0, 0, 0
	p.TTL, p.Proto = h[ip+8], protoUDP
	p.ICRC, p.Merged, p.MergedLen = roce.ICRCUncheckable, 0, 0
	p.NetOff, p.L4Off, p.TransOff, p.TransLen = ip, udp, bth, uint32(length)
	p.PayloadOff = uint32(bth + p.RoCE.Len)
	p.EthDst, p.EthSrc, p.EtherType = MAC(h[:6]), MAC(h[6:12]), etherIPv4
	if p.Encap.N != 0 {
		p.Encap = Encap{}
	}
	p.TrailerNS, p.Ticks, p.TickNS, p.TickSource = 0, 0, 0, 0
	if whole && !d.skipICRC {
		p.ICRC = d.crc.Check(roce.CarrierIPv4, b[ip:], bth-ip, total)
		return p.ICRC == roce.ICRCOK
	}
	return !p.impossible()
}
