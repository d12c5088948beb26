package roce

import (
	"encoding/binary"
	"hash/crc32"
)

// ICRCState is the outcome of checking an invariant CRC.
type ICRCState uint8

// States. A packet that the capture cut has lost its ICRC: that says nothing
// about the packet, so it is no error.
const (
	ICRCUncheckable ICRCState = iota
	ICRCOK
	ICRCBad
)

// String returns "ok", "bad" or "not checkable".
func (s ICRCState) String() string {
	switch s {
	case ICRCOK:
		return "ok"
	case ICRCBad:
		return "bad"
	}
	return "not checkable"
}

// Carrier is what carries the transport: it decides which fields count as
// variant and are replaced by ones for the ICRC.
type Carrier uint8

// Carriers, with the first byte that the check is given.
const (
	CarrierIPv4   Carrier = iota // RoCEv2, from the IPv4 header
	CarrierIPv6                  // RoCEv2, from the IPv6 header
	CarrierGRH                   // RoCEv1, from the GRH
	CarrierLRH                   // native InfiniBand with LNH 2, from the LRH
	CarrierLRHGRH                // native InfiniBand with LNH 3, from the LRH
)

// A CRC over few octets, or over a number of them that 16 doesn't divide, takes
// several times as long as the processor's instruction needs for some more. And
// most packets of a capture are short: ACKs. So the sum starts with a register of
// zero and as many octets of zero as make the length even: they leave it as it is.
// The four octets behind them make of it what the sum begins with.
const (
	icrcBlock = 16
	icrcLeast = 64 // hash/crc32 uses the instruction from here on
	icrcLead  = icrcLeast
	// icrcScratch is how much of a packet is copied to have fields masked; more
	// than the longest headers, so that most packets are summed up in one go.
	icrcScratch = 256
	icrcHeaders = icrcScratch - icrcLeast - icrcBlock // the least of it that a longer one fills
)

// icrcBegin are the four octets. Of the eight octets of ones that stand for the
// LRH which a RoCE packet hasn't (A16, A17) the first four turn the register,
// all ones at the beginning, into zero; so it's the other four. With an LRH they
// make all ones of zero.
var (
	icrcBegin    = [4]byte{0xff, 0xff, 0xff, 0xff}
	icrcBeginLRH = [4]byte{0x62, 0xf5, 0x26, 0x92}
)

// ICRCChecker checks invariant CRCs (IBTA 7.8.1, A16.5.1, A17.3.3). It exists
// for its scratch space: the headers are masked in a copy there, so that a
// packet is never written to, and nothing is allocated. One per goroutine.
type ICRCChecker struct {
	scratch [icrcLead + icrcScratch]byte // zero but for the packet and the four octets before it
}

// Check compares the ICRC at the end of pkt with the one of its bytes. pkt
// starts where the carrier says, bth is the offset of the BTH in it, and
// wireLen its true length up to and including the ICRC. A pkt shorter than
// wireLen was cut and can't be checked.
func (c *ICRCChecker) Check(k Carrier, pkt []byte, bth, wireLen int) ICRCState {
	end := wireLen - ICRCLen
	if end < 0 || len(pkt) < wireLen {
		return ICRCUncheckable
	}
	sum, ok := c.Sum(k, pkt[:end], bth)
	switch {
	case !ok:
		return ICRCUncheckable
	case binary.LittleEndian.Uint32(pkt[end:]) == sum:
		return ICRCOK
	}
	return ICRCBad
}

// Sum returns the ICRC of pkt, which ends before the ICRC. ok is false when
// the offsets don't leave room for the headers.
func (c *ICRCChecker) Sum(k Carrier, pkt []byte, bth int) (sum uint32, ok bool) {
	if bth < carrierMin[min(int(k), len(carrierMin)-1)] || bth > icrcHeaders-BTHLen || len(pkt) < bth+BTHLen {
		return 0, false
	}
	n := len(pkt)
	if n > icrcScratch { // the rest is whole blocks, and enough of them
		n = icrcHeaders + n%icrcBlock
	}
	head := c.scratch[icrcLead : icrcLead+copy(c.scratch[icrcLead:], pkt[:n])]
	head[bth+4] = 0xff // FECN, BECN and resv6
	switch k {
	case CarrierIPv4:
		head[1] = 0xff // TOS
		head[8] = 0xff // TTL
		head[10], head[11] = 0xff, 0xff
		head[bth-2], head[bth-1] = 0xff, 0xff // UDP checksum
	case CarrierIPv6:
		maskGRH(head)
		head[bth-2], head[bth-1] = 0xff, 0xff
	case CarrierGRH:
		maskGRH(head)
	case CarrierLRH:
		head[0] |= 0xf0 // VL
	case CarrierLRHGRH:
		for i := range LRHLen {
			head[i] = 0xff
		}
		maskGRH(head[LRHLen:])
	default:
		return 0, false
	}
	begin := c.scratch[icrcLead-len(icrcBegin) : icrcLead]
	if k == CarrierLRH || k == CarrierLRHGRH {
		copy(begin, icrcBeginLRH[:])
	} else {
		copy(begin, icrcBegin[:])
	}
	whole := max(icrcLeast, (len(begin)+n+icrcBlock-1)/icrcBlock*icrcBlock)
	const zero = 1<<32 - 1 // package crc32 keeps the register inverted
	sum = crc32.Update(zero, crc32.IEEETable, c.scratch[icrcLead+n-whole:icrcLead+n])
	if len(pkt) > n {
		sum = crc32.Update(sum, crc32.IEEETable, pkt[n:])
	}
	return sum, true
}

// carrierMin is the smallest offset that a BTH can have under each carrier.
var carrierMin = [...]int{
	CarrierIPv4:   20 + 8,
	CarrierIPv6:   40 + 8,
	CarrierGRH:    GRHLen,
	CarrierLRH:    LRHLen,
	CarrierLRHGRH: LRHLen + GRHLen,
}

// maskGRH masks traffic class, flow label and hop limit of a GRH or an IPv6
// header, which look alike.
func maskGRH(b []byte) {
	b[0] |= 0x0f
	b[1], b[2], b[3] = 0xff, 0xff, 0xff
	b[7] = 0xff
}
