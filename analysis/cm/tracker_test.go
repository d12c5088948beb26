package cm

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
	"rdmascope/pcaps/synth"
)

// feed drives a tracker with frames.
type feed struct {
	t           *testing.T
	tr          *Tracker
	dec         *wire.Decoder
	now, number int64
	psn         uint32
	connects    []Connect
	disconnects []Disconnect
	lastFrame   []byte
}

func newFeed(t *testing.T) *feed { return newFeedOf(t, Options{}) }

func newFeedOf(t *testing.T, o Options) *feed {
	f := &feed{t: t, dec: wire.NewDecoder(wire.Config{}), now: 1e18}
	f.tr = New(o, Events{
		Connect:    func(c *Connect) { f.connects = append(f.connects, *c) },
		Disconnect: func(d *Disconnect) { f.disconnects = append(f.disconnects, *d) },
	})
	return f
}

func (f *feed) packet(p *wire.Packet) {
	f.number++
	f.now += 1e6 + 1
	p.Number, p.Time = f.number, f.now
	f.dec.Decode(p)
	f.tr.Packet(p)
}

func (f *feed) frame(b []byte) {
	f.lastFrame = b
	f.packet(&wire.Packet{Link: 1, Data: b, Wire: uint32(len(b))})
}

var hostA, hostB = netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")

// from sends a MAD from a or b.
func (f *feed) from(side Side, m synth.MAD) {
	path := synth.Path{SrcMAC: synth.MAC{2, 0, 0, 0, 0, 1}, DstMAC: synth.MAC{2, 0, 0, 0, 0, 2}, Src: hostA, Dst: hostB, SrcPort: 50000}
	if side == B {
		path = path.Reverse()
	}
	f.psn++
	p := synth.MADPacket(f.psn, &m)
	f.frame(synth.AppendRoCEv2(nil, &path, &p))
}

func (f *feed) result() Result { return f.tr.Result(f.now) }

func (f *feed) only() Dialogue {
	f.t.Helper()
	r := f.result()
	require.Len(f.t, r.Dialogues, 1)
	return r.Dialogues[0]
}

const (
	idA, idB   = 0xa1, 0xb1
	qpnA, qpnB = 0x11, 0x22
)

func req(tid uint64) synth.MAD {
	r := synth.REQ{LocalCommID: idA, ServiceID: synth.ServiceID(6, 20049), LocalQPN: qpnA, StartingPSN: 1000, PathMTU: 3,
		RetryCount: 5, RNRRetry: 6, RemoteCMTimeout: 10, Primary: synth.CMPath{ACKTimeout: 14, FlowLabel: 0x12345}}
	return r.MAD(tid)
}

func rep(tid uint64) synth.MAD {
	r := synth.REP{LocalCommID: idB, RemoteCommID: idA, LocalQPN: qpnB, StartingPSN: 2000}
	return r.MAD(tid)
}

// TestLife follows a dialogue from REQ to DREP, retries included.
func TestLife(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7))
	require.Equal(t, Requested, f.only().State)
	require.Empty(t, f.connects)
	f.from(A, req(7))
	require.Equal(t, NoReply, f.only().State, "sent again: no answer came in time")
	f.from(B, rep(7))
	require.Equal(t, Replied, f.only().State)
	require.Len(t, f.connects, 1, "data may come before the RTU")
	f.from(B, rep(7))
	f.from(A, synth.RTU(7, idA, idB, nil))
	require.Equal(t, Established, f.only().State)
	f.from(B, rep(7)) // late
	require.Equal(t, Established, f.only().State)
	f.from(B, synth.DREQ(8, idB, idA, qpnA, nil))
	f.from(B, synth.DREQ(8, idB, idA, qpnA, nil))
	require.Equal(t, Disconnecting, f.only().State)
	f.from(A, synth.DREP(8, idA, idB, nil))
	d := f.only()
	require.Equal(t, Closed, d.State)
	require.Equal(t, []int64{2, 3}, []int64{d.Requests(), d.Replies()})
	require.EqualValues(t, 1+2+1, d.Retried())
	require.Equal(t, "nfs", d.ULP)
	require.Len(t, f.connects, 1)
	c := f.connects[0]
	require.Equal(t, []any{false, roce.QPN(qpnA), roce.QPN(qpnB), roce.PSN(2000), roce.PSN(1000), int64(3)},
		[]any{c.Partial, c.A.QPN, c.B.QPN, c.A.StartingPSN, c.B.StartingPSN, c.Packet})
	require.Len(t, f.disconnects, 1)
	require.Equal(t, B, f.disconnects[0].By)
	ns, ok := d.RequestToReply()
	require.True(t, ok)
	require.EqualValues(t, 2*(1e6+1), ns)
	ns, ok = d.ReplyToReady()
	require.True(t, ok)
	require.EqualValues(t, 2*(1e6+1), ns)
}

