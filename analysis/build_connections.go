package analysis

import (
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/fnv"
	"slices"
	"strconv"
	"strings"

	"rdmascope/analysis/cm"
	"rdmascope/analysis/marking"
	"rdmascope/analysis/rc"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// flowRef names a flow of one partition in one of its incarnations.
type flowRef struct{ id, incarnation int32 }

// draft is a connection on its way into the report, with what decides about
// its place there.
type draft struct {
	Connection
	part        int
	iface       uint16
	incarnation int32
	refs        []flowRef // of Flows, in their order
	generation  int32     // how often its queue pairs were forgotten and came back
	keys        []FlowKey // of Flows; only of connections that were let go
	evicted     bool      // let go for want of room
	first       int64     // number of the first packet
	packets     int64
}

// connections builds the connections of all partitions, by first packet.
func connections(r *merged, workers int) []*draft {
	pacings := pacings(r)
	parts := make([][3][]draft, len(r.partitions))
	parallel(workers, len(parts), func(i int) {
		p := &r.partitions[i]
		b := connectionBuilder{part: i, p: p, pacings: pacings}
		parts[i] = [...][]draft{b.build(), iwarpConnections(i, &p.iwarp), p.aged.rows}
	})
	n := 0
	for i := range parts {
		for _, drafts := range parts[i] {
			n += len(drafts)
		}
	}
	list := make([]*draft, 0, n)
	for i := range parts {
		for _, drafts := range parts[i] {
			for k := range drafts {
				list = append(list, &drafts[k])
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *draft) int {
		if a.first != b.first { // nearly always
			return cmp.Compare(a.first, b.first)
		}
		return cmp.Or(cmp.Compare(a.iface, b.iface), strings.Compare(a.ID, b.ID))
	})
	return onePerInterface(list)
}

// onePerInterface keeps, of a connection that several interfaces saw, the
// view of the one that saw most of it: clocks of interfaces differ, so figures
// of one connection never mix two of them.
func onePerInterface(list []*draft) []*draft {
	if !slices.ContainsFunc(list, func(d *draft) bool { return d.iface != list[0].iface }) {
		return list
	}
	best := make(map[sightingName]int, len(list))
	for i := range list {
		for _, name := range list[i].names() {
			if k, seen := best[name]; !seen || list[i].sawMore(list[k]) {
				best[name] = i
			}
		}
	}
	kept := list[:0]
	for i, d := range list {
		keep := true
		for _, name := range d.names() {
			keep = keep && (best[name] == i || list[best[name]].iface == d.iface)
		}
		if keep {
			kept = append(kept, d)
		}
	}
	return kept
}

// sightingName is what a flow, or a dialogue of connection management, is
// recognised by at another interface.
type sightingName struct {
	transport, src, dst string
	qp                  int64
	srcPort, dstPort    int64
	incarnation         int32
	dialogue            bool
	transaction         uint64
}

// names are what a connection is recognised by at another interface, which
// may have seen one direction alone: each of its flows.
func (d *draft) names() []sightingName {
	names := make([]sightingName, len(d.Flows), len(d.Flows)+1)
	for i := range d.Flows {
		fl := &d.Flows[i]
		names[i] = sightingName{transport: d.Transport, src: fl.SrcIP, dst: fl.DstIP, qp: orZero(fl.DestQP),
			srcPort: orZero(fl.SrcPort), dstPort: orZero(fl.DstPort), incarnation: d.refs[i].incarnation}
	}
	if d.CM != nil && d.A.QPN != nil {
		names = append(names, sightingName{dialogue: true, transport: d.Transport, src: string(d.A.IP), dst: string(d.B.IP), qp: *d.A.QPN,
			transaction: d.CM.firstTransaction})
	}
	return names
}

func (d *draft) sawMore(o *draft) bool {
	if len(d.Flows) != len(o.Flows) {
		return len(d.Flows) > len(o.Flows)
	}
	return d.packets > o.packets
}

// connectionBuilder builds those of one partition.
type connectionBuilder struct {
	part      int
	p         *partitionResult
	base      []*flow                // by id; nil when it is in a connection, or there is none
	earlier   map[flowRef]*flow      // of finished incarnations
	flows     []Flow                 // room for those of the connections; no such room where few of them are kept
	dialogues map[int64]*cm.Dialogue // by the packet that made the connection
	pacings   map[pacer]marking.Pacing
	used      map[*cm.Dialogue]bool
	list      []draft
	arena
}

func (b *connectionBuilder) build() []draft {
	flows := 0
	for i := range b.p.rc.Connections {
		flows++
		if b.p.rc.Connections[i].Flows[1] != nil {
			flows++
		}
	}
	b.flows = make([]Flow, flows)
	b.buildFlows()
	b.managed()
	return b.list
}

// buildFlows builds those of which there was a packet.
func (b *connectionBuilder) buildFlows() {
	b.index()
	b.dialogues = make(map[int64]*cm.Dialogue, len(b.p.cm.Dialogues))
	b.used = make(map[*cm.Dialogue]bool)
	for i := range b.p.cm.Dialogues {
		d := &b.p.cm.Dialogues[i]
		for _, s := range d.Seen {
			if s.Seen() {
				b.dialogues[s.FirstPacket] = d
			}
		}
	}
	b.list = make([]draft, 0, len(b.p.rc.Connections))
	for i := range b.p.rc.Connections {
		b.pair(&b.p.rc.Connections[i])
	}
	b.unpaired()
}

// index makes the plain counts of flows be found.
func (b *connectionBuilder) index() {
	top := int32(-1)
	for i := range b.p.flows {
		top = max(top, b.p.flows[i].id)
	}
	b.base = make([]*flow, top+1)
	for i := range b.p.flows {
		if f := &b.p.flows[i]; f.packets > 0 {
			b.base[f.id] = f
		}
	}
	b.earlier = make(map[flowRef]*flow, len(b.p.archived))
	for i := range b.p.archived {
		if f := &b.p.archived[i]; f.packets > 0 {
			b.earlier[flowRef{f.id, f.incarnation}] = f
		}
	}
}

// counts are those of a flow that isn't in a connection yet, nil for none.
func (b *connectionBuilder) counts(ref flowRef) *flow {
	if int(ref.id) < len(b.base) && b.base[ref.id] != nil && b.base[ref.id].incarnation == ref.incarnation {
		return b.base[ref.id]
	}
	return b.earlier[ref]
}

// take is counts of a flow that is put into a connection.
func (b *connectionBuilder) take(ref flowRef) *flow {
	f := b.counts(ref)
	switch {
	case f == nil:
		return &flow{}
	case int(ref.id) < len(b.base) && b.base[ref.id] == f:
		b.base[ref.id] = nil
	default:
		delete(b.earlier, ref)
	}
	return f
}

// pair adds a connection that the tracker of reliable connections knows.
func (b *connectionBuilder) pair(c *rc.Connection) {
	d := b.draft(draft{part: b.part, incarnation: c.Incarnation, first: c.FirstNumber})
	d.FirstTime, d.LastTime = Time(c.FirstTime), Time(c.LastTime)
	d.Pairing = Pairing{Method: c.Method.String(), Confidence: c.Confidence.String()}
	for _, id := range c.Candidates {
		k := b.p.keys[id]
		d.Pairing.Candidates = append(d.Pairing.Candidates, Candidate{b.address(k.Src), b.address(k.Dst), int64(k.DestQP)})
	}
	if c.Opened.How == "cm" {
		d.Opened = Time(c.Opened.Time)
	}
	if c.Closed.How != "" {
		d.Closed = &Closed{How: c.Closed.How, When: Time(c.Closed.Time)}
	}
	var dialogue *cm.Dialogue
	if c.CM != nil {
		dialogue = b.dialogues[c.CM.Number]
	}
	figures := c.Flows[:]
	if figures[1] == nil {
		figures = figures[:1]
	}
	if len(figures) == 2 && b.startedBy(figures[1], figures[0], dialogue) {
		figures = []*rc.FlowFigures{figures[1], figures[0]}
	}
	d.Flows = take(&b.flows, len(figures))
	d.refs = make([]flowRef, len(figures))
	for i, f := range figures {
		fl, ref := &d.Flows[i], flowRef{f.ID, f.Incarnation}
		base := b.take(ref)
		d.refs[i] = ref
		d.generation = max(d.generation, base.generation)
		d.packets += base.packets
		b.reliableFlow(fl, f, b.p.keys[f.ID], base)
		*fl.Duplicates += b.p.copies[base.mark]
		b.marks(fl, base)
		d.Service = Text(f.Service)
		if end := &d.A; base.hasEth {
			if i > 0 {
				end = &d.B
			}
			end.MAC = b.mac(base.ethSrc)
		}
	}
	key := b.p.keys[figures[0].ID]
	b.ends(d, key)
	if len(figures) == 2 {
		d.A.QPN = b.int(int64(figures[1].Key.DestQP))
	}
	b.attach(d, dialogue)
	d.name(key)
}

// draft begins a connection.
func (b *connectionBuilder) draft(d draft) *draft {
	b.list = append(b.list, d)
	return &b.list[len(b.list)-1]
}

// startedBy tells whether end A is the sender of f rather than that of g: the
// initiator that CM names, else who sent the first request seen, else the
// lower address.
func (b *connectionBuilder) startedBy(f, g *rc.FlowFigures, d *cm.Dialogue) bool {
	if d != nil && d.A.HasQPN && d.B.HasQPN {
		return f.Key.Src == d.A.Addr && f.Key.DestQP == uint32(d.B.QPN)
	}
	x, y := b.firstRequest(f), b.firstRequest(g)
	if x != y {
		return y == 0 || x != 0 && x < y
	}
	return f.Key.Src.Less(g.Key.Src)
}

func (b *connectionBuilder) firstRequest(f *rc.FlowFigures) int64 {
	if base := b.counts(flowRef{f.ID, f.Incarnation}); base != nil {
		return base.firstRequest
	}
	return 0
}

// ends fills in both ends from the flow that A sends.
func (b *connectionBuilder) ends(d *draft, k FlowKey) {
	d.Transport = k.Kind.String()
	d.iface = k.Iface
	d.A.IP, d.B.IP = Text(b.address(k.Src)), Text(b.address(k.Dst))
	d.B.QPN = b.int(int64(k.DestQP))
}

// unpaired adds the flows that the tracker of reliable connections doesn't
// know: datagrams, and services that nobody acknowledges.
func (b *connectionBuilder) unpaired() {
	var refs []flowRef
	for _, f := range b.base {
		if f != nil {
			refs = append(refs, flowRef{f.id, f.incarnation})
		}
	}
	for ref := range b.earlier {
		refs = append(refs, ref)
	}
	slices.SortFunc(refs, func(x, y flowRef) int {
		return cmp.Or(cmp.Compare(x.id, y.id), cmp.Compare(x.incarnation, y.incarnation))
	})
	for _, ref := range refs {
		f, key := b.counts(ref), b.p.keys[ref.id]
		d := b.draft(draft{part: b.part, incarnation: ref.incarnation, first: f.firstNumber, packets: f.packets, refs: []flowRef{ref}, generation: f.generation})
		d.Service = Text(f.service())
		d.FirstTime, d.LastTime = Time(f.first), Time(f.last)
		d.Pairing = Pairing{Method: "none", Confidence: "none"}
		d.Flows = make(List[Flow], 1)
		b.plainFlow(&d.Flows[0], key, f)
		b.untracked(&d.Flows[0], string(d.Service))
		b.marks(&d.Flows[0], f)
		b.ends(d, key)
		if f.hasEth {
			d.A.MAC = b.mac(f.ethSrc)
		}
		d.name(key)
	}
}

// managed adds the dialogues of connection management that led to no data:
// refused, unanswered, or simply unused.
func (b *connectionBuilder) managed() {
	for i := range b.p.cm.Dialogues {
		c := &b.p.cm.Dialogues[i]
		if b.used[c] {
			continue
		}
		d := b.draft(draft{part: b.part, iface: c.Iface, first: c.FirstPacket})
		d.Transport, d.Service = c.Transport.String(), Text(serviceName(c.Service))
		d.Pairing = Pairing{Method: "cm", Confidence: "certain"}
		if !c.A.HasQPN || !c.B.HasQPN {
			d.Pairing = Pairing{Method: "none", Confidence: "none"}
		}
		d.A.IP, d.B.IP = Text(b.address(c.A.Addr)), Text(b.address(c.B.Addr))
		b.attach(d, c)
		d.FirstTime, d.LastTime = Time(c.FirstTime), Time(c.LastTime)
		d.ID = connectionID(d.Transport, c.A.Addr, c.B.Addr, uint32(c.A.QPN), uint32(c.B.QPN), uint64(c.FirstPacket))
	}
}

// attach adds what connection management agreed.
func (b *connectionBuilder) attach(d *draft, c *cm.Dialogue) {
	if c == nil {
		return
	}
	b.used[c] = true
	d.CM = cmBlock(c)
	d.ULP = Text(c.ULP)
	for _, end := range []struct {
		to   *Endpoint
		from *cm.End
	}{{&d.A, &c.A}, {&d.B, &c.B}} {
		if end.from.HasQPN {
			end.to.QPN = Int(int64(end.from.QPN))
		}
		if end.from.HasStartingPSN {
			end.to.StartingPSN = Int(int64(end.from.StartingPSN))
		}
	}
	if s := c.Seen[cm.REP]; s.Seen() && c.State != cm.Rejected {
		d.Opened = Time(s.FirstTime)
	}
	if s := c.Seen[cm.DREQ]; s.Seen() && d.Closed == nil {
		d.Closed = &Closed{How: "dreq", When: Time(s.FirstTime)}
	}
	if c.FirstPacket < d.first {
		d.first, d.FirstTime = c.FirstPacket, Time(c.FirstTime)
	}
	d.LastTime = max(d.LastTime, Time(c.LastTime))
}

// name gives the connection of which k is a flow its name.
func (d *draft) name(k FlowKey) {
	d.ID = connectionID(d.Transport, k.Src, k.Dst, qpnOf(d.A), k.DestQP, uint64(d.generation)<<32|uint64(d.incarnation))
}

func qpnOf(e Endpoint) uint32 {
	if e.QPN == nil {
		return 0
	}
	return uint32(*e.QPN)
}

// connectionID is stable from run to run and from interface to interface: it
// hashes what names the connection on the wire, the lower end first.
func connectionID(transport string, a, b wire.Addr, qa, qb uint32, incarnation uint64) string {
	if b.Less(a) || a == b && qb < qa {
		a, b, qa, qb = b, a, qb, qa
	}
	var buf [128]byte
	id := append(append(append(buf[:0], transport...), ' '), a.String()...)
	id = append(append(id, ' '), b.String()...)
	for _, n := range [...]uint64{uint64(qa), uint64(qb), incarnation} {
		id = strconv.AppendUint(append(id, ' '), n, 10)
	}
	h := fnv.New64a()
	h.Write(id)
	sum := binary.BigEndian.AppendUint64(buf[:0], h.Sum64())
	return string(hex.AppendEncode([]byte("c"), sum))
}

func serviceName(s roce.Service) string {
	switch s {
	case roce.ServiceRC:
		return "rc"
	case roce.ServiceUC:
		return "uc"
	case roce.ServiceRD:
		return "rd"
	case roce.ServiceUD:
		return "ud"
	case roce.ServiceXRC:
		return "xrc"
	}
	return ""
}

// cmBlock is what connection management agreed.
func cmBlock(c *cm.Dialogue) *CM {
	block := &CM{State: c.State.String(), Requests: c.Requests(), Replies: c.Replies(), Retried: c.Retried(), firstPacket: c.FirstPacket, firstTransaction: c.TransactionID}
	if c.Reject != nil {
		block.RejectReason = Int(int64(c.Reject.Reason))
	}
	block.RejectText = Text(c.RejectText())
	if c.HasParameters {
		p := &c.Parameters
		block.AckTimeoutExponent = Int(int64(p.AckTimeoutExponent))
		block.RetryCount = Int(int64(p.RetryCount))
		block.InitiatorDepth = Int(int64(p.InitiatorDepth))
		block.ResponderResources = Int(int64(p.ResponderResources))
		if p.PathMTUBytes > 0 {
			block.PathMTUBytes = Int(int64(p.PathMTUBytes))
		}
	}
	// Each message tells what its receiver is to do: the initiator's count
	// stands in the REP.
	if n, ok := c.RNRRetryCount(cm.A); ok {
		block.RNRRetryCount = Int(int64(n))
	}
	if c.HasServiceID {
		block.ServiceID = Text(fmt.Sprintf("0x%016x", uint64(c.ServiceID)))
	}
	if c.HasPort {
		block.Port = Int(int64(c.Port))
	}
	return block
}
