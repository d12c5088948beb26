package synth

import (
	"io"
	"math/rand/v2"
	"net/netip"
)

// BenchSpec is a big capture for measurements: RC WRITEs of three packets
// (FIRST, MIDDLE, LAST) with their ACKs, on many connections.
type BenchSpec struct {
	Packets     int // 0 means 2,000,000
	Connections int // 0 means 2,000
	Hosts       int // 0 means 128
	SnapLen     int // 0 means 128; below 0 nothing is cut
	Payload     int // octets of a packet and path MTU; 0 means 1024
	// Heavy is the share, 0 to 1, of packets that go to connections of one
	// host pair, which own the same share of the connections.
	Heavy float64
	// Burst > 1 sends so many packets of a connection in a row. 0 and 1 pick
	// the connection anew for every packet: bursts flatter a flow cache.
	Burst int
	Seed  uint64
	Gap   int64 // ns between packets; 0 means 100
}

func (b *BenchSpec) defaults() {
	for p, v := range map[*int]int{&b.Packets: 2_000_000, &b.Connections: 2_000, &b.Hosts: 128, &b.SnapLen: 128, &b.Payload: 1024} {
		if *p == 0 {
			*p = v
		}
	}
	if b.SnapLen < 0 {
		b.SnapLen = 262144
	}
	if b.Gap == 0 {
		b.Gap = 100
	}
	b.Hosts = max(b.Hosts, 2)
	b.Payload &^= 3
}

// Kinds of packets of a bench connection, in the order in which they come.
const (
	benchFirst = iota
	benchMiddle
	benchLast
	benchACK
	benchKinds
)

// benchConn is what changes along a connection.
type benchConn struct {
	host    [2]uint16
	qpn     [2]uint32
	psn     uint32 // of the requester's next message
	msn     uint32
	step    uint8
	srcPort uint16
}

// benchWriter fills templates: the frames of one kind differ only in
// addresses, numbers and check sums, so that whole frames are built four times
// and then patched.
type benchWriter struct {
	spec     BenchSpec
	template [benchKinds][]byte
	wire     [benchKinds]int
	conns    []benchConn
	heavy    int // connections of the heavy pair come first
	ids      []uint16
}

// Offsets in an untagged IPv4 frame.
const (
	offID    = 14 + 4
	offSum   = 14 + 10
	offSrc   = 14 + 12
	offDst   = 14 + 16
	offUDP   = 14 + 20
	offBTH   = offUDP + 8
	offAETH  = offBTH + 12
	benchNet = 0x0a000001 // 10.0.0.1
)

func newBenchWriter(spec BenchSpec) *benchWriter {
	spec.defaults()
	b := &benchWriter{spec: spec, ids: make([]uint16, spec.Hosts)}
	path := Path{
		SrcMAC: MAC{2, 0, 0, 0, 0, 0}, DstMAC: MAC{2, 0, 0, 0, 0, 0}, TOS: 26<<2 | 2,
		Src: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Dst: netip.AddrFrom4([4]byte{10, 0, 0, 2}),
	}
	flow := Flow{Path: path, MTU: spec.Payload, MigReq: true}
	data := Pattern(uint32(spec.Seed), 3*spec.Payload)
	for i := range 3 {
		b.template[i] = flow.Append(nil, flow.WritePacket(0, 0x7f00_0000_0000, 0x1234, data, i))
	}
	b.template[benchACK] = flow.Append(nil, ACK(0, 0))
	for k := range b.template {
		b.wire[k] = len(b.template[k])

	}
	b.connect()
	return b
}

// connect gives every connection its hosts and numbers. Queue pair numbers
// count up on each host, so that different hosts use the same ones.
func (b *benchWriter) connect() {
	rng := rand.New(rand.NewPCG(b.spec.Seed, 1))
	b.conns = make([]benchConn, b.spec.Connections)
	b.heavy = int(b.spec.Heavy * float64(b.spec.Connections))
	if b.spec.Heavy > 0 {
		b.heavy = max(b.heavy, 1)
	}
	next := make([]uint32, b.spec.Hosts)
	for i := range b.conns {
		c := &b.conns[i]
		if i >= b.heavy {
			c.host[0] = uint16(rng.IntN(b.spec.Hosts))
			c.host[1] = uint16(rng.IntN(b.spec.Hosts - 1))
			if c.host[1] >= c.host[0] {
				c.host[1]++
			}
		} else {
			c.host = [2]uint16{0, 1}
		}
		for side, h := range c.host {
			next[h]++
			c.qpn[side] = 0x100 + next[h]
		}
		c.psn = rng.Uint32() & 0xffffff
		c.srcPort = 0xc000 | uint16(rng.Uint32()&0x3fff)
	}
}

