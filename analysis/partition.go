package analysis

import (
	"maps"
	"math"
	"unsafe"

	"rdmascope/analysis/cm"
	"rdmascope/analysis/iwarp"
	"rdmascope/analysis/marking"
	"rdmascope/analysis/pause"
	"rdmascope/analysis/prefetch"
	"rdmascope/analysis/rc"
	"rdmascope/analysis/taps"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// partition holds the flows and the trackers of a fixed share of all host
// pairs. One goroutine at a time uses it.
type partition struct {
	table    flowTable
	flows    []flow // by id; of the current incarnation
	archived []flow // of earlier incarnations
	// Packets that opened no flow: what they say about themselves can't be
	// trusted (bad iCRC, bad IP checksum, malformed).
	untrusted int64

	management management
	unmanaged  int64 // packets to QP 0 and 1 of host pairs that management had no room for

	rc      *rc.Shard
	cm      *cm.Tracker
	traffic *pause.Traffic
	marks   *marking.Tracker
	taps    *taps.Tracker
	iwarp   *iwarp.Tracker
	marked  int32 // flows, incarnations apart, that marks knows
	cnps    cnpCopies

	// Letting go.
	idleNS    int64 // 0: nothing is forgotten because it was idle
	now       int64 // time of the newest packet
	swept     int64 // time of the last look for idle ones
	free      []int32
	freeMarks []int32
	dialogues map[int32]*cm.Dialogue // of live flows, that the tracker forgot
	aged      aged
}

// partitionResult is a partition's part of a snapshot.
type partitionResult struct {
	keys      []FlowKey
	flows     []flow
	archived  []flow
	untrusted int64
	aged      aged

	management management
	unmanaged  int64

	rc      *rc.Result
	cm      cm.Result
	traffic pause.TrafficResult
	marks   *marking.Result
	copies  map[int32]int64 // of CNPs, by mark
	taps    taps.Result
	iwarp   iwarp.Result
}

func newPartition(opt Options, tl *pause.Timeline) *partition {
	p := &partition{table: newFlowTable(max(1, opt.MaxFlows/partitions)), management: management{}, traffic: pause.NewTraffic(tl), marks: marking.New(opt.marking()), taps: taps.New(),
		iwarp: iwarp.New(iwarp.Options{})}
	p.rc = rc.NewShard(rc.Options{Paused: p.traffic.Stopped, Mark: opt.Mark})
	p.idleNS, p.dialogues = opt.Idle.Nanoseconds(), map[int32]*cm.Dialogue{}
	p.cm = cm.New(cm.Options{IdleNS: p.idleNS}, cm.Events{Connect: p.connect, Disconnect: p.disconnect, Drop: p.keepDialogue})
	return p
}

// packet takes the next packet of the partition, hash being its flow's.
func (p *partition) packet(pkt *wire.Packet, hash uint64) {
	p.now = pkt.Time
	if p.idleNS > 0 && !pkt.Has(wire.FlagNoTime) {
		p.tick(pkt.Time)
	}
	if pkt.Kind == wire.KindTCP {
		p.iwarp.Packet(pkt)
		return
	}
	if pkt.RoCE.BTH.DestQP <= roce.QPNGSI {
		p.cm.Packet(pkt)
		if !p.management.packet(pkt) {
			p.unmanaged++
		}
		p.traffic.Data(pkt, -1)
		return
	}
	p.roce(pkt, hash)
}

// roce takes a packet to a queue pair that isn't for management.
func (p *partition) roce(pkt *wire.Packet, hash uint64) {
	id := p.table.flow(hash, pkt)
	if id < 0 {
		key := flowKey(pkt)
		if id = p.open(pkt, hash, &key); id < 0 {
			return
		}
	}
	p.rc.Packet(pkt, id)
	f := &p.flows[id]
	if n := p.rc.Incarnation(id); n != f.incarnation {
		p.archive(f, n)
	}
	f.packet(pkt)
	// A CNP that came twice throttled nobody twice.
	if pkt.RoCE.BTH.Opcode != roce.OpcodeCNP || p.cnp(pkt, id) {
		p.marks.Packet(pkt, f.mark)
	}
	p.taps.Packet(pkt, f.mark)
	p.traffic.Data(pkt, id)
}

// cnp tells whether a CNP is one of its own, not a copy, and whom it throttles.
func (p *partition) cnp(pkt *wire.Packet, id int32) bool {
	f := &p.flows[id]
	if p.cnps.is(pkt, f.mark, p.rc.IdentificationMoves(id)) {
		return false
	}
	if peer := p.rc.Peer(id); peer >= 0 { // else every flow of the host pair may be meant
		p.marks.SetPeer(f.mark, p.flows[peer].mark)
	}
	return true
}

// candidate returns the flow that a packet probably belongs to, -1 for none.
func (p *partition) candidate(pkt *wire.Packet, hash uint64) int32 {
	if pkt.Kind == wire.KindTCP || pkt.RoCE.BTH.DestQP <= roce.QPNGSI {
		return -1
	}
	return p.table.candidate(hash)
}

// ahead asks for what a packet of flow id will touch, aheadMore for what can
// only be found then.
func (p *partition) ahead(l *prefetch.List, id int32) {
	f := &p.flows[id]
	l.Add(unsafe.Pointer(f))
	l.Add(unsafe.Pointer(&f.opcodes.counts[0]))
	l.Add(unsafe.Pointer(&p.table.keys[id]))
	p.rc.Ahead(l, id)
	p.traffic.Ahead(l, id)
}

func (p *partition) aheadMore(l *prefetch.List, pkt *wire.Packet, id int32) {
	h := &pkt.RoCE.BTH
	p.marks.Ahead(l, p.flows[id].mark)
	p.rc.AheadMore(l, id, h.PSN, h.Opcode.Flags().Has(roce.FlagResponse))
}

// open begins a new flow, unless what the packet says about itself can't be
// trusted: corrupted addresses and QPNs open no connection.
func (p *partition) open(pkt *wire.Packet, hash uint64, key *FlowKey) int32 {
	if pkt.ICRC == roce.ICRCBad || pkt.Has(wire.FlagIPChecksumBad) || pkt.Stop.Reason.Malformed() {
		p.untrusted++
		return -1
	}
	if p.table.isFull() {
		p.makeRoom()
	}
	id := int32(len(p.flows))
	if n := len(p.free); n > 0 {
		id, p.free = p.free[n-1], p.free[:n-1]
	} else {
		if p.flows == nil {
			p.flows = make([]flow, 0, leastFlows)
		}
		p.flows = append(p.flows, flow{})
	}
	p.table.insert(hash, key, id)
	p.flows[id] = p.newFlow(id, 0)
	p.flows[id].generation = p.aged.generation(key)
	p.rc.AddFlow(id, rc.FlowKey{Iface: key.Iface, Kind: key.Kind, Src: key.Src, Dst: key.Dst, DestQP: key.DestQP})
	return id
}

// leastFlows is room for as many flows as lie on whole cache lines: smaller
// objects with pointers begin with a header of the allocator's.
const leastFlows = 32 << 10 / int(unsafe.Sizeof(flow{}))

// archive puts a flow by whose queue pair begins another life.
func (p *partition) archive(f *flow, incarnation int32) {
	p.archived = append(p.archived, *f)
	generation := f.generation
	*f = p.newFlow(f.id, incarnation)
	f.generation = generation
	if len(p.archived) >= 4*keptIncarnations {
		p.letGo(math.MinInt64, keptIncarnations, true)
	}
}

func (p *partition) newFlow(id, incarnation int32) flow {
	f := flow{id: id, incarnation: incarnation, mark: p.marked}
	if n := len(p.freeMarks); n > 0 {
		f.mark, p.freeMarks = p.freeMarks[n-1], p.freeMarks[:n-1]
	} else {
		p.marked++
	}
	p.marks.AddFlow(f.mark)
	return f
}

// keepDialogue keeps what connection management agreed for as long as a flow
// lives of which it speaks.
func (p *partition) keepDialogue(d *cm.Dialogue) {
	for _, way := range [...]struct{ from, to *cm.End }{{&d.A, &d.B}, {&d.B, &d.A}} {
		key := FlowKey{Iface: d.Iface, Kind: d.Transport, Src: way.from.Addr, Dst: way.to.Addr, DestQP: uint32(way.to.QPN)}
		if id := p.table.find(key.hash(), &key); way.to.HasQPN && id >= 0 {
			kept := *d
			p.dialogues[id] = &kept
			return
		}
	}
}

// connect and disconnect hand on what connection management told.
func (p *partition) connect(c *cm.Connect) {
	if c.Partial || c.Service == roce.ServiceUD {
		return
	}
	p.rc.CMConnect(rc.CMConnect{
		Iface: c.Iface, A: c.A.Addr, B: c.B.Addr, QPNA: uint32(c.A.QPN), QPNB: uint32(c.B.QPN),
		PSNA: uint32(c.A.StartingPSN), PSNB: uint32(c.B.StartingPSN),
		MTU: uint32(c.Parameters.PathMTUBytes), AckTimeoutExp: c.Parameters.AckTimeoutExponent,
		RetryCount: c.Parameters.RetryCount, RNRRetryA: rnrRetry(c.HasReply, c.Reply.RNRRetryCount), RNRRetryB: rnrRetry(c.HasParameters, c.Parameters.RNRRetryCount),
		InitiatorDepth:     min(c.Parameters.InitiatorDepth, c.Reply.ResponderResources), // what one end wants and the other serves
		ResponderResources: min(c.Reply.InitiatorDepth, c.Parameters.ResponderResources),
		FlowLabel:          c.Parameters.FlowLabel, Time: c.Time, Number: c.Packet,
	})
}

// rnrRetry is a count of retries after RNR NAKs, without end where it isn't
// known: so that nobody is said to have used it up.
func rnrRetry(known bool, n uint8) uint8 {
	if !known {
		return roce.RNRRetryInfinite
	}
	return n
}

func (p *partition) disconnect(d *cm.Disconnect) {
	if d.How != cm.HowDREQ {
		return
	}
	from, to := &d.A, &d.B
	if d.By == cm.B {
		from, to = to, from
	}
	if to.HasQPN {
		p.rc.CMDisconnect(rc.CMDisconnect{Iface: d.Iface, From: from.Addr, To: to.Addr, RemoteQPN: uint32(to.QPN), Time: d.Time, Number: d.Packet})
	}
}

// wayBack returns what finds, for a flow of the tracker of marks, the other
// direction of its connection.
func (p *partition) wayBack(r *rc.Result) func(int32) int32 {
	byRef := make(map[flowRef]int32, len(p.flows)+len(p.archived))
	for _, flows := range [][]flow{p.archived, p.flows} {
		for i := range flows {
			if flows[i].id >= 0 {
				byRef[flowRef{flows[i].id, flows[i].incarnation}] = flows[i].mark
			}
		}
	}
	peers := make([]int32, p.marked)
	for i := range peers {
		peers[i] = -1
	}
	for i := range r.Connections {
		f, g := r.Connections[i].Flows[0], r.Connections[i].Flows[1]
		if g == nil {
			continue
		}
		a, okA := byRef[flowRef{f.ID, f.Incarnation}]
		b, okB := byRef[flowRef{g.ID, g.Incarnation}]
		if okA && okB {
			peers[a], peers[b] = b, a
		}
	}
	return func(id int32) int32 { return peers[id] }
}

// result gives the partition's figures; now is the newest time of the capture.
func (p *partition) result(final bool, now int64) partitionResult {
	if p.idleNS > 0 {
		p.tick(now)
	}
	if final {
		p.iwarp.Finish()
		p.rc.Finish()
		p.marks.Finish()
	}
	r := partitionResult{keys: p.table.keys, flows: p.flows, archived: p.archived, untrusted: p.untrusted, management: p.management, unmanaged: p.unmanaged,
		rc: p.rc.Result(), cm: p.cm.Result(now), traffic: p.traffic.Result(now)}
	r.marks = p.marks.Result(now, p.wayBack(r.rc))
	r.copies = p.cnps.counts()
	r.taps = p.taps.Result()
	r.iwarp = p.iwarp.Result(now)
	for _, d := range p.dialogues {
		r.cm.Dialogues = append(r.cm.Dialogues, *d)
	}
	r.aged = p.aged.clone()
	if !final {
		r.keys = append([]FlowKey(nil), r.keys...)
		r.flows = append([]flow(nil), r.flows...)
		r.archived = append([]flow(nil), r.archived...)
		for _, flows := range [][]flow{r.flows, r.archived} {
			for i := range flows {
				flows[i].detach()
			}
		}
		r.management = maps.Clone(r.management)
	}
	return r
}
