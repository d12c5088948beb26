package synth

// Trigger is what made a requester step back.
type Trigger uint8

const (
	TriggerNAK Trigger = iota
	TriggerRNR
	TriggerImplied // a response beyond a missing READ response or atomic answer
	TriggerTimeout
)

func (t Trigger) String() string { return [...]string{"nak", "rnr", "implied_nak", "timeout"}[t] }

// Episode is one step back of a requester: a request sent whose PSN isn't
// above the last one's.
type Episode struct {
	Trigger Trigger
	PSN     uint32 // gone back to
	At      int64  // when its first packet was sent
	Resent  int    // packets sent again until new data went on, or the next step
}

// Message is one message and what the tap saw of it. Times are the capture's;
// -1 is "never". The responder's times count from its first packet at the tap.
type Message struct {
	Op        Op
	Size      int
	FirstPSN  uint32
	Packets   int // PSNs
	Completed bool
	Resent    bool // at least one of its request packets was sent more than once

	FirstSeen int64 // first sighting of its first PSN as a request
	LastSeen  int64 // first sighting of its last packet as a request
	// Covered is the first response at the tap that covers the last PSN of a
	// SEND or WRITE; Coalesced that it wasn't the newest which that response
	// covered.
	Covered   int64
	Coalesced bool
	// FirstResponse and LastResponse are, for READ and atomic, the response at
	// the first PSN and the one that made all PSNs seen.
	FirstResponse int64
	LastResponse  int64

	seen     []bool
	distinct int
}

// HalfTruth is the truth about one requester's PSN space.
type HalfTruth struct {
	Messages  []Message
	Completed int
	Failed    bool // retries exhausted

	Requests      int // request packets sent, repetitions included
	Retransmitted int // of those, with a PSN that had been sent before
	RetransAtTap  int // … captured by the tap, copies left out
	Responses     int // READ responses and atomic answers sent
	Repeated      int // of those, sent again because asked again
	ACKs          int // sent by the responder
	NAKs          int // sequence NAKs sent
	RNRs          int // RNR NAKs sent
	Duplicates    int // duplicate requests that the responder received

	Episodes []Episode
}

// StretchTruth counts what a stretch did, by kind of packet.
type StretchTruth struct {
	Lost       [kinds]int
	Duplicated [kinds]int
	Reordered  [kinds]int
	Corrupted  [kinds]int
}

// LostData is the number of requests and responses lost, copies that the
// network had made included, spoiled ones left out.
func (s *StretchTruth) LostData() int { return s.Lost[KindRequest] + s.Lost[KindResponse] }

// SpoiledData is the number of requests and responses whose bits were turned.
func (s *StretchTruth) SpoiledData() int { return s.Corrupted[KindRequest] + s.Corrupted[KindResponse] }

// Sighting is one packet at the tap; those captured stand for the frames of
// the scenario, in order, behind the packets of connection setup.
type Sighting struct {
	At       int64
	Side     int // that sent it
	Half     int // whose PSN space it belongs to
	Kind     Kind
	Opcode   uint8
	PSN      uint32
	Nth      int  // which sending of this PSN, from 0
	Repeat   bool // a request with a PSN that had been sent before
	Copy     bool // the network had doubled it
	Corrupt  bool
	Captured bool
	Lost     bool // lost or spoiled between the tap and the receiver
}

// Truth is what really happened in a simulation.
type Truth struct {
	Half     [2]HalfTruth // by the requester's side
	Stretch  [4]StretchTruth
	Sent     [2]int // packets sent by each side
	AtTap    [2]int // packets of each side that reached the tap
	Captured [2]int // of those, captured
	// Sightings lists everything that reached the tap.
	Sightings []Sighting
}

// LostUpstream is the number of a side's data packets lost before the tap;
// those that were spoiled there come to the tap with a bad ICRC.
func (t *Truth) LostUpstream(side int) int { return t.Stretch[upstream(side)].LostData() }

// LostDownstream is the number lost behind it. A packet spoiled there was whole
// at the tap and counts.
func (t *Truth) LostDownstream(side int) int {
	s := &t.Stretch[downstream(side)]
	return s.LostData() + s.SpoiledData()
}

func upstream(side int) Stretch   { return [2]Stretch{AToTap, BToTap}[side] }
func downstream(side int) Stretch { return [2]Stretch{TapToB, TapToA}[side] }

// finish takes over what the state machines know at the end.
func (t *Truth) finish(w *world) {
	for _, h := range w.half {
		for i := range h.req.msgs {
			m := &t.Half[h.n].Messages[i]
			m.Completed = h.req.msgs[i].done
			m.seen = nil
			if m.Completed {
				t.Half[h.n].Completed++
			}
		}
	}
}

// observe updates what the tap knows of a half's messages.
func (h *half) observe(f *flight) {
	now := h.w.now
	switch f.kind {
	case KindRequest:
		i := h.req.index(f.psn)
		m, q := &h.lat.Messages[i], &h.req.msgs[i]
		end := f.psn + f.span
		if f.psn == q.first && m.FirstSeen < 0 {
			m.FirstSeen = now
		}
		if end == q.first+q.n && m.LastSeen < 0 {
			m.LastSeen = now
		}
	case KindResponse:
		h.cover(f.psn)
		h.answered(f.psn)
	case KindACK:
		h.cover(f.psn)
	case KindNAK:
		h.cover(f.psn - 1)
	}
}

// cover marks the SENDs and WRITEs up to psn as covered.
func (h *half) cover(psn int64) {
	newest := -1
	for ; h.covered < len(h.req.msgs); h.covered++ {
		q := &h.req.msgs[h.covered]
		if q.first+q.n-1 > psn {
			break
		}
		if q.op == OpRead || q.op == OpFetchAdd {
			continue
		}
		m := &h.lat.Messages[h.covered]
		m.Covered, m.Coalesced = h.w.now, true
		newest = h.covered
	}
	if newest >= 0 {
		h.lat.Messages[newest].Coalesced = false
	}
}

// answered marks a response of a READ or atomic.
func (h *half) answered(psn int64) {
	i := h.req.index(psn)
	m, q := &h.lat.Messages[i], &h.req.msgs[i]
	if m.seen == nil {
		m.seen = make([]bool, q.n)
	}
	if k := psn - q.first; !m.seen[k] {
		m.seen[k] = true
		m.distinct++
		if k == 0 {
			m.FirstResponse = h.w.now
		}
		if m.distinct == int(q.n) {
			m.LastResponse = h.w.now
		}
	}
}
