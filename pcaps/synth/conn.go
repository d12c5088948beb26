package synth

// Sides of a connection.
const (
	SideA = 0
	SideB = 1
)

// Conn writes the clean life of one RC connection into a scenario: each call
// is one message with its answer, as a tap between the two sees it. Side names
// the requester of a message. Between calls the fields may be changed, and
// single packets go out by Emit.
type Conn struct {
	S    *Scenario
	Flow [2]Flow   // Flow[SideA] carries what A sends, to B's queue pair
	PSN  [2]uint32 // next PSN of each side's requests
	MSN  [2]uint32 // messages of each side that the other has completed
	Now  int64     // time of the next frame
	Gap  int64     // between the packets of one sender
	Turn int64     // from the tap to the responder and back

	cm [2]uint32 // PSNs of the two QP1
}

// NewConn begins a connection at time now. a is the way from A to B; qpn and
// psn are those of A and B.
func NewConn(s *Scenario, a Path, qpn, psn [2]uint32, now int64) *Conn {
	b := a.Reverse()
	return &Conn{
		S: s, PSN: psn, Now: now, Gap: 1000, Turn: 5000,
		Flow: [2]Flow{{Path: a, DestQP: qpn[SideB], AutoID: true}, {Path: b, DestQP: qpn[SideA], AutoID: true}},
	}
}

// QPN is the queue pair number of a side.
func (c *Conn) QPN(side int) uint32 { return c.Flow[1-side].DestQP }

// Emit writes one packet of a side at the present time, then lets gap pass.
func (c *Conn) Emit(side int, p Packet, gap int64) {
	c.S.Add(c.Now, c.Flow[side].Append(nil, p))
	c.Now += gap
}

// requests writes n request packets, the last followed by the turn-around.
func (c *Conn) requests(side, n int, packet func(i int) Packet) {
	for i := range n {
		gap := c.Gap
		if i == n-1 {
			gap = c.Turn
		}
		c.Emit(side, packet(i), gap)
	}
}

// finish counts a message of n PSNs; the answer's PSN is the last of them.
func (c *Conn) finish(side, n int) (psn, msn uint32) {
	c.PSN[side] = (c.PSN[side] + uint32(n)) & 0xffffff
	c.MSN[side] = (c.MSN[side] + 1) & 0xffffff
	return c.PSN[side] - 1, c.MSN[side]
}

// acknowledged writes the ACK of a message of n packets.
func (c *Conn) acknowledged(side, n int) {
	psn, msn := c.finish(side, n)
	c.Emit(1-side, ACK(psn, msn), c.Gap)
}

// Send is a SEND of data and its ACK.
func (c *Conn) Send(side int, data []byte) {
	f := &c.Flow[side]
	n := f.Packets(len(data))
	c.requests(side, n, func(i int) Packet { return f.SendPacket(c.PSN[side], data, i) })
	c.acknowledged(side, n)
}

// Write is an RDMA WRITE of data and its ACK.
func (c *Conn) Write(side int, va uint64, rkey uint32, data []byte) {
	f := &c.Flow[side]
	n := f.Packets(len(data))
	c.requests(side, n, func(i int) Packet { return f.WritePacket(c.PSN[side], va, rkey, data, i) })
	c.acknowledged(side, n)
}

// Read is an RDMA READ and its responses.
func (c *Conn) Read(side int, va uint64, rkey uint32, data []byte) {
	f := &c.Flow[1-side]
	n := f.Packets(len(data))
	start := c.PSN[side]
	c.Emit(side, Read(start, va, rkey, len(data)), c.Turn)
	_, msn := c.finish(side, n)
	for i := range n {
		c.Emit(1-side, f.ReadResponse(start, msn, data, i), c.Gap)
	}
}

// FetchAdd is an atomic and its answer.
func (c *Conn) FetchAdd(side int, va uint64, rkey uint32, add, original uint64) {
	c.Emit(side, FetchAddRequest(c.PSN[side], va, rkey, add), c.Turn)
	psn, msn := c.finish(side, 1)
	c.Emit(1-side, AtomicResponse(psn, msn, original), c.Gap)
}

