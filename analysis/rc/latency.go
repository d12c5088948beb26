package rc

import "math/bits"

// Latency kinds (METRICS §4). All stand at the requester's flow and measure
// tap → responder → tap.
const (
	LatencyAck = iota
	LatencyMessage
	LatencyReadFirst
	LatencyReadLast
	LatencyAtomic
	latencyKinds
)

// LatencyNames are the report's names of the kinds.
var LatencyNames = [latencyKinds]string{"ack", "message", "read_first", "read_last", "atomic"}

func (r *requester) measure(kind int, from, to int64) {
	s := r.lat[kind]
	if s == nil {
		s = new(sketch)
		r.lat[kind] = s
	}
	s.add(to - from)
	if paused := r.opt().Paused; paused != nil && (kind == LatencyMessage || kind == LatencyReadLast || kind == LatencyAtomic) {
		r.pausedNS += paused(r.flow, from, to)
	}
}

// timedNS is the sum of the latencies of whole operations, of which pausedNS
// is a part: each operation counts once.
func (r *requester) timedNS() (ns int64) {
	for _, kind := range [...]int{LatencyMessage, LatencyReadLast, LatencyAtomic} {
		if s := r.lat[kind]; s != nil {
			ns += int64(s.sum)
		}
	}
	return ns
}

// sample takes the latencies of a SEND or WRITE at the first response that
// covers it. By Karn's rule there is no ack sample when a packet was sent
// again: the response may belong to either sending.
func (r *requester) sample(m *message, now int64) {
	if !m.is(msgResent) {
		r.measure(LatencyAck, m.tLast, now)
	}
	if m.is(msgFirst) {
		r.measure(LatencyMessage, m.tFirst, now)
		if m.is(msgResent) {
			r.c.messageRecovered++
		}
	}
}

// coalesce counts a message that a response for a later one covered.
func (r *requester) coalesce(m *message) {
	if !m.is(msgResent) {
		r.c.ackCoalesced++
	}
	if m.is(msgFirst) {
		r.c.coalesced++
	}
}

// LatencyBlock is one latency figure of the report.
type LatencyBlock struct {
	Count, Coalesced, Recovered uint64
	MinNS, P50NS, P90NS, P99NS  int64
	P999NS, MaxNS, MeanNS       int64
	s                           *sketch
}

// Merge adds the samples of another block, so that hosts and totals can be
// told; both blocks stay within the same 1 %.
func (b *LatencyBlock) Merge(o *LatencyBlock) {
	if o == nil {
		return
	}
	s := new(sketch)
	s.merge(b.s)
	s.merge(o.s)
	*b = *block(s, b.Coalesced+o.Coalesced, b.Recovered+o.Recovered)
}

func block(s *sketch, coalesced, recovered uint64) *LatencyBlock {
	if s == nil || s.count == 0 {
		return nil
	}
	return &LatencyBlock{
		Count: s.count, Coalesced: coalesced, Recovered: recovered,
		MinNS: s.min, P50NS: s.quantile(500), P90NS: s.quantile(900), P99NS: s.quantile(990),
		P999NS: s.quantile(999), MaxNS: s.max, MeanNS: int64(s.sum / s.count), s: s.clone(),
	}
}

// sizeHistogram counts message sizes by power of two.
type sizeHistogram struct {
	min, max, sum uint64
	byLog         [34]uint32 // index: bits.Len of the size
}

// add counts k messages of n octets.
func (h *sizeHistogram) add(n uint64, k uint32) {
	if h.sum == 0 && h.max == 0 || n < h.min {
		h.min = n
	}
	h.max = max(h.max, n)
	h.sum += n * uint64(k)
	h.byLog[min(bits.Len64(n), len(h.byLog)-1)] += k
}
