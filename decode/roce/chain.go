package roce

import (
	"encoding/binary"

	"github.com/google/gopacket"
)

// The decoders behind LayerTypeLRH, LayerTypeGRH and LayerTypeBTH, for
// gopacket.NewPacket. They add all layers up to the ICRC at once: an extension
// header can't name its successor.

func decodeLRH(data []byte, p gopacket.PacketBuilder) error {
	lrh := new(LRH)
	if err := lrh.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(lrh)
	n := lrh.Bytes()
	var err error
	switch lrh.LNH {
	case LNHIBALocal:
		err = addTransport(p, lrh.Payload, n-LRHLen, envelope{CarrierLRH, data[:min(n, len(data))], LRHLen})
	case LNHIBAGlobal:
		err = addGRH(p, lrh.Payload, CarrierLRHGRH, data[:min(n, len(data))])
	default:
		return p.NextDecoder(gopacket.LayerTypePayload)
	}
	if err == nil && len(data) >= n+VCRCLen {
		v := new(VCRC)
		if err := v.DecodeFromBytes(data[n:], p); err != nil {
			return err
		}
		v.OK = VCRCSum(data[:n]) == v.Value
		p.AddLayer(v)
	}
	return err
}

func decodeGRH(data []byte, p gopacket.PacketBuilder) error {
	return addGRH(p, data, CarrierGRH, data)
}

// addGRH adds a GRH and what follows; whole is the packet from the first byte
// that the ICRC covers.
func addGRH(p gopacket.PacketBuilder, data []byte, k Carrier, whole []byte) error {
	grh := new(GRH)
	if err := grh.DecodeFromBytes(data, p); err != nil {
		return err
	}
	p.AddLayer(grh)
	if grh.NxtHdr != NxtHdrIBA {
		return p.NextDecoder(gopacket.LayerTypePayload)
	}
	return addTransport(p, grh.Payload, int(grh.PayLen), envelope{k, whole, len(whole) - len(data) + GRHLen})
}

// The LayerTypes that gopacket/layers registers for what RoCEv2 lies in. The
// numbers are told here, and held against that package by a test, since an
// import would make every program that decodes RoCE fill its tables at start
// (see package decode). gopacket keeps the numbers below 1000 for itself; a
// program that doesn't link that package has no layer with one of these.
const (
	layerTypeIPv4 gopacket.LayerType = 20
	layerTypeIPv6 gopacket.LayerType = 21
	layerTypeUDP  gopacket.LayerType = 45
)

// decodeBTH is entered from UDP, or from anything that names LayerTypeBTH.
func decodeBTH(data []byte, p gopacket.PacketBuilder) error {
	wireLen, env := len(data), envelope{}
	if pkt, ok := p.(gopacket.Packet); ok {
		wireLen, env = outerUDP(pkt, data)
	}
	return addTransport(p, data, wireLen, env)
}

// outerUDP finds the true length and the bytes that the ICRC covers in the
// layers that gopacket decoded before. Packets of both gopacket kinds keep
// them; asking for them here doesn't decode further.
func outerUDP(pkt gopacket.Packet, data []byte) (wireLen int, env envelope) {
	wireLen = len(data)
	udp, ip := pkt.TransportLayer(), pkt.NetworkLayer()
	if udp == nil || udp.LayerType() != layerTypeUDP || len(udp.LayerContents()) != 8 {
		return wireLen, env
	}
	if n := int(binary.BigEndian.Uint16(udp.LayerContents()[4:])) - 8; n > 0 {
		wireLen = n
	}
	if ip == nil {
		return wireLen, env
	}
	switch ip.LayerType() {
	case layerTypeIPv4:
		env.carrier = CarrierIPv4
	case layerTypeIPv6:
		env.carrier = CarrierIPv6
	default:
		return wireLen, env
	}
	head := ip.LayerContents()
	env.bth = len(head) + 8
	env.bytes = make([]byte, 0, env.bth+len(data))
	env.bytes = append(append(append(env.bytes, head...), udp.LayerContents()...), data...)
	return wireLen, env
}