// CompareSwap is an atomic and its answer.
func (c *Conn) CompareSwap(side int, va uint64, rkey uint32, swap, compare, original uint64) {
	c.Emit(side, CompareSwapRequest(c.PSN[side], va, rkey, swap, compare), c.Turn)
	psn, msn := c.finish(side, 1)
	c.Emit(1-side, AtomicResponse(psn, msn, original), c.Gap)
}

// mad writes a CM message on QP1.
func (c *Conn) mad(side int, m MAD, gap int64) {
	p := MADPacket(c.cm[side], &m)
	c.cm[side]++
	f := &c.Flow[side]
	c.S.Add(c.Now, AppendRoCEv2(nil, &f.Path, &p))
	if f.AutoID {
		f.ID++
	}
	c.Now += gap
}

// commID is a side's communication id: distinct for each queue pair.
func (c *Conn) commID(side int) uint32 { return 0xc0000000 | uint32(side)<<24 | c.QPN(side) }

func (c *Conn) transaction() uint64 { return 0x5359<<32 | uint64(c.QPN(SideA)) }

// mtuCode is the code of the path MTU in a REQ.
func (c *Conn) mtuCode() uint8 {
	code := uint8(1)
	for mtu := 256; mtu < c.Flow[SideA].mtu(); mtu *= 2 {
		code++
	}
	return code
}

// REQ is the request with which A opens the connection, to be changed before
// it goes out by Connect.
func (c *Conn) REQ(port uint16) REQ {
	p := &c.Flow[SideA].Path
	return REQ{
		LocalCommID: c.commID(SideA), ServiceID: ServiceID(6, port), CAGUID: 0x5054_00ff_fe00_0001,
		LocalQPN: c.QPN(SideA), ResponderResources: 16, InitiatorDepth: 16, RemoteCMTimeout: 20,
		StartingPSN: c.PSN[SideA], LocalCMTimeout: 20, RetryCount: 7, PKey: 0xffff,
		PathMTU: c.mtuCode(), RNRRetry: 7, MaxCMRetries: 15,
		Primary: CMPath{
			LocalLID: 0xffff, RemoteLID: 0xffff, LocalGID: GID(p.Src), RemoteGID: GID(p.Dst),
			TClass: p.TOS, HopLimit: 64, SubnetLocal: true, ACKTimeout: 14,
		},
		Private: IPCMHeader(40000, p.Src, p.Dst),
	}
}

// REP is the answer of B.
func (c *Conn) REP() REP {
	return REP{
		LocalCommID: c.commID(SideB), RemoteCommID: c.commID(SideA), LocalQPN: c.QPN(SideB),
		StartingPSN: c.PSN[SideB], ResponderResources: 16, InitiatorDepth: 16, TargetACKDelay: 15,
		RNRRetry: 7, CAGUID: 0x5054_00ff_fe00_0002,
	}
}

// Connect writes REQ, REP and RTU. change, if any, alters the first two.
func (c *Conn) Connect(port uint16, change func(*REQ, *REP)) {
	req, rep := c.REQ(port), c.REP()
	if change != nil {
		change(&req, &rep)
	}
	t := c.transaction()
	c.mad(SideA, req.MAD(t), c.Turn)
	c.mad(SideB, rep.MAD(t), c.Turn)
	c.mad(SideA, RTU(t, c.commID(SideA), c.commID(SideB), nil), c.Turn)
}

// Refuse writes REQ and REJ.
func (c *Conn) Refuse(port, reason uint16) {
	req := c.REQ(port)
	t := c.transaction()
	c.mad(SideA, req.MAD(t), c.Turn)
	c.mad(SideB, REJ(t, 0, c.commID(SideA), 0, reason, nil, nil), c.Turn)
}

// Disconnect writes DREQ and DREP, from the given side on.
func (c *Conn) Disconnect(side int) {
	t := c.transaction() + 1
	c.mad(side, DREQ(t, c.commID(side), c.commID(1-side), c.QPN(1-side), nil), c.Turn)
	c.mad(1-side, DREP(t, c.commID(1-side), c.commID(side), nil), c.Turn)
}

// Pattern is size octets of payload that differ by seed.
func Pattern(seed uint32, size int) []byte {
	b := make([]byte, size)
	x := seed*2654435761 + 1
	for i := range b {
		x = x*1664525 + 1013904223
		b[i] = byte(x >> 24)
	}
	return b
}
