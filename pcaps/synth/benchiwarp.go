package synth

import (
	"io"
	"math/rand/v2"
	"net/netip"
)

// IWARPBenchSpec is a big iWARP capture for measurements: RDMA WRITEs of one
// FPDU a segment, aligned, with an ACK for every second, on many connections.
// Nothing is cut: a stream whose segments are cut is another task.
type IWARPBenchSpec struct {
	Packets     int // handshakes not counted; 0 means 500,000
	Connections int // 0 means 1,000
	Hosts       int // 0 means 128
	Payload     int // octets of a WRITE; 0 means 1408
	CRC         bool
	Seed        uint64
	Gap         int64 // ns between packets; 0 means 1000
}

func (s *IWARPBenchSpec) defaults() {
	for p, v := range map[*int]int{&s.Packets: 500_000, &s.Connections: 1_000, &s.Hosts: 128, &s.Payload: 1408} {
		if *p == 0 {
			*p = v
		}
	}
	if s.Gap == 0 {
		s.Gap = 1000
	}
	s.Hosts = max(s.Hosts, 2)
}

// iwarpBenchConn is what changes along a connection; side 0 sends.
type iwarpBenchConn struct {
	path [2]Path
	port uint16
	seq  [2]uint32
	id   [2]uint16
	to   uint64
	step uint8
}

const iwarpBenchPort = 7471

// segment appends the connection's next packet of one side.
func (c *iwarpBenchConn) segment(dst []byte, from int, flags uint8, options, payload []byte) []byte {
	s := Segment{SrcPort: c.port, DstPort: iwarpBenchPort, Seq: c.seq[from], Ack: c.seq[1-from], Flags: flags, Window: 0xffff,
		Options: options, Payload: payload}
	if from == 1 {
		s.SrcPort, s.DstPort = s.DstPort, s.SrcPort
	}
	if flags&ACKFlag == 0 {
		s.Ack = 0
	}
	c.path[from].ID = c.id[from]
	c.id[from]++
	c.seq[from] += uint32(len(payload))
	if flags&SYN != 0 {
		c.seq[from]++
	}
	return AppendTCP(dst, &c.path[from], &s)
}

// start appends the packets of the handshakes of TCP and MPA by way of emit.
func (c *iwarpBenchConn) start(crc bool, emit func(frame []byte) error) error {
	flags := uint8(0)
	if crc {
		flags = MPACRC
	}
	for _, p := range []struct {
		from    int
		flags   uint8
		options []byte
		payload []byte
	}{
		{0, SYN, TCPSynOptions(1460, 7), nil},
		{1, SYN | ACKFlag, TCPSynOptions(1460, 7), nil},
		{0, ACKFlag, nil, nil},
		{0, ACKFlag | PSH, nil, MPAFrame(false, flags, 1, nil)},
		{1, ACKFlag | PSH, nil, MPAFrame(true, flags, 1, nil)},
	} {
		if err := emit(c.segment(nil, p.from, p.flags, p.options, p.payload)); err != nil {
			return err
		}
	}
	return nil
}

// WriteIWARPBench streams the capture as classic pcap with nanoseconds. The
// same specification gives the same octets.
func WriteIWARPBench(w io.Writer, spec IWARPBenchSpec) error {
	spec.defaults()
	o := PcapOptions{Nanos: true}
	link := o.defaults(&Scenario{})
	if _, err := w.Write(o.appendHeader(nil, link)); err != nil {
		return err
	}
	now := int64(1_700_000_000_000_000_000)
	var record []byte
	emit := func(frame []byte) error {
		record = le.AppendUint32(le.AppendUint32(record[:0], uint32(now/1e9)), uint32(now%1e9))
		record = le.AppendUint32(le.AppendUint32(record, uint32(len(frame))), uint32(len(frame)))
		now += spec.Gap
		_, err := w.Write(append(record, frame...))
		return err
	}
	conns := newIWARPBench(&spec)
	for i := range conns {
		if err := conns[i].start(spec.CRC, emit); err != nil {
			return err
		}
	}
	rng := rand.New(rand.NewPCG(spec.Seed, 3))
	data := Pattern(uint32(spec.Seed), spec.Payload)
	var frame []byte
	for range spec.Packets {
		c := &conns[rng.IntN(len(conns))]
		if c.step == 2 {
			c.step = 0
			frame = c.segment(frame[:0], 1, ACKFlag, nil, nil)
		} else {
			c.step++
			fpdu := AppendFPDU(nil, Tagged(RDMAPWrite, true, 0x1234, c.to, data), spec.CRC)
			c.to += uint64(len(data))
			frame = c.segment(frame[:0], 0, ACKFlag|PSH, nil, fpdu)
		}
		if err := emit(frame); err != nil {
			return err
		}
	}
	return nil
}

// newIWARPBench gives every connection its hosts and numbers.
func newIWARPBench(spec *IWARPBenchSpec) []iwarpBenchConn {
	rng := rand.New(rand.NewPCG(spec.Seed, 1))
	conns := make([]iwarpBenchConn, spec.Connections)
	for i := range conns {
		c := &conns[i]
		a := rng.IntN(spec.Hosts)
		b := (a + 1 + rng.IntN(spec.Hosts-1)) % spec.Hosts
		host := func(n int) netip.Addr { return netip.AddrFrom4([4]byte{10, 0, byte(n >> 8), byte(n)}) }
		mac := func(n int) MAC { return MAC{2, 0, 0, 0, byte(n >> 8), byte(n)} }
		c.path[0] = Path{SrcMAC: mac(a), DstMAC: mac(b), Src: host(a), Dst: host(b)}
		c.path[1] = Path{SrcMAC: mac(b), DstMAC: mac(a), Src: host(b), Dst: host(a)}
		c.port = uint16(10_000 + i%50_000)
		c.seq = [2]uint32{rng.Uint32(), rng.Uint32()}
		c.id = [2]uint16{uint16(rng.Uint32()), uint16(rng.Uint32())}
		c.to = uint64(rng.Uint32()) << 12
	}
	return conns
}
