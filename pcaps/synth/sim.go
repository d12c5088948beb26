package synth

import (
	"container/heap"
	"fmt"
	"math/rand/v2"
	"net/netip"
)

// Op is a kind of message.
type Op uint8

// The operations that the simulation knows.
const (
	OpWrite Op = iota
	OpSend
	OpRead
	OpFetchAdd
)

// Scheme is how the requester recovers.
type Scheme uint8

const (
	// GoBackN sends everything again from the missing PSN on (IBTA 9.9.2); the
	// responder throws away what comes out of order.
	GoBackN Scheme = iota
	// Selective sends the missing packet alone; the responder keeps what came
	// out of order.
	Selective
)

// Stretch is a stretch of the way that packets take.
type Stretch uint8

// The four stretches: before and behind the tap, in both directions.
const (
	AToTap Stretch = iota
	TapToB
	BToTap
	TapToA
)

// Kind sorts packets for losses.
type Kind uint8

const (
	KindRequest  Kind = iota
	KindResponse      // READ responses and atomic answers
	KindACK
	KindNAK // sequence and RNR NAKs
	kinds
)

// Impair is what a stretch does to packets. Probabilities are 0 to 1.
type Impair struct {
	Loss      [kinds]float64
	Duplicate float64
	Reorder   float64 // delayed by ReorderBy, so that others overtake
	ReorderBy int64   // ns; 0 means 20 packet gaps
	Corrupt   float64 // one bit flipped: the receiver drops the packet
}

// LossAll is an Impair that loses every kind equally.
func LossAll(p float64) Impair { return Impair{Loss: [kinds]float64{p, p, p, p}} }

// SimConfig is one run. The zero value of a field means what its comment says.
type SimConfig struct {
	Seed     uint64
	Messages int  // per requester; 0 means 50
	MaxSize  int  // octets, sizes are random up to it; 0 means 4 MTU
	Mix      []Op // in rotation; nil means WRITE
	MTU      int  // 0 means 1024
	Window   int  // messages outstanding; 0 means 8
	Both     bool // B sends requests as well

	Scheme     Scheme
	AckTimeout int64 // ns; 0 means 1,048,576 (code 8)
	RetryCount int   // 7 retries for ever, as rxe does; 0 means 7
	AckDelay   int64 // ns by which the responder delays ACKs, merging them
	RNR        float64
	RNRTimer   uint8 // code; 0 means 1 (10 µs)

	Delay int64 // ns per stretch; 0 means 2000
	Gap   int64 // ns between packets of a host; 0 means 300

	Impair      [4]Impair // by Stretch
	CaptureLoss float64   // share of packets that pass the tap uncaptured
	// Drop loses a packet on purpose. nth counts, from 0, the sendings of that
	// PSN by the same host as packets of the same kind.
	Drop func(at Stretch, kind Kind, psn uint32, nth int) bool

	QPN        [2]uint32 // 0 means 0x11, 0x12
	StartPSN   [2]uint32
	Path       *Path // of A's packets; nil means 10.0.0.1 to 10.0.0.2
	ConstantID bool  // the IP identification doesn't count
	CM         bool  // connection setup and teardown are in the capture
	Start      int64 // time of the first packet, ns
}

func (c *SimConfig) defaults() {
	set := func(p *int64, v int64) {
		if *p == 0 {
			*p = v
		}
	}
	set(&c.AckTimeout, 4096<<8)
	set(&c.Delay, 2000)
	set(&c.Gap, 300)
	set(&c.Start, 1_700_000_000_000_000_000)
	for p, v := range map[*int]int{&c.Messages: 50, &c.MTU: 1024, &c.Window: 8, &c.RetryCount: 7} {
		if *p == 0 {
			*p = v
		}
	}
	if c.MaxSize == 0 {
		c.MaxSize = 4 * c.MTU
	}
	if c.Mix == nil {
		c.Mix = []Op{OpWrite}
	}
	if c.RNRTimer == 0 {
		c.RNRTimer = 1
	}
	if c.QPN == ([2]uint32{}) {
		c.QPN = [2]uint32{0x11, 0x12}
	}
	if c.Path == nil {
		c.Path = &Path{
			SrcMAC: MAC{2, 0, 0, 0, 0, 1}, DstMAC: MAC{2, 0, 0, 0, 0, 2},
			Src: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Dst: netip.AddrFrom4([4]byte{10, 0, 0, 2}),
			TOS: 26<<2 | 2, SrcPort: 0xc011,
		}
	}
	for i := range c.Impair {
		set(&c.Impair[i].ReorderBy, 20*c.Gap)
	}
}

