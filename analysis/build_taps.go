package analysis

import (
	"cmp"
	"slices"

	"rdmascope/analysis/taps"
)

// tapChange is what happened to packets of a flow between two interfaces;
// evidence of findings.
type tapChange struct {
	taps.Change
	from, to string // names of the interfaces
	conn     int    // index of the connection
	flow     int    // index of its flow
	compared int64  // packets of the flow that were seen at several interfaces
}

// buildTaps finds the connections to which changes between taps belong.
func buildTaps(s *Snapshot, m *marker, r *merged) {
	if !slices.ContainsFunc(r.partitions, func(p partitionResult) bool { return len(p.taps.Changes) > 0 }) {
		return // nearly always
	}
	type name struct {
		src, dst string
		qp       int64
	}
	at := map[name][2]int{}
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			if fl := &s.Connections[i].Flows[k]; fl.DestQP != nil {
				at[name{fl.SrcIP, fl.DstIP, *fl.DestQP}] = [2]int{i, k}
			}
		}
	}
	b := pfcBuilder{m: m}
	for i := range r.partitions {
		p := &r.partitions[i]
		if len(p.taps.Changes) == 0 {
			continue
		}
		keys := map[int32]FlowKey{}
		for _, flows := range [][]flow{p.archived, p.flows} {
			for k := range flows {
				if flows[k].id >= 0 {
					keys[flows[k].mark] = p.keys[flows[k].id]
				}
			}
		}
		for _, c := range p.taps.Changes {
			k := keys[c.Flow]
			place, ok := at[name{k.Src.String(), k.Dst.String(), int64(k.DestQP)}]
			if ok {
				s.tapChanges = append(s.tapChanges, tapChange{Change: c, from: b.iface(c.From), to: b.iface(c.To),
					conn: place[0], flow: place[1], compared: p.taps.Compared(c.Flow)})
			}
		}
	}
	slices.SortStableFunc(s.tapChanges, func(x, y tapChange) int {
		return cmp.Or(cmp.Compare(x.FirstPacket, y.FirstPacket), cmp.Compare(x.Field, y.Field))
	})
}
