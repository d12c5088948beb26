package filter

import (
	"encoding/binary"
	"strconv"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

type packetField = field[*packetEnv]

type packetGetter = func(*packetEnv) (num, bool)

func be64(b []byte) uint64 { return binary.BigEndian.Uint64(b) }

func bytesAt(p *wire.Packet, off, n int) (uint64, bool) {
	if off < 0 || off+n > len(p.Data) {
		return 0, false
	}
	var v uint64
	for _, x := range p.Data[off : off+n] {
		v = v<<8 | uint64(x)
	}
	return v, true
}

// part reads bits of a header: n octets from off on, of which shift are cut off
// below and the mask's are left.
func part(ok func(*wire.Packet) bool, base func(*wire.Packet) int, off, n, shift int, mask uint64) packetGetter {
	return func(e *packetEnv) (num, bool) {
		if !ok(e.p) {
			return num{}, false
		}
		v, there := bytesAt(e.p, base(e.p)+off, n)
		return uintNum(v >> shift & mask), there
	}
}

func isIPv4(p *wire.Packet) bool { return p.IPVersion == 4 }

// isIPv6 tells IPv6 from the GRH, which decode takes for version 6 too.
func isIPv6(p *wire.Packet) bool {
	return p.IPVersion == 6 && p.Kind != wire.KindRoCEv1 && p.Kind != wire.KindInfiniBand
}

func isEthernet(p *wire.Packet) bool { return p.Link == wire.LinkEthernet && p.Has(wire.FlagEth) }

func isTCP(p *wire.Packet) bool { return p.Kind == wire.KindTCP }

func isUDP(p *wire.Packet) bool { return p.Has(wire.FlagPorts) && p.Kind != wire.KindTCP }

func netOff(p *wire.Packet) int { return int(p.NetOff) }

func l4Off(p *wire.Packet) int { return int(p.L4Off) }

func zero(*wire.Packet) int { return 0 }

func transOff(p *wire.Packet) int { return int(p.TransOff) }

func isMACControl(p *wire.Packet) bool { return p.EtherType == 0x8808 && isEthernet(p) }

func isPFC(p *wire.Packet) bool { return p.Kind == wire.KindPFC }

func isPause(p *wire.Packet) bool { return p.Kind == wire.KindPause }

var etherType = part(isEthernet, zero, 12, 2, 0, 0xffff)

// is reads a field where ok says that there is one.
func is(ok func(*wire.Packet) bool, v func(*wire.Packet) uint64) packetGetter {
	return func(e *packetEnv) (num, bool) {
		if !ok(e.p) {
			return num{}, false
		}
		return uintNum(v(e.p)), true
	}
}

func bth(v func(*roce.BTHFields) uint64) packetGetter {
	return func(e *packetEnv) (num, bool) {
		if e.p.Flags&wire.FlagBTH == 0 {
			return num{}, false
		}
		return uintNum(v(&e.p.RoCE.BTH)), true
	}
}

// ext reads a field of an extension header.
func ext(h roce.Header, v func(*roce.Headers) uint64) packetGetter {
	return func(e *packetEnv) (num, bool) {
		if e.p.Flags&wire.FlagBTH == 0 || !e.p.RoCE.Present.Has(h) {
			return num{}, false
		}
		return uintNum(v(&e.p.RoCE)), true
	}
}

// syndrome reads the low bits of a syndrome, which have a name for each kind.
func syndrome(kind roce.SyndromeKind) packetGetter {
	return func(e *packetEnv) (num, bool) {
		if e.p.Flags&wire.FlagBTH == 0 || !e.p.RoCE.Present.Has(roce.HeaderAETH) {
			return num{}, false
		}
		s := e.p.RoCE.AETH.Syndrome
		return uintNum(uint64(s & 0x1f)), s.Kind() == kind
	}
}

func b2u(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}

// quick are the fields that are read from the decoded packet, in packets whose
// headers don't repeat.
func quick() map[string]packetGetter {
	return withPriorities(map[string]packetGetter{
		"eth.dst":  part(isEthernet, zero, 0, 6, 0, 1<<48-1),
		"eth.src":  part(isEthernet, zero, 6, 6, 0, 1<<48-1),
		"eth.type": func(e *packetEnv) (num, bool) { v, ok := etherType(e); return v, ok && v.lo > 0x5ff },
		"eth.len":  func(e *packetEnv) (num, bool) { v, ok := etherType(e); return v, ok && v.lo <= 0x5ff },

		"vlan.id":       is(oneTag, func(p *wire.Packet) uint64 { return uint64(p.VID) }),
		"vlan.priority": is(oneTag, func(p *wire.Packet) uint64 { return uint64(p.PCP) }),

		"ip.version": part(isIPv4, netOff, 0, 1, 4, 15),
		"ip.hdr_len": func(e *packetEnv) (num, bool) {
			v, ok := part(isIPv4, netOff, 0, 1, 0, 15)(e)
			return uintNum(v.lo * 4), ok
		},
		"ip.dsfield":      is(isIPv4, func(p *wire.Packet) uint64 { return uint64(p.TOS) }),
		"ip.dsfield.dscp": is(isIPv4, func(p *wire.Packet) uint64 { return uint64(p.DSCP()) }),
		"ip.dsfield.ecn":  is(isIPv4, func(p *wire.Packet) uint64 { return uint64(p.ECN()) }),
		"ip.len":          part(isIPv4, netOff, 2, 2, 0, 0xffff),
		"ip.id":           is(isIPv4, func(p *wire.Packet) uint64 { return uint64(p.IPID) }),
		"ip.flags":        part(isIPv4, netOff, 6, 1, 5, 7),
		"ip.flags.df":     part(isIPv4, netOff, 6, 1, 6, 1),
		"ip.flags.mf":     part(isIPv4, netOff, 6, 1, 5, 1),
		"ip.frag_offset":  part(isIPv4, netOff, 6, 2, 0, 0x1fff),
		"ip.ttl":          is(isIPv4, func(p *wire.Packet) uint64 { return uint64(p.TTL) }),
		"ip.proto":        is(isIPv4, func(p *wire.Packet) uint64 { return uint64(p.Proto) }),
		"ip.checksum":     part(isIPv4, netOff, 10, 2, 0, 0xffff),
		"ip.src":          is(isIPv4, func(p *wire.Packet) uint64 { return p.Src.Lo & 0xffffffff }),
		"ip.dst":          is(isIPv4, func(p *wire.Packet) uint64 { return p.Dst.Lo & 0xffffffff }),

		"ipv6.version":     part(isIPv6, netOff, 0, 1, 4, 15),
		"ipv6.tclass":      is(isIPv6, func(p *wire.Packet) uint64 { return uint64(p.TOS) }),
		"ipv6.tclass.dscp": is(isIPv6, func(p *wire.Packet) uint64 { return uint64(p.DSCP()) }),
		"ipv6.tclass.ecn":  is(isIPv6, func(p *wire.Packet) uint64 { return uint64(p.ECN()) }),
		"ipv6.flow":        part(isIPv6, netOff, 1, 3, 0, 0xfffff),
		"ipv6.plen":        part(isIPv6, netOff, 4, 2, 0, 0xffff),
		"ipv6.nxt":         part(isIPv6, netOff, 6, 1, 0, 0xff),
		"ipv6.hlim":        is(isIPv6, func(p *wire.Packet) uint64 { return uint64(p.TTL) }),
		"ipv6.src":         func(e *packetEnv) (num, bool) { return addrNum(e.p.Src), isIPv6(e.p) },
		"ipv6.dst":         func(e *packetEnv) (num, bool) { return addrNum(e.p.Dst), isIPv6(e.p) },

		"udp.srcport":  is(isUDP, func(p *wire.Packet) uint64 { return uint64(p.SrcPort) }),
		"udp.dstport":  is(isUDP, func(p *wire.Packet) uint64 { return uint64(p.DstPort) }),
		"udp.length":   part(isUDP, l4Off, 4, 2, 0, 0xffff),
		"udp.checksum": part(isUDP, l4Off, 6, 2, 0, 0xffff),

		"tcp.srcport":           is(isTCP, func(p *wire.Packet) uint64 { return uint64(p.SrcPort) }),
		"tcp.dstport":           is(isTCP, func(p *wire.Packet) uint64 { return uint64(p.DstPort) }),
		"tcp.seq_raw":           is(isTCP, func(p *wire.Packet) uint64 { return uint64(p.TCP.Seq) }),
		"tcp.ack_raw":           is(isTCP, func(p *wire.Packet) uint64 { return uint64(p.TCP.Ack) }),
		"tcp.hdr_len":           is(isTCP, func(p *wire.Packet) uint64 { return uint64(p.TCP.HeaderLen) }),
		"tcp.flags":             part(isTCP, l4Off, 12, 2, 0, 0xfff),
		"tcp.window_size_value": is(isTCP, func(p *wire.Packet) uint64 { return uint64(p.TCP.Window) }),
		"tcp.checksum":          part(isTCP, l4Off, 16, 2, 0, 0xffff),
		"tcp.urgent_pointer":    part(isTCP, l4Off, 18, 2, 0, 0xffff),

		"macc.opcode":     part(isMACControl, transOff, 0, 2, 0, 0xffff),
		"macc.pause_time": part(isPause, transOff, 2, 2, 0, 0xffff),
		"macc.cbfc.enbv":  part(isPFC, transOff, 2, 2, 0, 0xffff),

		"infiniband.bth.opcode":    bth(func(h *roce.BTHFields) uint64 { return uint64(h.Opcode) }),
		"infiniband.bth.se":        bth(func(h *roce.BTHFields) uint64 { return b2u(h.SE) }),
		"infiniband.bth.m":         bth(func(h *roce.BTHFields) uint64 { return b2u(h.MigReq) }),
		"infiniband.bth.padcnt":    bth(func(h *roce.BTHFields) uint64 { return uint64(h.PadCnt) }),
		"infiniband.bth.tver":      bth(func(h *roce.BTHFields) uint64 { return uint64(h.TVer) }),
		"infiniband.bth.p_key":     bth(func(h *roce.BTHFields) uint64 { return uint64(h.PKey) }),
		"infiniband.bth.fecn":      bth(func(h *roce.BTHFields) uint64 { return b2u(h.FECN) }),
		"infiniband.bth.becn":      bth(func(h *roce.BTHFields) uint64 { return b2u(h.BECN) }),
		"infiniband.bth.destqp":    bth(func(h *roce.BTHFields) uint64 { return uint64(h.DestQP) }),
		"infiniband.bth.a":         bth(func(h *roce.BTHFields) uint64 { return b2u(h.AckReq) }),
		"infiniband.bth.reserved7": bth(func(h *roce.BTHFields) uint64 { return uint64(h.Resv7) }),
		"infiniband.bth.psn":       bth(func(h *roce.BTHFields) uint64 { return uint64(h.PSN) }),

		"infiniband.reth.va":                      reth(func(h *roce.Headers) uint64 { return h.RETH.VA }, func(h *roce.Headers) uint64 { return h.AtomicETH.VA }),
		"infiniband.reth.r_key":                   reth(func(h *roce.Headers) uint64 { return uint64(h.RETH.RKey) }, func(h *roce.Headers) uint64 { return uint64(h.AtomicETH.RKey) }),
		"infiniband.reth.dmalen":                  ext(roce.HeaderRETH, func(h *roce.Headers) uint64 { return uint64(h.RETH.DMALen) }),
		"infiniband.atomiceth.swapdt":             ext(roce.HeaderAtomicETH, func(h *roce.Headers) uint64 { return h.AtomicETH.SwapAdd }),
		"infiniband.atomiceth.cmpdt":              ext(roce.HeaderAtomicETH, func(h *roce.Headers) uint64 { return h.AtomicETH.Compare }),
		"infiniband.aeth.syndrome":                ext(roce.HeaderAETH, func(h *roce.Headers) uint64 { return uint64(h.AETH.Syndrome) }),
		"infiniband.aeth.syndrome.opcode":         ext(roce.HeaderAETH, func(h *roce.Headers) uint64 { return uint64(h.AETH.Syndrome >> 5 & 3) }),
		"infiniband.aeth.syndrome.credit_count":   syndrome(roce.SyndromeACK),
		"infiniband.aeth.syndrome.timer":          syndrome(roce.SyndromeRNRNAK),
		"infiniband.aeth.syndrome.reserved_value": syndrome(roce.SyndromeReserved),
		"infiniband.aeth.syndrome.error_code":     syndrome(roce.SyndromeNAK),
		"infiniband.aeth.msn":                     ext(roce.HeaderAETH, func(h *roce.Headers) uint64 { return uint64(h.AETH.MSN) }),
		"infiniband.atomicacketh.origremdt":       ext(roce.HeaderAtomicAckETH, func(h *roce.Headers) uint64 { return h.AtomicAckETH.Original }),
		"infiniband.deth.q_key":                   ext(roce.HeaderDETH, func(h *roce.Headers) uint64 { return uint64(h.DETH.QKey) }),
		"infiniband.deth.srcqp":                   ext(roce.HeaderDETH, func(h *roce.Headers) uint64 { return uint64(h.DETH.SrcQP) }),
		"infiniband.immdt":                        ext(roce.HeaderImmDt, func(h *roce.Headers) uint64 { return uint64(h.ImmDt.Immediate) }),
		"infiniband.ieth":                         ext(roce.HeaderIETH, func(h *roce.Headers) uint64 { return uint64(h.IETH.RKey) }),
	})
}

func withPriorities(m map[string]packetGetter) map[string]packetGetter {
	for i := range 8 {
		c := strconv.Itoa(i)
		m["macc.cbfc.enbv.c"+c] = part(isPFC, transOff, 2, 2, i, 1)
		m["macc.cbfc.pause_time.c"+c] = part(isPFC, transOff, 4+2*i, 2, 0, 0xffff)
	}
	return m
}

// reth reads a field that RETH and AtomicETH share, as in Wireshark.
func reth(a, b func(*roce.Headers) uint64) packetGetter {
	return func(e *packetEnv) (num, bool) {
		h := &e.p.RoCE
		switch {
		case e.p.Flags&wire.FlagBTH == 0:
			return num{}, false
		case h.Present.Has(roce.HeaderRETH):
			return uintNum(a(h)), true
		case h.Present.Has(roce.HeaderAtomicETH):
			return uintNum(b(h)), true
		}
		return num{}, false
	}
}

func oneTag(p *wire.Packet) bool { return p.VLANs == 1 && p.Has(wire.FlagVLAN) }
