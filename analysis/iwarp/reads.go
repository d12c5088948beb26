package iwarp

import "rdmascope/decode/iwarp"

// read is one RDMA Read or atomic, from its request to the ACK of its response.
type read struct {
	sink, little         sinkRange
	atomic               bool
	id                   uint32 // of an atomic
	reqStart, reqEnd     uint64
	respStart, respEnd   uint64
	at                   int64 // first octet of the request
	got                  uint64
	last                 int64 // the packet that completed what came
	begun, done, orderly bool
	recovered            bool
}

// sinkRange is where a response goes.
type sinkRange struct {
	to   uint64
	stag uint32
	size uint32
}

// continues tells whether a response of n octets goes on there.
func (s *sinkRange) continues(f *iwarp.FPDU, got uint64) bool {
	return f.DDP.STag == s.stag && f.DDP.TO == s.to+got && got+uint64(f.PayloadLength()) <= uint64(s.size)
}

// readRing holds the reads that one side asked for, oldest first. Responses of
// one stream come in the order of the requests (RFC 5040 §5.5).
type readRing struct {
	at                                []read
	head                              int
	open, maxOpen                     int
	requests, answered, byOrder       int64
	atomics, atomicsAnswered, skipped int64
	orphans, recovered                int64
	littleEndian                      bool
	first, lastLatency, atomicLatency latency
}

const maxReads = 4096

func (r *readRing) add(d *direction, x read) {
	if len(r.at)-r.head >= maxReads {
		d.c.t.ev.Records++
		if !r.at[r.head].done {
			r.open--
		}
		r.head++
	}
	r.at, r.head = compact(r.at, r.head)
	r.at = append(r.at, x)
	if x.recovered {
		r.recovered++
	}
	if r.open++; r.open > r.maxOpen {
		r.maxOpen = r.open
	}
}

// request takes a Read Request or Atomic Request of this side.
func (d *direction) request(f *iwarp.FPDU) {
	x := read{reqStart: f.Start, reqEnd: f.End, at: f.At, recovered: d.resent.overlaps(f.Start, f.End)}
	var rr iwarp.ReadRequest
	var ar iwarp.AtomicRequest
	switch {
	case f.DDP.Opcode == iwarp.AtomicReq:
		d.reads.atomics++
		x.atomic = true
		if !f.HeaderCut && f.AtomicRequest(&ar) {
			x.id = ar.RequestID
		}
	default:
		d.reads.requests++
		if !f.HeaderCut && f.ReadRequest(&rr) {
			le := rr.LittleEndian()
			x.sink = sinkRange{rr.SinkTO, rr.SinkSTag, rr.Size}
			x.little = sinkRange{le.SinkTO, le.SinkSTag, le.Size}
		}
	}
	d.reads.add(d, x)
}

// find returns the read that a response belongs to; exact is false where only
// the order tells.
func (r *readRing) find(f *iwarp.FPDU, atomic bool) (x *read, exact bool) {
	var oldest *read
	for i := r.head; i < len(r.at); i++ {
		x := &r.at[i]
		if x.done || x.atomic != atomic {
			continue
		}
		if atomic || x.sink.continues(f, x.got) {
			r.skip(i, atomic)
			return x, true
		}
		if oldest == nil {
			oldest = x
			if x.little.continues(f, x.got) {
				r.littleEndian = true
				return x, false
			}
		}
	}
	return oldest, false
}

// skip passes over the reads before i: their responses were never seen, since a
// later one is answered.
func (r *readRing) skip(i int, atomic bool) {
	for k := r.head; k < i; k++ {
		if x := &r.at[k]; !x.done && x.atomic == atomic {
			x.done = true
			r.open--
			r.skipped++
		}
	}
}

// response takes a Read Response or Atomic Response: it answers the other
// side's request. complete is when all its octets were there.
func (d *direction) response(f *iwarp.FPDU, complete int64) {
	if f.HeaderCut {
		return
	}
	atomic := f.DDP.Opcode == iwarp.AtomicResp
	r := &d.peer().reads
	x, exact := r.find(f, atomic)
	if x == nil {
		r.orphans++
		return
	}
	if !exact {
		x.orderly = true
	}
	if !x.begun {
		x.begun, x.respStart = true, f.Start
		if !atomic {
			r.first.add(f.At - x.at)
		}
	}
	x.got += uint64(f.PayloadLength())
	x.respEnd = f.End
	x.last = max(x.last, complete)
	if !x.recovered && d.resent.overlaps(f.Start, f.End) {
		x.recovered = true
		r.recovered++
	}
	if f.DDP.Last {
		r.complete(x, f)
	}
}

// complete ends a read.
func (r *readRing) complete(x *read, f *iwarp.FPDU) {
	x.done = true
	r.open--
	if x.atomic {
		r.atomicsAnswered++
		r.atomicLatency.add(x.last - x.at)
		return
	}
	r.answered++
	if x.orderly {
		r.byOrder++
	}
	if f.State == iwarp.Whole && (x.orderly || x.got == uint64(x.sink.size)) {
		r.lastLatency.add(x.last - x.at)
	}
}

// retire drops reads whose responses the requester acknowledged.
func (r *readRing) retire(ack uint64) {
	for r.head < len(r.at) && r.at[r.head].done && r.at[r.head].respEnd <= ack {
		r.head++
	}
}

// markRequests and markResponses tell the reads that a resent stretch belongs
// to.
func (r *readRing) markRequests(from, end uint64) {
	for i := len(r.at) - 1; i >= r.head && r.at[i].reqEnd > from; i-- {
		if r.at[i].reqStart < end {
			r.recover(&r.at[i])
		}
	}
}

func (r *readRing) markResponses(from, end uint64) {
	for i := r.head; i < len(r.at); i++ {
		if x := &r.at[i]; x.begun && x.respStart < end && from < x.respEnd {
			r.recover(x)
		}
	}
}

func (r *readRing) recover(x *read) {
	if !x.recovered {
		x.recovered = true
		r.recovered++
	}
}