// envelope is a packet from the first byte that its ICRC covers. The zero
// value says that it is not known.
type envelope struct {
	carrier Carrier
	bytes   []byte
	bth     int
}

func (e envelope) check(wireLen int) ICRCState {
	if e.bytes == nil {
		return ICRCUncheckable
	}
	return new(ICRCChecker).Check(e.carrier, e.bytes, e.bth, e.bth+wireLen)
}

// addTransport adds BTH, extension headers, payload and ICRC.
func addTransport(p gopacket.PacketBuilder, data []byte, wireLen int, env envelope) error {
	data = data[:max(0, min(wireLen, len(data)))]
	var h Headers
	fault := h.Decode(data, wireLen)
	if h.Truncated {
		p.SetTruncated()
	}
	if err := addHeaders(p, data, &h); err != nil {
		return err
	}
	if fault != nil {
		return fault
	}
	body := data[h.Len : h.Len+h.PayloadCaptured]
	if err := addBody(p, &h, body); err != nil {
		return err
	}
	if len(data) == wireLen {
		icrc := new(ICRC)
		if err := icrc.DecodeFromBytes(data[wireLen-ICRCLen:], p); err != nil {
			return err
		}
		icrc.State = env.check(wireLen)
		p.AddLayer(icrc)
	}
	return nil
}

// addHeaders adds the headers that h found in data, each with what follows it.
func addHeaders(p gopacket.PacketBuilder, data []byte, h *Headers) error {
	if !h.Present.Has(HeaderBTH) {
		return nil
	}
	info := h.BTH.Opcode.Info()
	for _, k := range append([]Header{HeaderBTH}, info.Headers[:info.Count]...) {
		if !h.Present.Has(k) {
			break
		}
		l := newLayer(k)
		if err := l.DecodeFromBytes(data, p); err != nil {
			return err
		}
		p.AddLayer(l)
		data = data[k.Len():]
	}
	return nil
}

// newLayer makes the layer of a header that a transport can have.
func newLayer(h Header) extension {
	switch h {
	case HeaderBTH:
		return new(BTH)
	case HeaderRDETH:
		return new(RDETH)
	case HeaderDETH:
		return new(DETH)
	case HeaderXRCETH:
		return new(XRCETH)
	case HeaderRETH:
		return new(RETH)
	case HeaderAtomicETH:
		return new(AtomicETH)
	case HeaderAETH:
		return new(AETH)
	case HeaderAtomicAckETH:
		return new(AtomicAckETH)
	case HeaderImmDt:
		return new(ImmDt)
	case HeaderIETH:
		return new(IETH)
	case HeaderFETH:
		return new(FETH)
	}
	return new(CNP)
}

// addBody adds what the headers carry: a MAD on QP0 and QP1, else the
// application's bytes.
func addBody(p gopacket.PacketBuilder, h *Headers, body []byte) error {
	if len(body) == 0 {
		return nil
	}
	if h.CarriesMAD() {
		return addMAD(p, body)
	}
	payload := gopacket.Payload(body)
	p.AddLayer(&payload)
	p.SetApplicationLayer(&payload)
	return nil
}

// addMAD adds the MAD header and what its class carries.
func addMAD(p gopacket.PacketBuilder, body []byte) error {
	mad := new(MAD)
	if err := mad.DecodeFromBytes(body, p); err != nil {
		return err
	}
	p.AddLayer(mad)
	if mad.NextLayerType() == gopacket.LayerTypePayload {
		payload := gopacket.Payload(mad.Payload)
		p.AddLayer(&payload)
		p.SetApplicationLayer(&payload)
		return nil
	}
	m := newMessage(mad.AttributeID)
	err := m.DecodeFromBytes(mad.Payload, p)
	p.AddLayer(m)
	return err
}
