package analysis

import (
	"maps"
	"slices"

	"rdmascope/analysis/rc"
	"rdmascope/decode/wire"
)

// build makes the snapshot of one point of the capture from what the lanes
// gave there. Everything that is shown anywhere comes from here, in an order
// that depends on the capture alone.
func build(e *Engine, m *marker) *Snapshot {
	r := merge(m.parts)
	s := &Snapshot{Schema: SchemaName, ToolVersion: e.opt.Version}
	s.Inputs = buildInputs(m)
	s.rates = r.front.rates.result()
	for i := range m.ifaces {
		s.ifaces = append(s.ifaces, m.iface(uint16(i)))
	}
	s.Capture = buildCapture(m, r)
	s.Capture.Filter = Text(e.opt.Filter)
	s.Protocols = buildProtocols(&r.front.totals, iwarpTraffic(r))
	workers := e.opt.Workers
	drafts := connections(r, workers)
	s.ConnectionsTotal = int64(len(drafts))
	s.Connections = make(List[Connection], len(drafts))
	for i, d := range drafts {
		s.Connections[i] = d.Connection
		s.Connections[i].Interface = m.iface(d.iface)
		if int(d.iface) < len(r.front.clocks) {
			s.Connections[i].seenUntil = Time(r.front.clocks[d.iface].last)
		}
	}
	s.Conformance = buildConformance(r)
	buildAged(s, r)
	s.PFC = buildPFC(&e.opt, m, r, drafts)
	s.priorities = e.opt.priorities()
	s.shared = buildShared(m, r, s.priorities)
	pauseShares(s)
	withoutClock(s)
	together(workers,
		func() { s.Hosts = buildHosts(s, r) },
		func() { buildTaps(s, m, r) },
		func() { sumConnections(s) },
		func() { s.TransportFit = buildFit(s) },
	)
	buildCounters(s, r, workers)
	together(workers,
		func() { grade(s, &r.front.totals) },
		func() { findAll(s, &r.front.totals, &e.opt) },
	)
	return s
}

// sumConnections adds up what the connections tell about the capture.
func sumConnections(s *Snapshot) {
	var copies, unseen sumOf
	eachFlow(s, func(_ *Connection, fl *Flow) {
		copies.add(fl.Duplicates, exact)
		unseen.add(fl.Unseen, exact)
	})
	if s.AgedOut != nil {
		for i := range s.AgedOut.byInterface {
			t := &s.AgedOut.byInterface[i].FlowTotals
			copies.add(t.Duplicates, exact)
			unseen.add(t.Unseen, exact)
		}
	}
	// Unknown only when every part is.
	if copies.known {
		s.Capture.DuplicatePackets = Int(copies.value)
	}
	if unseen.known {
		s.Capture.UnseenPackets = Int(unseen.value)
	}
}

// buildConformance counts the broken rules of all connections.
func buildConformance(r *merged) List[Conformance] {
	var all violations
	for i := range r.partitions {
		p := &r.partitions[i]
		for rule, v := range p.aged.broken {
			all.add(rule, v.count, v.first)
		}
		for k := range p.rc.Connections {
			all.connection(&p.rc.Connections[k])
		}
	}
	var list List[Conformance]
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, Conformance{Rule: name, Count: all[name].count, FirstPacket: Int(all[name].first)})
	}
	return list
}

// violations are how often each rule was broken, and in which packet first.
type violations map[string]violation

type violation struct{ count, first int64 }

func (v *violations) connection(c *rc.Connection) {
	for _, f := range c.Flows {
		if f == nil {
			continue
		}
		for _, broken := range f.Violations {
			v.add(broken.Rule.String(), int64(broken.Count), broken.FirstPacket)
		}
	}
}

func (v *violations) add(rule string, count, first int64) {
	if *v == nil {
		*v = violations{}
	}
	sum, known := (*v)[rule]
	if !known || first < sum.first {
		sum.first = first
	}
	sum.count += count
	(*v)[rule] = sum
}

// merged is what all lanes gave, in the order of the partitions.
type merged struct {
	front      *frontResult
	partitions []partitionResult
}

func merge(parts []laneResult) *merged {
	r := &merged{}
	for i := range parts {
		if parts[i].front != nil {
			r.front = parts[i].front
		}
		r.partitions = append(r.partitions, parts[i].partitions...)
	}
	for i := range parts {
		if parts[i].totals != nil {
			r.front.totals.add(parts[i].totals)
			r.front.rates.join(parts[i].rates)
		}
	}
	return r
}

func buildProtocols(t *totals, iwarp Traffic) Protocols {
	other := t.traffic(int(wire.KindOther), int(wire.KindTCP), int(wire.KindLLDP))
	other.Packets -= iwarp.Packets
	other.WireBytes -= iwarp.WireBytes
	return Protocols{
		IWARP:      iwarp,
		RoCEv2:     t.traffic(int(wire.KindRoCEv2)),
		RoCEv1:     t.traffic(int(wire.KindRoCEv1)),
		InfiniBand: t.traffic(int(wire.KindInfiniBand)),
		PFC:        t.traffic(int(wire.KindPFC)),
		Pause:      t.traffic(int(wire.KindPause)),
		CM:         t.traffic(kindCM),
		Other:      other,
	}
}

func (t *totals) traffic(kinds ...int) Traffic {
	var sum Traffic
	for _, k := range kinds {
		sum.Packets += t.kinds[k].packets
		sum.WireBytes += t.kinds[k].wire
	}
	return sum
}
