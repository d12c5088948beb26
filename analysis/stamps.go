package analysis

import (
	"fmt"
	"slices"
	"sync"

	"rdmascope/decode/wire"
)

// ClockMode says whose times packets have: those of the capture file, or those
// that a tap or a mirror stamped on the frames (trailers of Metamako and
// Exablaze, Arista's header, ERSPAN III).
type ClockMode uint8

// Clock modes.
const (
	// ClockCapture takes the file's times.
	ClockCapture ClockMode = iota
	// ClockAuto takes the stamps of an interface where they are sane: each of
	// its first packets has one, within a week of the file's time; the two clocks
	// keep their distance to a second, and the stamps move if the file's do.
	ClockAuto
	// ClockTrailer takes the stamps, however far off, and reports what has none.
	ClockTrailer
)

// ClockUse is whose times an interface's packets were given.
type ClockUse struct {
	Stamps  bool  // those on the frames, not the file's
	Missing int64 // packets without a stamp, hence without a time
}

// StampedSource gives the records of a source the times stamped on the frames.
//
// It decides by interface, from the first packets, and once: the two clocks are
// never mixed. A packet without a stamp among stamped ones has no time; it keeps
// its place at that of the packet before. Records stay in the order of the
// source, which merges files by their own times.
type StampedSource struct {
	src    Source
	mode   ClockMode
	d      *wire.Decoder
	survey *wire.Decoder // that believes any stamp, where the user does

	mu      sync.Mutex
	p       wire.Packet
	faces   []stamps
	decided int
	any     bool // an interface uses stamps
}

// stamps is an interface's state.
type stamps struct {
	decided, use bool
	shift        int64 // how far the stamps are from the file's times, where that is beyond belief without the user's word
	last         int64 // newest time given
	missing      int64
	counters     []counter
}

// counter anchors ticks at the file's time of the first packet that had them.
type counter struct {
	source     uint16
	ticks      uint32
	time, last int64
}

// Limits of what is looked at and kept.
const (
	surveyed     = 32     // first packets of an interface that decide
	surveySpread = second // the most that the distance of two clocks may change in them
	maxCounters  = 64     // counters of ticks by interface; a hostile file has more
	autoTickNS   = 100    // coarser ticks tell less than the capture's clock
	minTicked    = 8      // packets that must show that ticks are ticks
	maxTickDrift = second // further off, a counter has begun anew
	second       = int64(1e9)
)

// Stamped wraps src so that its packets have the times that mode says; in
// ClockCapture it is src itself. c must be what the analysis decodes with.
func Stamped(src Source, c wire.Config, mode ClockMode) Source {
	if mode == ClockCapture {
		return src
	}
	return NewStamped(src, c, mode)
}

// NewStamped is Stamped for who wants to decode single packets later.
func NewStamped(src Source, c wire.Config, mode ClockMode) *StampedSource {
	c.SkipICRC = true
	s := &StampedSource{src: src, mode: mode, d: wire.NewDecoder(c)}
	c.AnyTapTime = mode == ClockTrailer
	s.survey = wire.NewDecoder(c)
	return s
}