// patch turns a template into the connection's next packet.
func (b *benchWriter) patch(f []byte, c *benchConn, k int) {
	from, to := 0, 1
	if k == benchACK {
		from, to = 1, 0
	}
	src, dst := c.host[from], c.host[to]
	be.PutUint16(f[4:], dst)
	be.PutUint16(f[10:], src)
	be.PutUint16(f[offID:], b.ids[src])
	b.ids[src]++
	be.PutUint32(f[offSrc:], benchNet+uint32(src))
	be.PutUint32(f[offDst:], benchNet+uint32(dst))
	be.PutUint16(f[offSum:], 0)
	be.PutUint16(f[offSum:], Checksum(0, f[14:34]))
	be.PutUint16(f[offUDP:], c.srcPort)
	be.PutUint32(f[offBTH+4:], c.qpn[to])
	psn := c.psn + uint32(k)
	switch k {
	case benchFirst:
		be.PutUint64(f[offAETH:], 0x7f00_0000_0000+uint64(c.psn)<<12)
		be.PutUint32(f[offAETH+8:], 0x1000+c.qpn[1])
	case benchLast:
		psn |= 1 << 31 // AckReq: the bits between it and the PSN are dropped below
	case benchACK:
		psn = c.psn + 2
		c.msn++
		be.PutUint32(f[offAETH:], SyndromeACK<<24|c.msn&0xffffff)
	}
	be.PutUint32(f[offBTH+8:], psn&0x80ffffff)
}

// next advances a connection.
func (c *benchConn) next() (k int) {
	k = int(c.step)
	c.step++
	if c.step == benchKinds {
		c.step = 0
	}
	return k
}

// pick chooses the connection of the next packet.
func (b *benchWriter) pick(rng *rand.Rand) *benchConn {
	switch {
	case b.heavy == 0:
		return &b.conns[rng.IntN(len(b.conns))]
	case b.heavy == len(b.conns) || rng.Float64() < b.spec.Heavy:
		return &b.conns[rng.IntN(b.heavy)]
	}
	return &b.conns[b.heavy+rng.IntN(len(b.conns)-b.heavy)]
}

// WriteBench streams the capture as classic pcap with nanoseconds, the least
// significant octet first. The same specification gives the same octets.
func WriteBench(w io.Writer, spec BenchSpec) error {
	b := newBenchWriter(spec)
	rng := rand.New(rand.NewPCG(b.spec.Seed, 2))
	o := PcapOptions{Nanos: true, SnapLen: uint32(b.spec.SnapLen)}
	link := o.defaults(&Scenario{})
	const chunk = 1 << 20
	out := o.appendHeader(make([]byte, 0, chunk+1<<16), link)
	now := int64(1_700_000_000_000_000_000)
	var c *benchConn
	for i := range b.spec.Packets {
		if b.spec.Burst <= 1 || i%b.spec.Burst == 0 {
			c = b.pick(rng)
		}
		out = b.record(out, c, now)
		now += b.spec.Gap
		if len(out) >= chunk {
			if _, err := w.Write(out); err != nil {
				return err
			}
			out = out[:0]
		}
	}
	_, err := w.Write(out)
	return err
}

// record appends one record with the connection's next packet.
func (b *benchWriter) record(out []byte, c *benchConn, now int64) []byte {
	k := c.next()
	wire := b.wire[k]
	captured := min(wire, b.spec.SnapLen)
	out = le.AppendUint32(le.AppendUint32(out, uint32(now/1e9)), uint32(now%1e9))
	out = le.AppendUint32(le.AppendUint32(out, uint32(captured)), uint32(wire))
	at := len(out)
	out = append(out, b.template[k][:captured]...)
	f := out[at:]
	b.patch(f, c, k)
	if captured == wire {
		crc := icrcIPv4(f[14:wire-4], f[offUDP:wire-4])
		copy(f[wire-4:], crc[:])
	}
	if k == benchACK {
		c.psn = (c.psn + 3) & 0xffffff
	}
	return out
}
