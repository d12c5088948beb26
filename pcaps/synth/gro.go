package synth

import "slices"

// Received is a copy as a host with UDP receive offload (GRO) captures it:
// RoCEv2 datagrams over IPv4 that follow one another in a flow, counted on in
// their IP identification, are put together into frames of at most most
// datagrams. Linux ends a run with the first datagram that is shorter than the
// one that began it, and at 64 KiB (udp_gro_receive_segment). A frame has the
// time and the headers of its first datagram, with lengths and checksum of the
// whole; every datagram keeps its ICRC.
func (s *Scenario) Received(most int) *Scenario {
	c := &Scenario{Link: s.Link}
	var head Frame // of the run
	n, size := 0, 0
	flush := func() {
		if n > 0 {
			c.Frames = append(c.Frames, head)
		}
		n = 0
	}
	for _, f := range s.Frames {
		d, ok := roceDatagram(f.Data)
		if !ok {
			flush()
			c.Frames = append(c.Frames, f)
			continue
		}
		if n > 0 && n < most && len(d) <= size && len(head.Data)+len(d) < 64<<10 && follows(head.Data, f.Data, n) {
			grown(&head, d)
			if n++; len(d) < size {
				flush()
			}
			continue
		}
		flush()
		head, n, size = f, 1, len(d)
	}
	flush()
	return c
}

// Offsets in Ethernet with IPv4 without options.
const (
	groIP   = 14
	groUDP  = groIP + 20
	groData = groUDP + 8
)

// roceDatagram returns the UDP payload of a whole RoCEv2 frame over IPv4.
func roceDatagram(b []byte) ([]byte, bool) {
	if len(b) < groData+16 || be.Uint16(b[12:]) != EtherIPv4 || b[groIP] != 0x45 || b[groIP+9] != ProtoUDP ||
		be.Uint16(b[groUDP+2:]) != RoCEPort || len(b) != groIP+int(be.Uint16(b[groIP+2:])) {
		return nil, false
	}
	return b[groData:], true
}

// follows tells whether datagram b continues the run of n that a begins.
func follows(a, b []byte, n int) bool {
	return slices.Equal(a[groIP+8:groIP+10], b[groIP+8:groIP+10]) && slices.Equal(a[groIP+12:groUDP+4], b[groIP+12:groUDP+4]) &&
		a[groIP+1] == b[groIP+1] && be.Uint16(a[groIP+4:])+uint16(n) == be.Uint16(b[groIP+4:])
}

func grown(f *Frame, datagram []byte) {
	b := slices.Concat(f.Data, datagram)
	be.PutUint16(b[groIP+2:], uint16(len(b)-groIP))
	be.PutUint16(b[groUDP+4:], uint16(len(b)-groUDP))
	be.PutUint16(b[groIP+10:], 0)
	be.PutUint16(b[groIP+10:], Checksum(0, b[groIP:groUDP]))
	f.Data = b
}
