package roce

// Headers decodes a BTH and the extension headers that its opcode asks for.
// It is meant to be reused: Decode overwrites it. It holds no pointers.
//
// The fields of a header are valid only if Present has that header; otherwise
// they are left over from earlier packets.
type Headers struct {
	// What every packet has, and the two headers that the tracking of reliable
	// connections reads, come first: they share two cache lines.

	BTH BTHFields
	// Present are the headers that were decoded.
	Present HeaderSet
	// Len is the length of the headers that were decoded: the offset of the
	// payload, if Decode returned no error.
	Len int
	// PayloadLen is the payload's length on the wire, without pad and ICRC. It
	// is valid when all headers were decoded (no error).
	PayloadLen int
	// PayloadCaptured is how much of the payload the capture has.
	PayloadCaptured int
	AETH            AETHFields
	RETH            RETHFields
	// Truncated: the capture has fewer bytes than the packet had. Without an
	// error all headers are there, and only payload, pad or ICRC was cut.
	Truncated bool

	DETH         DETHFields
	ImmDt        ImmDtFields
	IETH         IETHFields
	AtomicETH    AtomicETHFields
	AtomicAckETH AtomicAckETHFields
	RDETH        RDETHFields
	XRCETH       XRCETHFields
	FETH         FETHFields
	CNP          CNPFields
}

// Decode decodes the transport that starts at b[0], the BTH. wireLen is its
// true length up to and including the ICRC as the IP, GRH or LRH header tells
// it; b may be shorter, when the capture cut the packet, or longer, when
// padding or trailers follow.
//
// The error is nil or an *Error: what was decoded before it is kept and told
// by Present and Len. ErrOpcode and ErrVersion leave the BTH decoded.
func (h *Headers) Decode(b []byte, wireLen int) error {
	if len(b) > wireLen {
		b = b[:max(wireLen, 0)]
	}
	h.Truncated = len(b) < wireLen
	limit := wireLen - ICRCLen
	if limit < BTHLen || len(b) < BTHLen {
		return h.none(limit)
	}
	h.BTH.decode(b)
	info := &opcodeTable[h.BTH.Opcode]
	end := BTHLen + int(info.ExtLen)
	if h.BTH.TVer != 0 || !info.Known || end > limit || end > len(b) {
		return h.partial(b, limit, info)
	}
	if info.Count > 0 {
		h.extensions(b[BTHLen:], info.Headers[:info.Count&7])
	}
	h.Present, h.Len = info.Set, end
	h.PayloadLen = limit - int(h.BTH.PadCnt) - end
	h.PayloadCaptured = min(h.PayloadLen, len(b)-end)
	if h.PayloadLen < 0 {
		h.PayloadLen, h.PayloadCaptured = 0, 0
		return ErrPad
	}
	return nil
}

// extensions decodes the given headers, for which b has room.
func (h *Headers) extensions(b []byte, list []Header) {
	for _, k := range list {
		switch k {
		case HeaderRETH:
			h.RETH.decode(b)
		case HeaderAETH:
			h.AETH.decode(b)
		case HeaderDETH:
			h.DETH.decode(b)
		case HeaderImmDt:
			h.ImmDt.decode(b)
		case HeaderIETH:
			h.IETH.decode(b)
		case HeaderAtomicETH:
			h.AtomicETH.decode(b)
		case HeaderAtomicAckETH:
			h.AtomicAckETH.decode(b)
		case HeaderRDETH:
			h.RDETH.decode(b)
		case HeaderXRCETH:
			h.XRCETH.decode(b)
		case HeaderFETH:
			h.FETH.decode(b)
		case HeaderCNP:
			h.CNP.decode(b)
		}
		b = b[headerLen[k]:]
	}
}

// none is the end of a packet without even a BTH.
func (h *Headers) none(limit int) error {
	h.Present, h.Len, h.PayloadLen, h.PayloadCaptured = 0, 0, 0, 0
	if limit < BTHLen {
		return roomErrors[HeaderBTH]
	}
	return cutErrors[HeaderBTH]
}

// partial ends a packet whose headers are not known or not all there: those
// that are, are decoded. What the length says comes first: a packet without
// room is malformed however little of it was captured.
func (h *Headers) partial(b []byte, limit int, info *OpcodeInfo) error {
	h.Present, h.Len, h.PayloadLen, h.PayloadCaptured = 1<<HeaderBTH, BTHLen, 0, 0
	switch {
	case h.BTH.TVer != 0:
		return ErrVersion
	case !info.Known:
		return ErrOpcode
	case info.Service == ServiceRD && BTHLen+int(info.ExtLen) > limit:
		return ErrRD
	}
	var fault error
	end := BTHLen
	for i, k := range info.Headers[:info.Count] {
		end += int(headerLen[k])
		if end > limit {
			return roomErrors[k]
		}
		if fault == nil && end > len(b) {
			fault = cutErrors[k]
		}
		if fault == nil {
			h.extensions(b[h.Len:], info.Headers[i:i+1])
			h.Present |= 1 << k
			h.Len = end
		}
	}
	return fault
}
