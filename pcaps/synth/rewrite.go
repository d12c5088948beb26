package synth

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// ReadPcap reads a classic capture of either byte order and resolution back
// into a Scenario, so that a test can alter a real one and write it again. It
// is for files that are known to be good.
func ReadPcap(r io.Reader) (*Scenario, error) {
	raw, err := io.ReadAll(r)
	if err != nil {
		return nil, err
	}
	if len(raw) < 24 {
		return nil, io.ErrUnexpectedEOF
	}
	var e binary.ByteOrder = le
	if m := be.Uint32(raw); m == magicMicros || m == magicNanos {
		e = be
	}
	unit := int64(1000)
	switch e.Uint32(raw) {
	case magicNanos:
		unit = 1
	case magicMicros:
	default:
		return nil, fmt.Errorf("synth: magic %#08x isn't classic pcap", e.Uint32(raw))
	}
	s := &Scenario{Link: e.Uint32(raw[20:]) & 0xffff}
	if s.Link == 0 {
		s.Link = LinkNull
	}
	for at := 24; at < len(raw); {
		if len(raw)-at < 16 || uint64(e.Uint32(raw[at+8:])) > uint64(len(raw)-at-16) {
			return nil, io.ErrUnexpectedEOF
		}
		h := raw[at : at+16]
		n := int(e.Uint32(h[8:]))
		at += 16
		f := Frame{Time: int64(e.Uint32(h))*1e9 + int64(e.Uint32(h[4:]))*unit, Data: raw[at : at+n : at+n]}
		if wire := int(e.Uint32(h[12:])); wire != n {
			f.Wire = wire
		}
		s.Frames = append(s.Frames, f)
		at += n
	}
	return s, nil
}

// LoadPcap is ReadPcap of a file, unpacked if its name ends in .gz.
func LoadPcap(name string) (*Scenario, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var r io.Reader = bytes.NewReader(raw)
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(r); err != nil {
			return nil, err
		}
	}
	return ReadPcap(r)
}

// Headers are the parts of a RoCEv2 frame that a rewriter may change in place.
type Headers struct {
	IP  []byte // the fixed IPv4 or IPv6 header
	UDP []byte // 8 octets
	BTH []byte // 12 octets
	// Rest is everything behind the BTH as far as it was captured, up to the
	// ICRC.
	Rest []byte
}

// Opcode is the BTH's.
func (h *Headers) Opcode() uint8 { return h.BTH[0] }

// PSN is the BTH's.
func (h *Headers) PSN() uint32 { return be.Uint32(h.BTH[8:]) & 0xffffff }

// SetPSN changes it and leaves AckReq alone.
func (h *Headers) SetPSN(psn uint32) {
	be.PutUint32(h.BTH[8:], be.Uint32(h.BTH[8:])&0xff000000|psn&0xffffff)
}

// DestQP is the BTH's.
func (h *Headers) DestQP() uint32 { return be.Uint32(h.BTH[4:]) & 0xffffff }

// SetDestQP changes it and leaves FECN and BECN alone.
func (h *Headers) SetDestQP(qp uint32) {
	be.PutUint32(h.BTH[4:], be.Uint32(h.BTH[4:])&0xff000000|qp&0xffffff)
}

// SrcPort is UDP's.
func (h *Headers) SrcPort() uint16 { return be.Uint16(h.UDP) }

// SetSrcPort changes it.
func (h *Headers) SetSrcPort(port uint16) { be.PutUint16(h.UDP, port) }

// MAD is the management datagram that a packet to QP1 carries, else nil.
func (h *Headers) MAD() []byte {
	if h.Opcode() != UD|SendOnly || h.DestQP() != 1 || len(h.Rest) < 8+256 {
		return nil
	}
	return h.Rest[8 : 8+256]
}

// Rewrite changes a copy of a RoCEv2 frame (link type Ethernet, tags allowed,
// or SLL2) and makes IP checksum and ICRC right again; an ICRC that was cut
// off stays away, and one that was bad stays bad. Everything else is returned
// as it is, with false.
func Rewrite(frame []byte, link uint32, change func(h *Headers)) ([]byte, bool) {
	ipAt, ok := ipOffset(frame, link)
	if !ok {
		return frame, false
	}
	out := slices.Clone(frame)
	ip := out[ipAt:]
	size, head, crc := 0, 20, icrcIPv4
	switch {
	case len(ip) >= 20 && ip[0] == 0x45 && ip[9] == ProtoUDP:
		size = int(be.Uint16(ip[2:]))
	case len(ip) >= 40 && ip[0]>>4 == 6 && ip[6] == ProtoUDP:
		size, head, crc = 40+int(be.Uint16(ip[4:])), 40, icrcIPv6
	}
	bth := head + 8
	if size < bth+12+4 || len(ip) < bth+12 || be.Uint16(ip[head+2:]) != RoCEPort {
		return frame, false
	}
	whole := len(ip) >= size
	bad := [4]byte{}
	end := min(size-4, len(ip))
	if whole { // what the ICRC differs by, all zero when it's good
		bad = crc(ip[:end], ip[head:end])
		for i := range bad {
			bad[i] ^= ip[end+i]
		}
	}
	change(&Headers{IP: ip[:head], UDP: ip[head:bth], BTH: ip[bth : bth+12], Rest: ip[bth+12 : end]})
	if head == 20 {
		be.PutUint16(ip[10:], 0)
		be.PutUint16(ip[10:], Checksum(0, ip[:20]))
	}
	if whole {
		c := crc(ip[:end], ip[head:end])
		for i := range c {
			ip[end+i] = c[i] ^ bad[i]
		}
	}
	return out, true
}

// ipOffset finds the IP header.
func ipOffset(frame []byte, link uint32) (int, bool) {
	switch link {
	case 0, LinkEthernet:
		for at := 12; at+2 <= len(frame); at += 4 {
			switch be.Uint16(frame[at:]) {
			case EtherIPv4, EtherIPv6:
				return at + 2, true
			case EtherVLAN, EtherQinQ, EtherQinQ9:
			default:
				return 0, false
			}
		}
	case LinkSLL2:
		return 20, len(frame) > 20
	}
	return 0, false
}

// Rewritten is a copy of the scenario with every RoCEv2 frame changed.
func (s *Scenario) Rewritten(change func(h *Headers)) *Scenario {
	c := s.Clone()
	for i := range c.Frames {
		c.Frames[i].Data, _ = Rewrite(c.Frames[i].Data, c.Link, change)
	}
	return c
}
