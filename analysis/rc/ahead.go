package rc

import (
	"unsafe"

	"rdmascope/analysis/prefetch"
	"rdmascope/decode/roce"
)

// Ahead asks for what Packet will read of the flow itself, and AheadMore, once
// that is at hand, for what it will read beyond: the sequence that a request
// continues, or that a response answers.
func (s *Shard) Ahead(l *prefetch.List, id int32) {
	f := s.flow(id)
	if f == nil {
		return
	}
	l.Add(unsafe.Pointer(f))
	l.Add(unsafe.Pointer(&f.near[0]))
	l.Add(unsafe.Pointer(&f.table))
}

// AheadMore is the second stage of Ahead.
func (s *Shard) AheadMore(l *prefetch.List, id int32, psn roce.PSN, response bool) {
	f := s.flow(id)
	if f == nil {
		return
	}
	l.Add(unsafe.Pointer(f.slot(copyKey(psn, response))))
	r := f.own
	if response {
		r = f.ans
	}
	if r == nil {
		return
	}
	l.Add(unsafe.Pointer(r))
	l.Add(unsafe.Pointer(&r.messages))
	l.Add(unsafe.Pointer(&r.msgs.first[0]))
	if response {
		l.Add(unsafe.Pointer(&r.acks))
		l.Add(unsafe.Pointer(&r.samples[len(r.samples)-1]))
	}
}
