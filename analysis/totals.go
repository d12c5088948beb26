package analysis

import "rdmascope/decode/wire"

// totals are the counts of the capture as a whole that don't depend on order.
// Each block has its own; the first lane adds them up.
type totals struct {
	packets, wire, captured int64
	cut, hiddenCut          int64
	malformed, unknown      int64
	fragments               int64
	superFrames             int64
	macSame                 int64 // frames with one address as source and destination
	mergedFrames            int64 // that receive offload made of several packets
	mergedPackets           int64 // the packets in them
	mergedWhole             int64 // mergedFrames of which all packets were found
	recorderLost            int64
	kinds                   [kindRows]traffic
	stops                   [wire.LayerCount][wire.ReasonCount]int64
	encaps                  [wire.EncapCount]int64
	contents                contents
}

type traffic struct{ packets, wire int64 }

func (t *traffic) add(onWire uint32) {
	t.packets++
	t.wire += int64(onWire)
}

// kindRows are the families of package wire and one more: connection
// management, which is RoCE to QP 1.
const (
	kindCM   = wire.KindCount
	kindRows = wire.KindCount + 1
)

func (t *totals) reset() { *t = totals{} }

// packet counts p.
func (t *totals) packet(p *wire.Packet) {
	t.packets++
	t.wire += int64(p.Wire)
	t.captured += int64(len(p.Data))
	kind := int(p.Kind)
	if p.Kind.IsRoCE() {
		if p.Has(wire.FlagBTH) && p.RoCE.BTH.DestQP <= 1 {
			kind = kindCM
		}
	} else if p.Kind == wire.KindOther || p.Kind == wire.KindTCP || p.Kind == wire.KindLLDP {
		t.contents.packet(p)
	}
	t.kinds[kind].add(p.Wire)
	if p.Stop.Reason != wire.ReasonNone {
		t.stop(p)
	}
	if p.Encap.N > 0 {
		for _, k := range p.Encap.Kinds[:min(int(p.Encap.N), len(p.Encap.Kinds))] {
			t.encaps[k]++
		}
	}
	t.recorderLost += int64(p.Lost)
	t.cut += one(p.Flags&(wire.FlagCut|wire.FlagHiddenCut|wire.FlagTruncated) != 0)
	const rare = wire.FlagHiddenCut | wire.FlagFragment | wire.FlagSuperFrame | wire.FlagMulti | wire.FlagMACSame
	if p.Flags&rare != 0 {
		t.flags(p.Flags)
		if macSame(p) {
			t.macSame++
		}
	}
}

func (t *totals) stop(p *wire.Packet) {
	t.stops[p.Stop.Layer][p.Stop.Reason]++
	switch {
	case p.Stop.Reason.Malformed():
		t.malformed++
	case p.Stop.Reason == wire.ReasonUnknown:
		t.unknown++
	}
}

func (t *totals) flags(f wire.Flags) {
	count := func(n *int64, mask wire.Flags) {
		if f&mask != 0 {
			*n++
		}
	}
	count(&t.hiddenCut, wire.FlagHiddenCut)
	count(&t.fragments, wire.FlagFragment)
	count(&t.superFrames, wire.FlagSuperFrame)
	count(&t.mergedFrames, wire.FlagMulti)
}

// merged counts the packets that were found in a merged frame, which was
// counted itself.
func (t *totals) merged(packets int, whole bool) {
	t.mergedPackets += int64(packets)
	if whole {
		t.mergedWhole++
	}
}

// add adds o to t.
func (t *totals) add(o *totals) {
	t.packets += o.packets
	t.wire += o.wire
	t.captured += o.captured
	t.cut += o.cut
	t.hiddenCut += o.hiddenCut
	t.malformed += o.malformed
	t.unknown += o.unknown
	t.fragments += o.fragments
	t.superFrames += o.superFrames
	t.macSame += o.macSame
	t.mergedFrames += o.mergedFrames
	t.mergedPackets += o.mergedPackets
	t.mergedWhole += o.mergedWhole
	t.recorderLost += o.recorderLost
	addAll(t.encaps[:], o.encaps[:])
	for i := range o.kinds {
		t.kinds[i].packets += o.kinds[i].packets
		t.kinds[i].wire += o.kinds[i].wire
	}
	for i := range o.stops {
		addAll(t.stops[i][:], o.stops[i][:])
	}
	t.contents.add(&o.contents)
}

func addAll(to, from []int64) {
	for i, v := range from {
		to[i] += v
	}
}