// event is something due at a time; equal times go in the order of creation.
type event struct {
	at  int64
	seq int
	do  func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].seq < e[j].seq
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	old := *e
	last := old[len(old)-1]
	*e = old[:len(old)-1]
	return last
}

// world is one run.
type world struct {
	cfg    *SimConfig
	rng    *rand.Rand
	now    int64
	queue  events
	seq    int
	half   []*half // requesters: A's, and B's if both
	host   [2]*host
	seg    [4]int64 // time at which the last packet left each stretch
	flow   [2]Flow
	sent   map[sending]int
	truth  *Truth
	result *Scenario
}

// sending identifies the sendings of one PSN.
type sending struct {
	half int
	kind Kind
	psn  int64
}

// half is one PSN space: a requester and the responder to it.
type half struct {
	w   *world
	n   int // index, and the side of the requester
	req requester
	rsp responder
	lat *HalfTruth

	covered int // messages up to which a response at the tap has covered all
}

// after schedules do.
func (w *world) after(d int64, do func()) {
	w.seq++
	heap.Push(&w.queue, event{w.now + d, w.seq, do})
}

// maxEvents stops a run that makes no progress, such as one whose losses are
// total.
const maxEvents = 20_000_000

// Simulate runs the connection to its end: every message complete, or the
// retries exhausted.
func Simulate(cfg SimConfig) (*Scenario, *Truth) {
	cfg.defaults()
	w := &world{
		cfg: &cfg, rng: rand.New(rand.NewPCG(cfg.Seed, 0x73796e7468)), now: cfg.Start,
		sent: map[sending]int{}, truth: &Truth{}, result: &Scenario{},
	}
	conn := NewConn(w.result, *cfg.Path, cfg.QPN, cfg.StartPSN, cfg.Start)
	if cfg.CM {
		conn.Connect(7471, func(r *REQ, _ *REP) { r.Primary.ACKTimeout = timeoutCode(cfg.AckTimeout) })
		w.now = conn.Now
	}
	w.flow = conn.Flow
	for side := range w.flow {
		w.flow[side].MTU, w.flow[side].AutoID = cfg.MTU, !cfg.ConstantID
		w.host[side] = &host{w: w, side: side}
	}
	w.half = append(w.half, newHalf(w, SideA))
	if cfg.Both {
		w.half = append(w.half, newHalf(w, SideB))
	}
	for _, h := range w.half {
		w.host[h.n].kick()
	}
	for n := 0; w.queue.Len() > 0; n++ {
		if n == maxEvents {
			panic(fmt.Sprintf("synth: simulation with seed %d doesn't end", cfg.Seed))
		}
		e := heap.Pop(&w.queue).(event)
		w.now = e.at
		e.do()
	}
	if cfg.CM {
		conn.Flow, conn.Now = w.flow, w.now+cfg.Delay
		conn.Disconnect(SideA)
	}
	w.truth.finish(w)
	return w.result, w.truth
}

// timeoutCode is the largest code n whose 4.096 µs · 2ⁿ isn't above t.
func timeoutCode(t int64) uint8 {
	n := uint8(1)
	for n < 31 && 4096<<(n+1) <= t {
		n++
	}
	return n
}

func newHalf(w *world, side int) *half {
	h := &half{w: w, n: side, lat: &w.truth.Half[side]}
	h.req = requester{half: h}
	h.rsp = responder{half: h, kept: map[int64]*flight{}}
	next := int64(0)
	for i := range w.cfg.Messages {
		m := message{op: w.cfg.Mix[i%len(w.cfg.Mix)], first: next, size: 8, n: 1, va: uint64(i+1) << 24}
		if m.op != OpFetchAdd {
			m.size = w.rng.IntN(w.cfg.MaxSize + 1)
			m.n = int64(packetsOf(m.size, w.cfg.MTU))
		}
		next += m.n
		h.req.msgs = append(h.req.msgs, m)
		h.lat.Messages = append(h.lat.Messages, Message{
			Op: m.op, Size: m.size, FirstPSN: h.wire(m.first), Packets: int(m.n),
			FirstSeen: -1, LastSeen: -1, Covered: -1, FirstResponse: -1, LastResponse: -1,
		})
	}
	return h
}

// wire is the 24-bit form of an unbounded PSN, which counts from 0 at the
// start of the connection.
func (h *half) wire(psn int64) uint32 {
	return (h.w.cfg.StartPSN[h.n] + uint32(psn)) & 0xffffff
}
