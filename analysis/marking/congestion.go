package marking

import (
	"slices"

	"rdmascope/analysis/sketch"
)

// congestion is the part of a flow's state that only CE marks and CNPs need.
type congestion struct {
	// As a data flow.
	ce                     int64 // on packets that aren't ACKs
	firstCE, firstCEPacket int64
	lastCE                 int64
	open                   unanswered // by any CNP
	never                  unanswered // as if there were no CNPs: where a new link begins
	links                  []link
	rate                   rate

	// As the flow back.
	cnps *cnpFlow
}

// link is what a data flow knows of the CNPs of one flow.
type link struct {
	cnpFlow int32
	gen     uint32 // of that flow
	open    unanswered

	answered  int64 // CNPs after a CE mark that no earlier CNP had answered
	repeated  int64 // CNPs whose newest CE mark an earlier one had answered: late or paced
	causeless int64 // CNPs without a CE mark in the time before
	slowStart int64 // of those: soon after a NAK or RNR NAK
	usedCE    int64 // time of the newest CE mark that a CNP answered
	used      bool

	delay    *sketch.Sketch // CE mark → CNP
	probe    probe
	profile  profile
	recovery recovery
	cuts     []int16 // per mille by which the sender cut its rate, newest maxCuts
	nextCut  int
	measured int64
}

// maxCuts bounds the rate samples of a link; the newest count.
const maxCuts = 64

// link returns the record of a flow's CNPs, nil when there is none.
func (c *congestion) link(cnpFlow int32, gen uint32) *link {
	for i := range c.links {
		if c.links[i].cnpFlow == cnpFlow && c.links[i].gen == gen {
			return &c.links[i]
		}
	}
	return nil
}

// unanswered counts CE marks that no CNP followed in time. Those that wait lie
// in chunks of an eighth of that time, oldest first, so a chunk's later marks
// are given up at most that much too early.
type unanswered struct {
	chunks [chunkSlots]chunk
	n      int
	total  int64
}

type chunk struct{ start, count int64 }

const (
	chunkParts = 8
	chunkSlots = chunkParts + 2
)

func (u *unanswered) mark(now, limit int64) {
	u.expire(now, limit)
	if u.n > 0 && (now-u.chunks[u.n-1].start <= limit/chunkParts || u.n == chunkSlots) {
		u.chunks[u.n-1].count++
		return
	}
	u.chunks[u.n] = chunk{now, 1}
	u.n++
}

// expire gives up on marks that wait for too long.
func (u *unanswered) expire(now, limit int64) {
	k := 0
	for k < u.n && now-u.chunks[k].start > limit {
		u.total += u.chunks[k].count
		k++
	}
	if k > 0 {
		u.n = copy(u.chunks[:], u.chunks[k:u.n])
	}
}

// answer books a CNP: all marks that still wait have it.
func (u *unanswered) answer(now, limit int64) {
	u.expire(now, limit)
	u.n = 0
}

// answer books a CNP at time now.
func (l *link) answer(c *congestion, now int64, slow bool, o *Options) {
	l.open.answer(now, o.AnswerNS)
	c.open.answer(now, o.AnswerNS)
	switch {
	case c.ce == 0 || now-c.lastCE > o.AnswerNS:
		l.causeless++
		if slow {
			l.slowStart++
		}
	case l.used && l.usedCE == c.lastCE:
		l.repeated++
	default:
		l.answered++
		if l.delay == nil {
			l.delay = new(sketch.Sketch)
		}
		l.delay.Add(now - c.lastCE)
	}
	l.used, l.usedCE = c.ce > 0, c.lastCE
	c.rate.advance(now, o)
	l.recovery.begin(now, c.rate.recent(now), o)
	if l.probe.stage == probeIdle {
		l.probe = probe{stage: probeWait, at: now, before: c.rate.recent(now), cum: c.rate.bytes}
	}
}

// cut stores how much the sender slowed down, in per mille.
func (l *link) cut(v int16) {
	l.measured++
	if len(l.cuts) < maxCuts {
		l.cuts = append(l.cuts, v)
		return
	}
	l.cuts[l.nextCut] = v
	l.nextCut = (l.nextCut + 1) % maxCuts
}

// sample collects durations: exact count, least, largest and sum, and the
// newest for a median.
type sample struct {
	n, least, most, sum int64
	recent              []int32 // ns, saturated at 2.1 s
	next                int
}

const maxRecent = 128

func (s *sample) add(v int64) {
	if s.n == 0 || v < s.least {
		s.least = v
	}
	s.n++
	s.most = max(s.most, v)
	s.sum += v
	w := int32(min(v, 1<<31-1))
	if len(s.recent) < maxRecent {
		s.recent = append(s.recent, w)
		return
	}
	s.recent[s.next] = w
	s.next = (s.next + 1) % maxRecent
}

// Durations summarises durations; zero with Count 0. MedianNS is that of the
// newest 128 (nearest rank).
type Durations struct {
	Count                         int64
	MinNS, MedianNS, MaxNS, SumNS int64
}

func (s *sample) summary() Durations {
	if s.n == 0 {
		return Durations{}
	}
	var sorted [maxRecent]int32
	r := sorted[:copy(sorted[:], s.recent)]
	slices.Sort(r)
	return Durations{s.n, s.least, int64(r[(len(r)-1)/2]), s.most, s.sum}
}

// medianCut returns the median of the rate cuts in per mille.
func (l *link) medianCut() int64 {
	if len(l.cuts) == 0 {
		return 0
	}
	var sorted [maxCuts]int16
	r := sorted[:copy(sorted[:], l.cuts)]
	slices.Sort(r)
	return int64(r[(len(r)-1)/2])
}
