package iwarp_test

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	"rdmascope/pcaps/synth"
)

// network is a sender with SACK, a receiver, and a path between them with a tap
// in the middle, that loses and reorders: what happened is known.
type network struct {
	*talk
	rnd                      *rand.Rand
	before, after, reorder   float64 // shares of data segments
	ackLoss, captureLoss     float64 // of ACKs behind the tap; of data by the capture
	segs                     []netSegment
	una, next, highest       int // segment numbers
	resent, upstream, behind int64
	newest                   int   // segment at the tap
	hidden                   int64 // resends of newer ones
	held                     func()
}

type netSegment struct {
	seq          uint32
	b            []byte
	got, sacked  bool
	seen         bool // by the tap
	resentAtMost int  // round of the last resend
}

func newNetwork(seed int64, n int) *network {
	w := &network{talk: newTalk(false, uint32(seed)*0x9e3779b9), rnd: rand.New(rand.NewSource(seed))}
	w.start(true)
	seq := w.seq[0]
	for i := range n {
		b := send(uint32(i+1), 50+w.rnd.Intn(1300))
		w.segs = append(w.segs, netSegment{seq: seq, b: b, resentAtMost: -9})
		seq += uint32(len(b))
	}
	return w
}

func (w *network) run(t *testing.T) {
	for round := 0; w.una < len(w.segs); round++ {
		require.Less(t, round, 100*len(w.segs))
		before := w.una
		for i := w.una; i < w.next; i++ {
			s := &w.segs[i]
			if !s.sacked && i < w.highest && round-s.resentAtMost > 3 {
				s.resentAtMost = round
				w.transmit(i, true)
			}
		}
		for w.next < len(w.segs) && w.next-w.una < 12 {
			w.next++
			w.transmit(w.next-1, false)
		}
		w.release()
		if w.una == before && w.una < len(w.segs) {
			w.now += 250 * ms
			w.segs[w.una].resentAtMost = round
			w.transmit(w.una, true)
			w.release()
		}
	}
}

// transmit sends a segment; one that is held back comes after its successor.
func (w *network) transmit(i int, again bool) {
	if w.rnd.Float64() < w.before {
		w.upstream++
		w.id[0]++ // it was sent
		return
	}
	w.id[0]++
	id := w.id[0]
	arrive := func() { w.arrive(i, id, again) }
	if w.held == nil && w.rnd.Float64() < w.reorder {
		w.held = arrive
		return
	}
	arrive()
	w.release()
}

func (w *network) release() {
	if h := w.held; h != nil {
		w.held = nil
		h()
	}
}

// arrive is a segment at the tap and behind it.
func (w *network) arrive(i int, id uint16, again bool) {
	s := &w.segs[i]
	w.lose = w.rnd.Float64() < w.captureLoss
	if !w.lose {
		s.seen = true
		if again {
			w.resent++
			if i > w.newest {
				w.hidden++
			}
		}
		w.newest = max(w.newest, i)
	}
	keep := w.id[0]
	w.id[0] = id - 1
	w.put(0, synth.Segment{Seq: s.seq, Ack: w.ack[0], Flags: synth.ACKFlag, Payload: s.b})
	w.id[0] = keep
	if w.rnd.Float64() < w.after {
		w.behind++
		return
	}
	dsack := s.got
	s.got = true
	w.answer(i, dsack)
}

// answer is the receiver's ACK: cumulative, with the block just received.
func (w *network) answer(i int, dsack bool) {
	n := w.una
	for n < len(w.segs) && w.segs[n].got {
		n++
	}
	ack := w.segs[len(w.segs)-1].seq + uint32(len(w.segs[len(w.segs)-1].b))
	if n < len(w.segs) {
		ack = w.segs[n].seq
	}
	s := &w.segs[i]
	end := s.seq + uint32(len(s.b))
	switch {
	case dsack && i > n: // RFC 2883 §4.2.1: the duplicate, then the block that it lies in
		w.acks(1, ack, s.seq, end, s.seq, end)
	case dsack, i > n:
		w.acks(1, ack, s.seq, end)
	default:
		w.acks(1, ack)
	}
	if w.rnd.Float64() < w.ackLoss {
		return
	}
	w.una = max(w.una, n)
	if i > n {
		s.sacked = true
		w.highest = max(w.highest, i)
	}
}

// unseenOctets is what was delivered and never passed the tap's eyes.
func (w *network) unseenOctets() (n int64) {
	for i := range w.segs {
		if !w.segs[i].seen {
			n += int64(len(w.segs[i].b))
		}
	}
	return n
}

func TestNetwork(t *testing.T) {
	for seed := range int64(200) {
		w := newNetwork(seed, 150)
		rate := func() float64 {
			if w.rnd.Intn(2) == 0 {
				return 0
			}
			return 0.12 * w.rnd.Float64()
		}
		w.before, w.after, w.reorder, w.ackLoss = rate(), rate(), rate(), rate()
		w.run(t)
		f := w.flow(w.result(), 0)
		// The newest segment lost before the tap leaves no hole: sent again it
		// looks like new, or, overtaken, like one that came late.
		assert.LessOrEqual(t, f.TCP.Retransmitted, w.resent, "seed %d", seed)
		assert.GreaterOrEqual(t, f.TCP.Retransmitted+f.TCP.OutOfOrder+w.hidden, w.resent, "seed %d", seed)
		if w.reorder == 0 || w.before == 0 {
			assert.Equal(t, w.resent-w.hidden, f.TCP.Retransmitted, "seed %d", seed)
		}
		assert.Equal(t, map[string]int64{"SEND": 150}, f.Opcodes)
		assert.Equal(t, iwarp.Known(150), f.MPA.CRCGood)
		assert.Equal(t, iwarp.Known(0), f.UnseenBytes, "seed %d", seed)
		assert.LessOrEqual(t, f.LostUpstream.N, w.upstream, "seed %d: a lower bound", seed)
		assert.LessOrEqual(t, f.LostDownstream.N, w.behind, "seed %d: a lower bound", seed)
		total := f.TCP.Timeouts.N + f.TCP.Fast.N + f.TCP.TailProbes.N + f.TCP.UnknownResends.N
		assert.Equal(t, f.TCP.Retransmitted, total)
		if w.reorder == 0 {
			assert.Zero(t, f.TCP.OutOfOrder, "seed %d", seed)
		}
		if w.before == 0 && w.reorder == 0 && w.ackLoss == 0 {
			assert.Equal(t, w.behind, f.LostDownstream.N, "seed %d", seed)
		}
		if w.after == 0 && w.reorder == 0 && w.ackLoss == 0 {
			assert.GreaterOrEqual(t, 2*f.LostUpstream.N, w.upstream, "seed %d", seed)
		}
	}
}

// TestCaptureLoss: what only the capture lost is told as unseen, to the octet,
// and never as lost.
func TestCaptureLoss(t *testing.T) {
	for seed := range int64(30) {
		w := newNetwork(seed+1000, 150)
		w.captureLoss = 0.02 * float64(seed%5+1)
		w.run(t)
		f := w.flow(w.result(), 0)
		assert.Equal(t, iwarp.Known(w.unseenOctets()), f.UnseenBytes, "seed %d", seed)
		assert.Equal(t, iwarp.Known(0), f.LostUpstream, "seed %d", seed)
		assert.Equal(t, iwarp.Known(0), f.LostDownstream, "seed %d", seed)
		assert.Zero(t, f.TCP.Retransmitted)
		assert.GreaterOrEqual(t, f.Opcodes["SEND"], int64(140-w.unseenOctets()/50))
	}
}
