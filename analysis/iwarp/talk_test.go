package iwarp_test

import (
	"net/netip"
	"time"

	"rdmascope/analysis/iwarp"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// talk writes a connection packet by packet, so that what happened is known.
type talk struct {
	list  []wire.Packet
	dec   wire.Decoder
	now   time.Duration
	path  [2]synth.Path
	seq   [2]uint32 // next of either side
	ack   [2]uint32 // what either side has in order
	id    [2]uint16
	stamp [2]uint32 // timestamps; 0 sends none
	noID  bool
	lose  bool // the next packet isn't seen
	port  uint16
}

const (
	ms = time.Millisecond
	us = time.Microsecond
)

func newTalk(six bool, isn uint32) *talk {
	a, b := netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("10.0.0.2")
	if six {
		a, b = netip.MustParseAddr("fd00::1"), netip.MustParseAddr("fd00::2")
	}
	t := &talk{now: time.Hour, port: 7000}
	t.path[0] = synth.Path{SrcMAC: synth.MAC{2, 0, 0, 0, 0, 1}, DstMAC: synth.MAC{2, 0, 0, 0, 0, 2}, Src: a, Dst: b}
	t.path[1] = t.path[0].Reverse()
	t.seq = [2]uint32{isn, isn + 77}
	t.id = [2]uint16{100, 500}
	return t
}

// put adds a packet of side i as it is, and returns its frame.
func (t *talk) put(i int, s synth.Segment) []byte {
	t.now += 50 * us
	p := t.path[i]
	if t.id[i]++; !t.noID {
		p.ID = t.id[i]
	}
	s.SrcPort, s.DstPort = t.port, 4420
	if i == 1 {
		s.SrcPort, s.DstPort = s.DstPort, s.SrcPort
	}
	if s.Window == 0 {
		s.Window = 500
	}
	if t.stamp[i] != 0 {
		s.Options = append(append([]byte{}, s.Options...), synth.TCPTimestamps(t.stamp[i], 1)...)
	}
	b := synth.AppendTCP(nil, &p, &s)
	t.frame(b)
	return b
}

func (t *talk) frame(b []byte) {
	if t.lose {
		t.lose = false
		return
	}
	p := wire.Packet{Number: int64(len(t.list) + 1), Time: int64(t.now), Data: b, Wire: uint32(len(b)), Link: 1}
	t.dec.Decode(&p)
	t.list = append(t.list, p)
}

// data sends the next octets of side i.
func (t *talk) data(i int, b []byte) {
	t.put(i, synth.Segment{Seq: t.seq[i], Ack: t.ack[i], Flags: synth.ACKFlag | synth.PSH, Payload: b})
	t.seq[i] += uint32(len(b))
}

// lost sends octets that the tap doesn't see.
func (t *talk) lost(i int, b []byte) {
	t.lose = true
	t.data(i, b)
}

// again sends octets at seq again.
func (t *talk) again(i int, seq uint32, b []byte) {
	t.put(i, synth.Segment{Seq: seq, Ack: t.ack[i], Flags: synth.ACKFlag, Payload: b})
}

// acks lets side i acknowledge up to n.
func (t *talk) acks(i int, n uint32, sacks ...uint32) {
	t.ack[i] = n
	s := synth.Segment{Seq: t.seq[i], Ack: n, Flags: synth.ACKFlag}
	if len(sacks) > 0 {
		s.Options = synth.TCPSACK(sacks...)
	}
	t.put(i, s)
}

// all lets side i acknowledge all that the other sent.
func (t *talk) all(i int) { t.acks(i, t.seq[1-i]) }

// open is the TCP handshake.
func (t *talk) open() {
	t.put(0, synth.Segment{Seq: t.seq[0], Flags: synth.SYN, Options: synth.TCPSynOptions(1460, 7)})
	t.seq[0]++
	t.put(1, synth.Segment{Seq: t.seq[1], Ack: t.seq[0], Flags: synth.SYN | synth.ACKFlag, Options: synth.TCPSynOptions(1460, 7)})
	t.seq[1]++
	t.ack = [2]uint32{t.seq[1], t.seq[0]}
	t.all(0)
}

// start is the handshakes of TCP and MPA.
func (t *talk) start(crc bool) {
	t.open()
	flags := uint8(synth.MPAEnhanced)
	if crc {
		flags |= synth.MPACRC
	}
	t.data(0, synth.MPAFrame(false, flags, 2, synth.MPADepths(0, 4, 4)))
	t.all(1)
	t.data(1, synth.MPAFrame(true, flags, 2, synth.MPADepths(0, 4, 4)))
	t.all(0)
}

func (t *talk) result() iwarp.Result { return track(t.list, iwarp.Options{}) }

// flow is the only connection's data of side i.
func (t *talk) flow(r iwarp.Result, i int) *iwarp.Flow {
	f := &r.Connections[0].Flows[0]
	if f.SrcPort != t.port {
		f = &r.Connections[0].Flows[1]
	}
	if i == 1 {
		if f == &r.Connections[0].Flows[0] {
			return &r.Connections[0].Flows[1]
		}
		return &r.Connections[0].Flows[0]
	}
	return f
}

// send is a Send of n octets in one FPDU.
func send(msn uint32, n int) []byte {
	return synth.AppendFPDU(nil, synth.Untagged(synth.RDMAPSend, true, 0, 0, msn, 0, make([]byte, n)), true)
}
