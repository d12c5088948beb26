package wire

import "rdmascope/decode/roce"

// grh decodes a global route header (IBTA 8.3): that of an IPv6 header, with
// next header 0x1b before a BTH. The lengths that follow it count the iCRC.
func (f *frame) grh(off int) {
	if !f.enter(LayerGRH, off) || !f.need(off, roce.GRHLen, LayerGRH) {
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
	if !f.enter(LayerLRH, off) || !f.need(off, roce.LRHLen, LayerLRH) {
		return
	}
	p := f.p
	var h roce.LRHFields
	switch err := h.Decode(f.b[off:]); {
	case err == error(roce.ErrLRHVersion):
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
	if p.Kind != KindRoCEv2 {
		p.L4Off = uint32(off)
	}
	if !f.enter(LayerBTH, off) {
		return
	}
	stop := p.Stop
	f.transportPDU(off)
	if p.ICRC == roce.ICRCBad || p.TransLen > maxPDU || p.ICRC == roce.ICRCUncheckable && p.impossible() {
		f.merged(off, stop)
	}
}

// transportPDU decodes the PDU from off to the end and checks its iCRC.
func (f *frame) transportPDU(off int) {
	p := f.p
	p.TransOff, p.TransLen = uint32(off), span(off, f.end)
	var captured []byte
	if off < len(f.b) {
		captured = f.b[off:]
	}
	err := p.RoCE.Decode(captured, int(p.TransLen))
	p.PayloadOff = uint32(off + p.RoCE.Len)
	if err != nil {
		f.transportStop(err)
	}
	if p.RoCE.Present == 0 {
		return
	}
	p.Flags |= FlagBTH
	if p.RoCE.BTH.DestQP <= roce.QPNGSI && p.RoCE.CarriesMAD() {
		f.mad()
	}
	if !f.d.skipICRC && f.end <= len(f.b) && p.Flags&noICRC == 0 {
		f.icrc(off)
	}
}

// noICRC are what leaves nothing to check an iCRC against: parts of the packet
// are missing, or offloading rewrote the lengths, which it covers.
const noICRC = FlagFragment | FlagHiddenCut | FlagSuperFrame

// transportStop translates what package roce says into a Stop.
func (f *frame) transportStop(err error) {
	e, ok := err.(*roce.Error)
	if !ok {
		f.stop(LayerBTH, ReasonUnknown)
		return
	}
	layer := LayerExt
	if e.Header == roce.HeaderBTH {
		layer = LayerBTH
	}
	switch {
	case e.Class == roce.ErrTruncated:
		f.stop(layer, ReasonCut)
	case e == roce.ErrVersion:
		f.stop(layer, ReasonVersion)
	case e == roce.ErrPad:
		f.stop(layer, ReasonPadding)
	case e.Class == roce.ErrUnknown:
		f.stop(layer, ReasonUnknown)
	default:
		f.stop(layer, ReasonShort)
	}
}

// icrc checks the invariant CRC of the datagram, all of which was captured.
func (f *frame) icrc(off int) {
	from, carrier := f.carrier()
	f.p.ICRC = f.d.crc.Check(carrier, f.b[from:f.end], off-from, f.end-from)
}

// carrier returns what the iCRC counts from.
func (f *frame) carrier() (from int, k roce.Carrier) {
	p, from := f.p, int(f.p.NetOff)
	switch {
	case p.Kind == KindRoCEv1:
		return from, roce.CarrierGRH
	case p.Kind == KindInfiniBand && p.IPVersion == 6:
		return from - roce.LRHLen, roce.CarrierLRHGRH
	case p.Kind == KindInfiniBand:
		return from, roce.CarrierLRH
	case p.IPVersion == 6:
		return from, roce.CarrierIPv6
	}
	return from, roce.CarrierIPv4
}