// TestOneDirection: the capture has the initiator's messages only.
func TestOneDirection(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7))
	require.Empty(t, f.connects, "a REQ alone proves nothing")
	f.from(A, synth.RTU(7, idA, idB, nil))
	require.Len(t, f.connects, 1)
	require.True(t, f.connects[0].Partial)
	require.False(t, f.connects[0].B.HasQPN)
	require.EqualValues(t, idB, f.connects[0].B.CommID, "the RTU names it")
	f.from(A, synth.DREQ(8, idA, idB, qpnB, nil))
	require.EqualValues(t, qpnB, f.disconnects[0].B.QPN, "the DREQ names the other end's QPN")
	require.Equal(t, Disconnecting, f.only().State)

	g := newFeed(t) // the responder's only
	g.from(B, rep(7))
	require.Len(t, g.connects, 1)
	require.True(t, g.connects[0].Partial)
	require.Equal(t, "192.0.2.2", g.connects[0].B.Addr.String(), "a REP comes from the responder")
	require.EqualValues(t, qpnB, g.connects[0].B.QPN)
	g.from(A, req(7)) // sent again, or captured out of order
	require.Len(t, g.connects, 2)
	require.False(t, g.connects[1].Partial)
	require.Equal(t, g.connects[0].Dialogue, g.connects[1].Dialogue)
}

// TestUnknownDREQ: the connection is older than the capture.
func TestUnknownDREQ(t *testing.T) {
	f := newFeed(t)
	f.from(B, synth.DREQ(9, idB, idA, qpnA, nil))
	f.from(A, synth.DREP(9, idA, idB, nil))
	d := f.only()
	require.Equal(t, Closed, d.State)
	require.False(t, d.InitiatorKnown)
	require.Len(t, f.disconnects, 1)
	require.False(t, f.disconnects[0].Known)
	require.Equal(t, "192.0.2.1", f.disconnects[0].B.Addr.String())
	require.EqualValues(t, qpnA, f.disconnects[0].B.QPN)
}

// TestReused: the same communication ID in another transaction is another
// dialogue; its REP belongs to the newer one.
func TestReused(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7))
	f.from(B, synth.REJ(7, 0, idA, 0, 8, nil, nil))
	f.from(A, req(8))
	f.from(B, rep(8))
	r := f.result()
	require.Len(t, r.Dialogues, 2)
	require.Equal(t, Rejected, r.Dialogues[0].State)
	require.Equal(t, Replied, r.Dialogues[1].State)
}

// TestOtherIncarnation: one ID is that of a dialogue, the other isn't: the
// message is of another one, whose beginning wasn't captured.
func TestOtherIncarnation(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7))
	f.from(B, rep(7))
	f.from(A, synth.DREQ(9, idA, 0x77, 0x99, nil))
	r := f.result()
	require.Len(t, r.Dialogues, 2)
	require.Equal(t, []State{Replied, Disconnecting}, []State{r.Dialogues[0].State, r.Dialogues[1].State})
	require.EqualValues(t, 0x99, r.Dialogues[1].B.QPN)
	require.False(t, f.disconnects[0].Known)
}

// TestRejectAfterReply tears down what Connect announced.
func TestRejectAfterReply(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7))
	f.from(B, rep(7))
	f.from(A, synth.REJ(7, idA, idB, 1, 28, nil, []byte("no thanks")))
	d := f.only()
	require.Equal(t, Rejected, d.State)
	require.Equal(t, &Reject{Reason: 28, Rejected: roce.CMMessageREP, By: A, PrivateData: []byte("no thanks")}, d.Reject)
	require.Len(t, f.disconnects, 1)
	require.Equal(t, HowReject, f.disconnects[0].How)
}

// TestStaleReject: a late retry of the REQ after the end is refused as stale;
// the dialogue stays closed.
func TestStaleReject(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7))
	f.from(B, rep(7))
	f.from(A, synth.DREQ(8, idA, idB, qpnB, nil))
	f.from(B, synth.DREP(8, idB, idA, nil))
	f.from(A, req(7))
	f.from(B, synth.REJ(7, idB, idA, 0, 10, nil, nil))
	require.Equal(t, Closed, f.only().State)
}

// TestNoReply: a REQ without answer is pending until its time is over.
func TestNoReply(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7)) // waits 4.096 µs · 2^10 = 4.19 ms
	require.Equal(t, Requested, f.tr.Result(f.now + 4_194_304).Dialogues[0].State)
	require.Equal(t, NoReply, f.tr.Result(f.now + 4_194_305).Dialogues[0].State)
	require.Equal(t, Requested, f.only().State, "a result disturbs nothing")
	f.from(B, synth.MRA(7, idB, idA, 0, 20, nil))
	require.Equal(t, Requested, f.tr.Result(f.now + 1e9).Dialogues[0].State, "it asked for more time")
}

