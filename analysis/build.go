package analysis

import "rdmascope/decode"

// build makes the snapshot of one point of the capture from what the lanes
// gave there. Everything that is shown anywhere comes from here, in an order
// that depends on the capture alone.
func build(e *Engine, m *marker) *Snapshot {
	r := merge(m.parts)
	s := &Snapshot{Schema: SchemaName, ToolVersion: e.opt.Version}
	s.Inputs = buildInputs(m)
	s.Capture = buildCapture(m, r)
	s.Protocols = buildProtocols(&r.front.totals)
	return s
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
	return r
}

func buildProtocols(t *totals) Protocols {
	return Protocols{
		RoCEv2:     t.traffic(int(decode.KindRoCEv2)),
		RoCEv1:     t.traffic(int(decode.KindRoCEv1)),
		InfiniBand: t.traffic(int(decode.KindInfiniBand)),
		PFC:        t.traffic(int(decode.KindPFC)),
		Pause:      t.traffic(int(decode.KindPause)),
		CM:         t.traffic(kindCM),
		Other:      t.traffic(int(decode.KindOther), int(decode.KindTCP), int(decode.KindLLDP)),
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
