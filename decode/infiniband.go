package decode

import (
	"errors"

	"rdmascope/decode/roce"
)

// grh decodes a global route header (IBTA 8.3): that of an IPv6 header, with
// next header 0x1b before a BTH. The lengths that follow it count the iCRC.
func (f *frame) grh(off int) {
	if !f.enter(LayerGRH) || !f.need(off, roce.GRHLen, LayerGRH) {
		return
	}
	p, h := f.p, f.b[off:off+roce.GRHLen]
	if h[0]>>4 != 6 {
		f.stop(LayerGRH, ReasonVersion)
		return
	}
	f.datagramEnd(off + roce.GRHLen + int(be16(h, 4)))
	p.IPVersion = 6
	p.TOS = h[0]<<4 | h[1]>>4
	p.TTL = h[7]
	p.NetOff = uint32(off)
	p.Flags |= FlagNet
	if p.Kind == KindRoCEv1 {
		p.Src = Addr{be64(h, 8), be64(h, 16)}
		p.Dst = Addr{be64(h, 24), be64(h, 32)}
	}
	if h[6] != roce.NxtHdrIBA {
		f.stop(LayerGRH, ReasonUnknown)
		return
	}
	f.bth(off + roce.GRHLen)
}

// lrh decodes a native InfiniBand frame from its local route header on (IBTA
// 7.7). Hosts are named by LID, with or without a GRH: both directions of a
// queue pair always have one.
func (f *frame) lrh(off int) {
	if !f.enter(LayerLRH) || !f.need(off, roce.LRHLen, LayerLRH) {
		return
	}
	p := f.p
	var h roce.LRHFields
	switch err := h.Decode(f.b[off:]); {
	case errors.Is(err, roce.ErrLRHVersion):
		f.stop(LayerLRH, ReasonVersion)
		return
	case err != nil:
		f.stop(LayerLRH, ReasonLength)
		return
	}
	p.Src, p.Dst = AddrLID(h.SLID), AddrLID(h.DLID)
	p.Flags |= FlagNet
	p.NetOff = uint32(off)
	// The VCRC follows, unless the capture tool took it off.
	f.narrow(off + h.Bytes())
	switch h.LNH {
	case roce.LNHIBALocal:
		p.Kind = KindInfiniBand
		f.bth(off + roce.LRHLen)
	case roce.LNHIBAGlobal:
		p.Kind = KindInfiniBand
		f.grh(off + roce.LRHLen)
	case roce.LNHRawIPv6:
		f.ipv6(off + roce.LRHLen)
	default:
		f.stop(LayerLRH, ReasonUnknown)
	}
}

// bth decodes the InfiniBand transport at off, which ends with the iCRC at
// the true end of the datagram.
func (f *frame) bth(off int) {
	p := f.p
	p.L4Off = uint32(off)
	p.TransOff, p.TransLen = uint32(off), span(off, f.end)
	if off > len(f.b) {
		f.stop(LayerBTH, ReasonCut)
		return
	}
	err := p.RoCE.Decode(f.b[off:], int(p.TransLen))
	if p.RoCE.Present != 0 {
		p.Flags |= FlagBTH
	}
	p.PayloadOff = uint32(off + p.RoCE.Len)
	if err != nil {
		f.transportStop(err)
	}
	if p.Has(FlagBTH) && !f.d.skipICRC && p.Flags&(FlagFragment|FlagHiddenCut) == 0 {
		f.icrc(off)
	}
}

// transportStop translates what package roce says into a Stop.
func (f *frame) transportStop(err error) {
	layer := LayerBTH
	var e *roce.Error
	if errors.As(err, &e) && e.Header != roce.HeaderBTH {
		layer = LayerExt
	}
	switch {
	case errors.Is(err, roce.ErrTruncated):
		f.stop(layer, ReasonCut)
	case err == error(roce.ErrVersion):
		f.stop(layer, ReasonVersion)
	case err == error(roce.ErrPad):
		f.stop(layer, ReasonPadding)
	case errors.Is(err, roce.ErrUnknown):
		f.stop(layer, ReasonUnknown)
	default:
		f.stop(layer, ReasonShort)
	}
}

// icrc checks the invariant CRC, if the capture holds the whole datagram.
func (f *frame) icrc(off int) {
	p := f.p
	if f.end > len(f.b) {
		return
	}
	from, carrier := int(p.NetOff), roce.CarrierIPv4
	switch {
	case p.Kind == KindInfiniBand && p.IPVersion == 6:
		carrier = roce.CarrierLRHGRH
		from -= roce.LRHLen
	case p.Kind == KindInfiniBand:
		carrier = roce.CarrierLRH
	case p.Kind == KindRoCEv1:
		carrier = roce.CarrierGRH
	case p.IPVersion == 6:
		carrier = roce.CarrierIPv6
	}
	p.ICRC = f.d.crc.Check(carrier, f.b[from:f.end], off-from, f.end-from)
}
