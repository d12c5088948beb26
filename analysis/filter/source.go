package filter

import (
	"fmt"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

// FilteredSource delivers the records of a source whose packets pass a filter.
type FilteredSource struct {
	src     analysis.Source
	filter  *PacketFilter
	d       *wire.Decoder
	p, part wire.Packet
	read    int64
	numbers []int64
}

// Source wraps src so that it delivers only what passes f. c must be what the
// analysis decodes with. Frames keep their place in the bytes of the block;
// only the records of those that fail are dropped.
func Source(src analysis.Source, f *PacketFilter, c wire.Config) *FilteredSource {
	return &FilteredSource{src: src, filter: f, d: wire.NewDecoder(c)}
}

// ReadBlock reads the next block. It may deliver no records and no error: none
// of a block passed.
func (s *FilteredSource) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	s.numbers = s.numbers[:0]
	buf, recs, err := s.src.ReadBlock(buf, recs)
	if err != nil {
		return buf, recs, err
	}
	kept := recs[:0]
	for i := range recs {
		r := &recs[i]
		if int64(r.Off)+int64(r.Cap) > int64(len(buf)) {
			return buf, recs, fmt.Errorf("record %d reaches beyond its block", i)
		}
		s.read++
		analysis.LoadRecord(&s.p, r, buf[r.Off:r.Off+r.Cap:r.Off+r.Cap], s.read)
		s.d.Decode(&s.p)
		if s.match() {
			kept = append(kept, *r)
			s.numbers = append(s.numbers, s.read)
		}
	}
	s.p.Data, s.part.Data = nil, nil // they lie in a block that isn't ours any more
	return buf, kept, nil
}

// Release gives a block's bytes back to the source underneath.
func (s *FilteredSource) Release(buf []byte) []byte { return analysis.Release(s.src, buf) }

// match tells whether the packet passes or, where receive offload merged several
// into one frame, any of them: a frame stays whole.
func (s *FilteredSource) match() bool {
	yes := s.filter.Match(&s.p)
	for k := 1; k < int(s.p.Merged) && s.d.Part(&s.p, k, &s.part); k++ {
		yes = s.filter.Match(&s.part) || yes // each, since a filter may count
	}
	return yes
}

// Numbers returns the numbers that the records of the last block have in the
// whole capture: what a report must name, since a reader opens the file, not
// what was left of it. Valid until the next ReadBlock.
func (s *FilteredSource) Numbers() []int64 { return s.numbers }

// Seen returns how many packets were read, whether they passed or not.
func (s *FilteredSource) Seen() int64 { return s.read }

// Interfaces and Inputs are those of the source underneath.
func (s *FilteredSource) Interfaces() []analysis.Interface { return s.src.Interfaces() }

// Clocks are those of the source underneath.
func (s *FilteredSource) Clocks() []analysis.ClockUse { return analysis.ClocksOf(s.src) }

// Inputs is what the source underneath tells.
func (s *FilteredSource) Inputs() []analysis.InputInfo { return s.src.Inputs() }
