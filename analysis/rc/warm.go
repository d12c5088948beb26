package rc

import "rdmascope/decode/roce"

// Warm reads what Packet will read of the flow, and WarmPeer of its partner: a
// clean packet touches a handful of cache lines, and with thousands of
// connections none of them is near. A row of reads that don't depend on one
// another lets the processor fetch the lines of many packets at once, where
// Packet would wait for each. What they return means nothing but keeps the
// reads from being optimised away.
func (s *Shard) Warm(id int32, psn roce.PSN, response bool) int64 {
	f := s.flows[id]
	r := &f.req
	x := f.lastTime + r.lastTime + int64(r.order.last) + int64(r.msgs.n) + int64(r.msgs.first[1].start) + int64(r.rules.left) +
		int64(r.sameSize) + int64(r.tap.repeats) + int64(r.c.messages) + f.copies.slot(copyKey(psn, response)).time
	if r.c.naks[0] != 0 {
		x++
	}
	return x
}

// WarmPeer is Warm for a response, which the partner's requests wait for.
func (s *Shard) WarmPeer(id int32) int64 {
	f := s.flows[id].peer
	if f == nil {
		return 0
	}
	r := &f.req
	x := r.lastTime + int64(r.order.last) + int64(r.msgs.n) + int64(r.msgs.first[1].start) + int64(r.rules.left) +
		int64(r.tap.repeats) + int64(r.c.messages)
	for _, l := range r.lat[:LatencyMessage+1] {
		if l != nil {
			x += int64(l.count)
			if l.block > 0 {
				x += int64(l.blocks[l.block-1][0])
			}
		}
	}
	return x
}