// ReadBlock reads the next block.
func (s *StampedSource) ReadBlock(buf []byte, recs []Record) ([]byte, []Record, error) {
	buf, recs, err := s.src.ReadBlock(buf, recs)
	if err != nil || len(recs) == 0 || s.mode == ClockCapture {
		return buf, recs, err
	}
	if err := checkRecords(buf, recs); err != nil {
		return buf, recs, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if n := len(s.src.Interfaces()); n > s.decided {
		s.decide(buf, recs)
	}
	if s.any {
		for i := range recs {
			if r := &recs[i]; s.faces[r.Iface].use {
				s.stamp(r, frameOf(buf, r))
			}
		}
	}
	s.p.Data = nil // it lies in a block that isn't ours any more
	return buf, recs, nil
}

// Release gives a block's bytes back to the source underneath.
func (s *StampedSource) Release(buf []byte) []byte { return Release(s.src, buf) }

func frameOf(buf []byte, r *Record) []byte { return buf[r.Off : r.Off+r.Cap : r.Off+r.Cap] }

// decide looks at the first packets of the interfaces that are new in a block.
func (s *StampedSource) decide(buf []byte, recs []Record) {
	for i := range recs {
		iface := int(recs[i].Iface)
		for len(s.faces) <= iface {
			s.faces = append(s.faces, stamps{})
		}
		if f := &s.faces[iface]; !f.decided {
			f.decided = true
			s.decided++
			s.decideOne(f, buf, recs[i:])
			s.any = s.any || f.use
		}
	}
}

// look is what the first packets of an interface tell.
type look struct {
	packets, stamped, ticked int
	times, stamps, distances []int64
	tickDrift                int64
}

// decideOne decides about the interface of the first of recs.
func (s *StampedSource) decideOne(f *stamps, buf []byte, recs []Record) {
	var l look
	var anchor counter
	for i := range recs {
		r := &recs[i]
		if r.Iface != recs[0].Iface {
			continue
		}
		LoadRecord(&s.p, r, frameOf(buf, r), 0)
		s.survey.Decode(&s.p)
		l.add(&s.p, &anchor)
		if l.packets == surveyed {
			break
		}
	}
	switch s.mode {
	case ClockAuto:
		f.use = l.sane()
	case ClockTrailer:
		f.use = true
		f.shift, f.last = l.shift()
	}
}

func (l *look) add(p *wire.Packet, anchor *counter) {
	l.packets++
	timed := !p.Has(wire.FlagNoTime)
	if timed {
		l.times = append(l.times, p.Time)
	}
	switch {
	case p.Has(wire.FlagTapTime):
		l.stamped++
		l.stamps = append(l.stamps, p.TrailerNS)
		if timed {
			l.distances = append(l.distances, p.TrailerNS-p.Time)
		}
	case timed && p.TickNS > 0 && p.TickNS <= autoTickNS:
		if l.ticked++; l.ticked == 1 {
			*anchor = counter{source: p.TickSource, ticks: p.Ticks, time: p.Time}
		}
		if p.TickSource == anchor.source {
			t := anchor.at(p)
			l.stamps = append(l.stamps, t)
			l.tickDrift = max(l.tickDrift, t-p.Time, p.Time-t)
		}
	}
}

// sane is the rule of ClockAuto.
func (l *look) sane() bool {
	if len(l.times) != l.packets || moves(l.times) && !moves(l.stamps) {
		return false
	}
	switch l.packets {
	case l.stamped:
		return slices.Max(l.distances)-slices.Min(l.distances) <= surveySpread
	case l.ticked:
		return l.packets >= minTicked && l.tickDrift <= surveySpread
	}
	return false
}

func moves(times []int64) bool {
	return slices.ContainsFunc(times, func(t int64) bool { return t != times[0] })
}

// shift is the distance of the stamps from the file's times where it is more
// than a decoder believes, and a time to begin with where the file has none.
// The median stands for them: octets that are no stamp may look like one.
func (l *look) shift() (distance, first int64) {
	if len(l.distances) > 0 {
		slices.Sort(l.distances)
		if m := l.distances[len(l.distances)/2]; m > wire.TapWindow || m < -wire.TapWindow {
			distance = m
		}
	} else if len(l.stamps) > 0 {
		slices.Sort(l.stamps)
		first = l.stamps[len(l.stamps)/2]
	}
	return distance, first
}

// at gives the time of a packet's ticks: that of the anchor and what the
// counter has gone on since. The packet's own time tells how often it wrapped.
func (c *counter) at(p *wire.Packet) int64 {
	unit := int64(p.TickNS)
	expected := (p.Time - c.time) / unit
	return c.time + (expected+int64(int32(p.Ticks-c.ticks-uint32(expected))))*unit
}

// stamp gives a record its time.
func (s *StampedSource) stamp(r *Record, frame []byte) {
	f := &s.faces[r.Iface]
	LoadRecord(&s.p, r, frame, 0)
	if t, ok := s.timeOf(f, s.d, &s.p); ok {
		r.Time, r.Flags = t, r.Flags&^RecordNoTime
		f.last = t
		return
	}
	f.missing++
	r.Time, r.Flags = f.last, r.Flags|RecordNoTime
}

// timeOf decodes p with d and reads its stamp.
func (s *StampedSource) timeOf(f *stamps, d *wire.Decoder, p *wire.Packet) (int64, bool) {
	captured, flags := p.Time, p.Flags
	p.Time += f.shift // where the decoder looks for the stamp
	if p.Has(wire.FlagNoTime) {
		p.Time, p.Flags = f.last, p.Flags&^wire.FlagNoTime
	}
	d.Decode(p)
	p.Time = captured
	p.Flags |= flags & wire.FlagNoTime
	switch {
	case p.Has(wire.FlagTapTime):
		return p.TrailerNS, true
	case p.TickNS == 0 || p.Has(wire.FlagNoTime) || s.mode == ClockAuto && p.TickNS > autoTickNS:
		return 0, false
	}
	c := f.counter(p)
	if c == nil {
		return 0, false
	}
	t := c.at(p)
	if d := t - p.Time - c.last; d > maxTickDrift || d < -maxTickDrift {
		*c = counter{source: p.TickSource, ticks: p.Ticks, time: p.Time} // it began anew
		return p.Time, true
	}
	c.last = t - p.Time // clocks that drift apart
	return t, true
}

// counter finds the counter of a packet's ticks, or anchors a new one; nil when
// there are too many.
func (f *stamps) counter(p *wire.Packet) *counter {
	for i := range f.counters {
		if f.counters[i].source == p.TickSource {
			return &f.counters[i]
		}
	}
	if len(f.counters) == maxCounters {
		return nil
	}
	f.counters = append(f.counters, counter{source: p.TickSource, ticks: p.Ticks, time: p.Time})
	return &f.counters[len(f.counters)-1]
}

// Decode decodes a single packet of the source, read again by its number, with
// d, and gives it the time that it has in the analysis.
func (s *StampedSource) Decode(d *wire.Decoder, p *wire.Packet) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if int(p.Iface) >= len(s.faces) || !s.faces[p.Iface].use {
		d.Decode(p)
		return
	}
	f := s.faces[p.Iface]
	f.counters = slices.Clone(f.counters) // to look back changes nothing
	t, ok := s.timeOf(&f, d, p)
	if p.Time = t; !ok {
		p.Flags |= wire.FlagNoTime
	} else {
		p.Flags &^= wire.FlagNoTime
	}
}