// TestCopies: a packet captured twice is no retry.
func TestCopies(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7))
	f.now -= 1e6
	f.frame(f.lastFrame)
	d := f.only()
	require.EqualValues(t, 1, d.Requests())
	require.EqualValues(t, 1, d.Copies)
	f.frame(f.lastFrame) // the same, but too late for a copy
	d = f.only()
	require.EqualValues(t, 2, d.Requests())
}

// TestEviction: the table is bounded, the least recently active goes, and its
// index entries with it.
func TestEviction(t *testing.T) {
	f := newFeedOf(t, Options{MaxDialogues: 4})
	for i := range uint32(100) {
		r := synth.REQ{LocalCommID: 1000 + i, LocalQPN: 5}
		f.from(A, r.MAD(uint64(i)))
	}
	r := f.result()
	require.Len(t, r.Dialogues, 4)
	require.EqualValues(t, 96, r.Evicted)
	require.Len(t, f.tr.index, 4)
	require.EqualValues(t, 1096, r.Dialogues[0].A.CommID)
	require.Len(t, f.tr.entries, 4)
}

// TestMerge: dialogues in the order of the capture, counts summed.
func TestMerge(t *testing.T) {
	f, g := newFeed(t), newFeed(t)
	f.from(A, req(7))
	g.number = 10
	g.from(A, req(8))
	r := Merge(g.result(), f.result())
	require.EqualValues(t, 1, r.Dialogues[0].FirstPacket)
	require.EqualValues(t, 11, r.Dialogues[1].FirstPacket)
	require.Equal(t, []MADCount{{roce.MgmtClassCommMgt, roce.AttributeREQ, 2}}, r.MADs)
}

// TestOtherMADs: what isn't CM is counted by class and attribute, and bounded.
func TestOtherMADs(t *testing.T) {
	f := newFeed(t)
	for i := range uint16(1000) {
		f.from(A, synth.MAD{Class: 4, ClassVersion: 1, Method: 1, Attribute: i})
	}
	r := f.result()
	require.Empty(t, r.Dialogues)
	require.Len(t, r.MADs, maxAttributes+1)
	require.EqualValues(t, 1000-maxAttributes, r.MADs[maxAttributes].Count)
}

// TestAllocations: a message of a known dialogue allocates nothing.
func TestAllocations(t *testing.T) {
	f := newFeed(t)
	f.from(A, req(7))
	f.from(B, rep(7))
	p := wire.Packet{Link: 1, Data: f.lastFrame, Wire: uint32(len(f.lastFrame))}
	f.dec.Decode(&p)
	require.Zero(t, testing.AllocsPerRun(100, func() {
		p.Time += 2e6
		f.tr.Packet(&p)
	}))
}

// TestTransports: the same dialogue over RoCEv1 and native InfiniBand, where
// hosts are GIDs or LIDs.
func TestTransports(t *testing.T) {
	for _, kind := range []wire.Kind{wire.KindRoCEv1, wire.KindInfiniBand} {
		f := newFeed(t)
		send := func(side Side, m synth.MAD) {
			f.psn++
			p := synth.MADPacket(f.psn, &m)
			g := &synth.GRH{SGID: synth.GID(hostA), DGID: synth.GID(hostB)}
			l := &synth.LRH{SLID: 1, DLID: 2}
			path := synth.Path{SrcMAC: synth.MAC{2, 0, 0, 0, 0, 1}, DstMAC: synth.MAC{2, 0, 0, 0, 0, 2}}
			if side == B {
				g.SGID, g.DGID, l.SLID, l.DLID, path = g.DGID, g.SGID, l.DLID, l.SLID, path.Reverse()
			}
			if kind == wire.KindRoCEv1 {
				f.frame(synth.AppendRoCEv1(nil, &path, g, &p))
				return
			}
			b := synth.AppendIB(nil, l, nil, &p)
			f.packet(&wire.Packet{Link: wire.LinkInfiniBand, Data: b, Wire: uint32(len(b))})
		}
		send(A, req(7))
		send(B, rep(7))
		send(A, synth.RTU(7, idA, idB, nil))
		d := f.only()
		require.Equal(t, Established, d.State)
		require.Equal(t, kind, d.Transport)
		require.Len(t, f.connects, 1)
		if lid, ok := d.A.Addr.LID(); kind == wire.KindInfiniBand {
			require.True(t, ok)
			require.EqualValues(t, 1, lid)
		}
	}
}
