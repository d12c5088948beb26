package live

import "golang.org/x/net/bpf"

// Ports, EtherTypes and protocols that the presets look for.
const (
	rocePort      = 4791
	portVXLAN     = 4789
	portVXLANOld  = 8472
	portVXLANGPE  = 4790
	portGENEVE    = 6081
	portMPLS      = 6635
	portHPERM     = 7932
	portERSPANUTC = 8880

	etherIPv4       = 0x0800
	etherVLAN       = 0x8100
	etherIPv6       = 0x86dd
	etherMACControl = 0x8808
	etherMPLS       = 0x8847
	etherMPLSMcast  = 0x8848
	etherQinQ       = 0x88a8
	etherERSPAN2    = 0x88be
	etherLLDP       = 0x88cc
	etherRoCEv1     = 0x8915
	etherVNTag      = 0x8926
	etherNSH        = 0x894f
	etherOldQinQ    = 0x9100
	etherArista     = 0xd28b
	etherERSPAN3    = 0x22eb
	etherTEB        = 0x6558
	minEtherType    = 0x600

	protoIPIP = 4
	protoTCP  = 6
	protoUDP  = 17
	protoIPv6 = 41
	protoGRE  = 47
	protoMPLS = 137
)

// Extension headers of IPv6 behind which anything may follow.
var extensions = []uint32{0, 43, 44, 51, 60, 135, 139, 140}

// maxTags is how many VLAN tags are looked through.
const maxTags = 3

// wanted is what a preset lets pass, beside pauses and LLDP.
type wanted struct {
	roce, tcp bool
	ports     []uint16
}

func (w *wanted) anyIP() bool { return w.roce || w.tcp }

// program writes the filter. X is the offset of the Ethernet header that is
// looked at; behind an IP header it is kept so that what follows the header is
// still at X + 14. There is no loop in classic BPF: the inner frame of a
// tunnel gets instructions of its own.
func (w *wanted) program() []bpf.Instruction {
	a := &assembler{}
	accept, reject := a.label(), a.label()
	a.op(bpf.LoadConstant{Dst: bpf.RegX, Val: 0})
	inner := a.label()
	w.ethernet(a, accept, reject, inner)
	if w.anyIP() {
		a.place(inner)
		w.ethernet(a, accept, reject, accept)
	}
	a.place(reject)
	a.op(bpf.RetConstant{Val: 0})
	a.place(accept)
	a.op(bpf.RetConstant{Val: wholeLen})
	return a.finish()
}

// ethernet looks at the frame at X. inner is where to go with X at an Ethernet
// frame inside of it.
func (w *wanted) ethernet(a *assembler, accept, reject, inner int) {
	ipv4, ipv6 := a.label(), a.label()
	for tags := 0; ; tags++ {
		a.load(12, 2)
		if w.anyIP() {
			a.equal(etherIPv4, ipv4)
			a.equal(etherIPv6, ipv6)
		}
		a.equal(etherMACControl, accept)
		a.equal(etherLLDP, accept)
		if w.roce {
			a.equal(etherRoCEv1, accept)
		}
		if w.anyIP() {
			for _, et := range []uint32{etherMPLS, etherMPLSMcast, etherVNTag, etherNSH, etherArista} {
				a.equal(et, accept)
			}
		}
		tag := a.label()
		for _, et := range []uint32{etherVLAN, etherQinQ, etherOldQinQ} {
			a.equal(et, tag)
		}
		if w.anyIP() {
			w.snap(a, accept, reject)
		} else {
			a.jump(reject)
		}
		a.place(tag)
		if tags == maxTags {
			a.jump(accept)
			break
		}
		a.advance(4)
	}
	if !w.anyIP() {
		return
	}
	a.place(ipv4)
	w.ipv4(a, accept, reject, inner)
	a.place(ipv6)
	w.ipv6(a, accept, reject, inner)
}

// snap lets LLC frames with a SNAP header pass, which may hold anything; the
// accumulator is their length field.
func (w *wanted) snap(a *assembler, accept, reject int) {
	llc := a.label()
	a.below(minEtherType, llc)
	a.jump(reject)
	a.place(llc)
	a.load(14, 2)
	a.equal(0xaaaa, accept)
	a.jump(reject)
}