// Clocks tells whose times each interface's packets have so far.
func (s *StampedSource) Clocks() []ClockUse {
	s.mu.Lock()
	defer s.mu.Unlock()
	uses := make([]ClockUse, len(s.faces))
	for i := range s.faces {
		uses[i] = ClockUse{Stamps: s.faces[i].use, Missing: s.faces[i].missing}
	}
	return uses
}

// Interfaces are those of the source underneath.
func (s *StampedSource) Interfaces() []Interface { return s.src.Interfaces() }

// Inputs are those of the source underneath.
func (s *StampedSource) Inputs() []InputInfo { return s.src.Inputs() }

// clockSource is a source that knows whose times its packets have.
type clockSource interface{ Clocks() []ClockUse }

// ClocksOf tells whose times the packets of src have, by interface; nil when
// they are the capture's.
func ClocksOf(src Source) []ClockUse {
	if c, ok := src.(clockSource); ok {
		return c.Clocks()
	}
	return nil
}

// ParseClockMode reads the name of a mode.
func ParseClockMode(name string) (ClockMode, error) {
	for m, n := range clockModes {
		if n == name {
			return ClockMode(m), nil
		}
	}
	return 0, fmt.Errorf("%s: auto, capture or trailer", name)
}

var clockModes = [...]string{ClockCapture: "capture", ClockAuto: "auto", ClockTrailer: "trailer"}

// String returns the mode's name.
func (m ClockMode) String() string { return clockModes[m] }
