package rc

import (
	"slices"

	"rdmascope/decode/roce"
)

// eventStore holds the events that wait, of all flows of a shard, in small
// chunks without pointers that don't move: with many connections at once, rings of their own
// would be most of what is allocated. What one flow hands back the next one
// uses.
type eventStore struct {
	pages [][]eventChunk
	next  int32 // chunks that were ever in use
	spare int32 // first of those that nobody uses, as number + 1
	used  int   // events that wait
}

const (
	chunkEvents = 4
	pageChunks  = 128
	sparePages  = 8 // that are kept when nothing waits
)

type eventChunk struct {
	at   [chunkEvents]storedEvent
	next int32 // number + 1
}

// eventList is a row of chunks, by their numbers + 1.
type eventList struct{ first, last, n int32 }

// storedEvent is an event without what its flow has taken note of already.
// RETH and AETH share a place: no packet has both.
type storedEvent struct {
	time    int64
	numPSN  uint64 // packet number, and 24 bits of PSN
	print   uint32
	header  uint32 // RETH: length; AETH: syndrome and MSN
	wireOp  uint32 // wire length, and 8 bits of opcode
	payload uint32
	ipid    uint16
	flags   eventFlags // and from storedHop on hop
	target  uint32
	data    uint16
}

const storedHop = 10 // flags are below it

func (w *storedEvent) store(e *event) {
	*w = storedEvent{time: e.time, numPSN: uint64(e.num)<<24 | uint64(e.psn&0xffffff), print: e.print, header: e.dma,
		wireOp: min(e.wire, 1<<24-1)<<8 | uint32(e.op), payload: e.payload, ipid: e.ipid, flags: e.flags | eventFlags(e.hop)<<storedHop, data: e.data, target: e.target}
	if e.has(evAeth) {
		w.header = uint32(e.syn)<<24 | uint32(e.msn)
	}
}

func (w *storedEvent) load(e *event) {
	*e = event{time: w.time, num: int64(w.numPSN >> 24), psn: roce.PSN(w.numPSN & 0xffffff), n: 1, payload: w.payload, wire: w.wireOp >> 8,
		print: w.print, data: w.data, hop: uint8(w.flags >> storedHop), target: w.target, ipid: w.ipid, op: roce.Opcode(w.wireOp),
		flags: w.flags & (1<<storedHop - 1)}
	if e.has(evAeth) {
		e.syn, e.msn = roce.Syndrome(w.header>>24), roce.MSN(w.header&0xffffff)
	} else {
		e.dma = w.header
	}
	if e.op.Operation() == roce.OperationReadRequest {
		e.n = 0
	}
}

func (s *eventStore) add(l *eventList, e *event) {
	at := int(l.n) % chunkEvents
	if at == 0 {
		k := s.empty()
		if l.n == 0 {
			l.first = k
		} else {
			s.chunk(l.last).next = k
		}
		l.last = k
	}
	s.chunk(l.last).at[at].store(e)
	l.n++
	s.used++
}

// chunk returns the chunk of a number + 1.
func (s *eventStore) chunk(k int32) *eventChunk {
	return &s.pages[(k-1)/pageChunks][(k-1)%pageChunks]
}

// empty returns the number + 1 of an empty chunk.
func (s *eventStore) empty() int32 {
	if k := s.spare; k > 0 {
		c := s.chunk(k)
		s.spare, c.next = c.next, 0
		return k
	}
	if int(s.next) == len(s.pages)*pageChunks {
		s.pages = append(s.pages, make([]eventChunk, pageChunks))
	}
	s.next++
	return s.next
}

// free hands back the chunks of a list.
func (s *eventStore) free(l *eventList) {
	if l.n > 0 {
		s.chunk(l.last).next = s.spare
		s.spare = l.first
		s.used -= int(l.n)
	}
	*l = eventList{}
	if s.used == 0 && len(s.pages) > sparePages {
		s.pages, s.next, s.spare = slices.Clone(s.pages[:sparePages]), sparePages*pageChunks, 0
		for k := range s.next {
			s.chunk(k + 1).next = k
		}
		s.spare = s.next
	}
}

// eventCursor reads a list: event is valid after next returned true.
type eventCursor struct {
	event
	store *eventStore
	chunk int32
	i, n  int32
}

func (s *eventStore) read(l *eventList) eventCursor {
	return eventCursor{store: s, chunk: l.first, n: l.n}
}

func (c *eventCursor) next() bool {
	if c.i >= c.n {
		return false
	}
	k := c.store.chunk(c.chunk)
	k.at[c.i%chunkEvents].load(&c.event)
	if c.i++; c.i%chunkEvents == 0 {
		c.chunk = k.next
	}
	return true
}