func (w *wanted) ipv4(a *assembler, accept, reject, inner int) {
	udp, gre, later := a.label(), a.label(), a.label()
	a.load(14+6, 2)
	a.set(0x1fff, later)
	a.load(14+9, 1)
	// X moves over the header; the accumulator is kept in M[0].
	a.op(bpf.StoreScratch{Src: bpf.RegA, N: 0})
	a.load(14, 1)
	a.op(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0xf}, bpf.ALUOpConstant{Op: bpf.ALUOpShiftLeft, Val: 2})
	a.advanceA()
	a.op(bpf.LoadScratch{Dst: bpf.RegA, N: 0})
	w.protocol(a, accept, reject, udp, gre)
	a.place(later) // no ports: let those pass that may belong to what is wanted
	a.load(14+9, 1)
	if w.roce {
		a.equal(protoUDP, accept)
	}
	if w.tcp {
		a.equal(protoTCP, accept)
	}
	a.jump(reject)
	a.place(udp)
	w.udp(a, accept, reject, inner)
	a.place(gre)
	w.gre(a, accept, inner)
}

func (w *wanted) ipv6(a *assembler, accept, reject, inner int) {
	udp, gre := a.label(), a.label()
	a.load(14+6, 1)
	a.op(bpf.StoreScratch{Src: bpf.RegA, N: 0})
	a.advance(40)
	a.op(bpf.LoadScratch{Dst: bpf.RegA, N: 0})
	for _, next := range extensions {
		a.equal(next, accept)
	}
	w.protocol(a, accept, reject, udp, gre)
	a.place(udp)
	w.udp(a, accept, reject, inner)
	a.place(gre)
	w.gre(a, accept, inner)
}

// protocol goes by the IP protocol in the accumulator.
func (w *wanted) protocol(a *assembler, accept, reject, udp, gre int) {
	a.equal(protoUDP, udp) // TCP may be in a tunnel over UDP
	if w.tcp {
		a.equal(protoTCP, accept)
	}
	a.equal(protoGRE, gre)
	for _, p := range []uint32{protoIPIP, protoIPv6, protoMPLS} {
		a.equal(p, accept)
	}
	a.jump(reject)
}

// udp looks at the UDP header at X + 14.
func (w *wanted) udp(a *assembler, accept, reject, inner int) {
	vxlan, geneve := a.label(), a.label()
	a.load(14+2, 2)
	if w.roce {
		for _, port := range w.ports {
			a.equal(uint32(port), accept)
		}
	}
	a.equal(portVXLAN, vxlan)
	a.equal(portVXLANOld, vxlan)
	a.equal(portGENEVE, geneve)
	for _, port := range []uint32{portVXLANGPE, portMPLS, portHPERM, portERSPANUTC} {
		a.equal(port, accept)
	}
	a.jump(reject)
	a.place(vxlan) // RFC 7348 §5: 8 octets, then an Ethernet frame
	a.advance(14 + 8 + 8)
	a.jump(inner)
	a.place(geneve) // RFC 8926 §3.4: the options' length, the protocol
	a.load(14+8+2, 2)
	a.notEqual(etherTEB, accept)
	a.load(14+8, 1)
	a.op(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0x3f}, bpf.ALUOpConstant{Op: bpf.ALUOpShiftLeft, Val: 2})
	a.advanceA()
	a.advance(14 + 8 + 8)
	a.jump(inner)
}

// gre looks at the GRE header at X + 14 (RFC 2784, RFC 2890).
func (w *wanted) gre(a *assembler, accept, inner int) {
	teb, erspan2, erspan3, erspan1 := a.label(), a.label(), a.label(), a.label()
	a.load(14+2, 2)
	a.equal(etherTEB, teb)
	a.equal(etherERSPAN2, erspan2)
	a.equal(etherERSPAN3, erspan3)
	a.jump(accept)

	a.place(erspan2) // without a sequence number it is type I, without a header of its own
	a.load(14, 1)
	a.op(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: 0x10})
	a.equal(0, erspan1)
	w.greHeader(a)
	a.advance(8)
	a.jump(inner)

	a.place(erspan3) // the platform's subheader, and frames of other types, have no place here
	w.greHeader(a)
	a.load(10, 2)
	a.set(0x7c01, accept)
	a.advance(12)
	a.jump(inner)

	a.place(erspan1)
	a.place(teb)
	w.greHeader(a)
	a.jump(inner)
}

// greHeader moves X behind the GRE header: 4 octets, and 4 for each of the
// flags checksum (0x80), key (0x20) and sequence (0x10).
func (w *wanted) greHeader(a *assembler) {
	// All three before X moves away from them.
	for i, flag := range []struct{ mask, shift uint32 }{{0x80, 5}, {0x20, 3}, {0x10, 2}} {
		a.load(14, 1)
		a.op(bpf.ALUOpConstant{Op: bpf.ALUOpAnd, Val: flag.mask}, bpf.ALUOpConstant{Op: bpf.ALUOpShiftRight, Val: flag.shift})
		a.op(bpf.StoreScratch{Src: bpf.RegA, N: i})
	}
	for i := range 3 {
		a.op(bpf.LoadScratch{Dst: bpf.RegA, N: i})
		a.advanceA()
	}
	a.advance(14 + 4)
}
