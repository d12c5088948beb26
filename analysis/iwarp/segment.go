package iwarp

import (
	"encoding/binary"

	"rdmascope/decode/wire"
)

// segment is what is kept of one TCP packet, without its payload: plain
// fields, so that a log of them holds no pointers.
type segment struct {
	time, number int64
	seq, ack     uint32
	length       uint32 // octets of payload on the wire
	wire         uint32 // of the frame
	window       uint16
	ipid         uint16
	flags        wire.TCPFlags
	from         uint8 // side of the key that sent it
	tos          uint8
	pcp          uint8
	vid          uint16   // valid with hasVLAN
	mac          wire.MAC // of the sender, valid with hasMAC
	hasVLAN      bool
	hasMAC       bool
	path         uint32 // what a hop rewrites: two sightings that differ here are one packet captured twice
	print        uint64 // fingerprint of what no hop rewrites
	hasID        bool   // IPv4: the identification exists
	check        wire.CheckState
	ipBad        bool
	opt          tcpOptions
}

// read fills s from a packet, whose payload stands apart.
func (s *segment) read(p *wire.Packet, from uint8) {
	*s = segment{
		time: p.Time, number: p.Number, seq: p.TCP.Seq, ack: p.TCP.Ack, length: p.TransLen, wire: p.Wire,
		window: p.TCP.Window, ipid: p.IPID, flags: p.TCP.Flags, from: from, tos: p.TOS, hasID: p.IPVersion == 4,
		ipBad: p.Has(wire.FlagIPChecksumBad), pcp: p.PCP, vid: p.VID, hasVLAN: p.Has(wire.FlagVLAN),
		mac: p.EthSrc, hasMAC: p.Has(wire.FlagEth),
	}
	if opts := headerOptions(p); len(opts) > 0 {
		s.opt.parse(opts)
	}
	s.check = p.TCPChecksum()
	s.print = fingerprint(p)
	s.path = uint32(p.TTL)<<24 | uint32(p.VID)<<8 ^ uint32(p.EthSrc[5]) ^ uint32(p.EthSrc[4])<<8 ^ uint32(p.EthDst[5])<<16
}

// headerOptions is the options' octets as far as they were captured.
func headerOptions(p *wire.Packet) []byte {
	from, to := int(p.L4Off)+20, int(p.L4Off)+int(p.TCP.HeaderLen)
	to = min(to, len(p.Data))
	if from >= to {
		return nil
	}
	return p.Data[from:to]
}

// fingerprint is a hash of the TCP header, checksum included (it covers the
// payload), of the IP identification and of the payload's first octets (which
// matter where an offload left the checksum open).
func fingerprint(p *wire.Packet) uint64 {
	h := uint64(p.IPID)<<32 | uint64(p.TransLen)
	b := p.Data[min(int(p.L4Off), len(p.Data)):]
	b = b[:min(len(b), int(p.TCP.HeaderLen)+16)]
	for len(b) >= 8 {
		h = mix(h, binary.LittleEndian.Uint64(b))
		b = b[8:]
	}
	for _, c := range b {
		h = h<<8 | uint64(c)
	}
	return mix(h, 1)
}

// Options that a segment carried (RFC 9293 §3.2, RFC 7323, RFC 2018).
type tcpOptions struct {
	tsval, tsecr uint32
	mss          uint16
	scale        uint8
	hasTS        bool
	hasMSS       bool
	hasScale     bool
	sackOK       bool
	sacks        uint8
	sack         [4]block
}

// block is a SACK block, in sequence numbers.
type block struct{ lo, hi uint32 }

const (
	optEnd           = 0
	optNop           = 1
	optMSS           = 2
	optScale         = 3
	optSackPermitted = 4
	optSack          = 5
	optTimestamps    = 8
)

// parse reads options until one makes no sense.
func (o *tcpOptions) parse(b []byte) {
	for len(b) > 0 {
		kind := b[0]
		if kind == optNop {
			b = b[1:]
			continue
		}
		if kind == optEnd || len(b) < 2 || int(b[1]) < 2 || int(b[1]) > len(b) {
			return
		}
		o.option(kind, b[2:b[1]])
		b = b[b[1]:]
	}
}

func (o *tcpOptions) option(kind byte, v []byte) {
	switch {
	case kind == optTimestamps && len(v) == 8:
		o.hasTS = true
		o.tsval, o.tsecr = binary.BigEndian.Uint32(v), binary.BigEndian.Uint32(v[4:])
	case kind == optSack:
		for len(v) >= 8 && int(o.sacks) < len(o.sack) {
			o.sack[o.sacks] = block{binary.BigEndian.Uint32(v), binary.BigEndian.Uint32(v[4:])}
			o.sacks++
			v = v[8:]
		}
	case kind == optMSS && len(v) == 2:
		o.hasMSS, o.mss = true, binary.BigEndian.Uint16(v)
	case kind == optScale && len(v) == 1:
		o.hasScale, o.scale = true, v[0]
	case kind == optSackPermitted:
		o.sackOK = true
	}
}
