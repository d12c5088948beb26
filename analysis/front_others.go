package analysis

import "rdmascope/decode/wire"

// otherTraffic counts what isn't RDMA by interface and priority: what shares the
// queue of RoCE, and is stopped with it or stops it.
type otherTraffic struct {
	priorities *Priorities
	faces      []otherCounts // by interface
}

type otherCounts struct {
	packets, first [8]int64 // how many, and the number of the first
}

func newOtherTraffic(p *Priorities) otherTraffic { return otherTraffic{priorities: p} }

// packet counts IP packets of no RDMA protocol. TCP may carry iWARP, which has a
// class of its own as RoCE has: it isn't counted where a tracker could tell.
func (o *otherTraffic) packet(p *wire.Packet) {
	if p.Kind != wire.KindOther && p.Kind != wire.KindTCP || !p.Has(wire.FlagNet) {
		return
	}
	for int(p.Iface) >= len(o.faces) {
		o.faces = append(o.faces, otherCounts{})
	}
	priority := o.priorities[p.DSCP()&63] & 7
	if p.Has(wire.FlagVLAN) {
		priority = p.PCP & 7
	}
	c := &o.faces[p.Iface]
	if c.packets[priority] == 0 {
		c.first[priority] = p.Number
	}
	c.packets[priority]++
}

func (o *otherTraffic) result() []otherCounts { return append([]otherCounts(nil), o.faces...) }
