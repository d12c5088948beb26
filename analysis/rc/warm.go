package rc

import "rdmascope/decode/roce"

// Warm reads what Packet will read of the flow itself, and WarmRequester, once
// that is at hand, what it will read beyond: the sequence that a request
// continues, or that a response answers. With thousands of connections none of
// these cache lines is near. A row of reads that don't depend on one another
// lets the processor fetch the lines of many packets at once, where Packet
// would wait for each. What they return means nothing but keeps the reads from
// being optimised away.
func (s *Shard) Warm(id int32) int64 {
	f := s.flow(id)
	if f == nil {
		return 0
	}
	return f.lastTime + int64(f.near[0].key) + int64(len(f.table))
}

// WarmRequester is the second stage of Warm.
func (s *Shard) WarmRequester(id int32, psn roce.PSN, response bool) int64 {
	f := s.flow(id)
	if f == nil {
		return 0
	}
	x := int64(f.slot(copyKey(psn, response)).key)
	r := f.own
	if response {
		r = f.ans
	}
	if r == nil {
		return x
	}
	x += r.lastTime + int64(r.messages) + r.msgs.first[0].tFirst
	if response {
		x += int64(r.lastMSN)
	}
	if r.msgs.buf != nil {
		x += r.msgs.at(0).tFirst
	}
	return x
}
