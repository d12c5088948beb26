package filter

import (
	"fmt"

	"rdmascope/analysis"
	"rdmascope/decode"
)

// FilteredSource delivers the records of a source whose packets pass a filter.
type FilteredSource struct {
	src     analysis.Source
	filter  *PacketFilter
	d       *decode.Decoder
	p       decode.Packet
	read    int64
	numbers []int64
}

// Source wraps src so that it delivers only what passes f. c must be what the
// analysis decodes with. Frames keep their place in the bytes of the block;
// only the records of those that fail are dropped.
func Source(src analysis.Source, f *PacketFilter, c decode.Config) *FilteredSource {
	return &FilteredSource{src: src, filter: f, d: decode.NewDecoder(c)}
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
		s.load(r, buf)
		s.d.Decode(&s.p)
		if s.filter.Match(&s.p) {
			kept = append(kept, *r)
			s.numbers = append(s.numbers, s.read)
		}
	}
	s.p.Data = nil // it lies in a block that isn't ours any more
	return buf, kept, nil
}

func (s *FilteredSource) load(r *analysis.Record, buf []byte) {
	p := &s.p
	p.Number, p.Time = s.read, r.Time
	p.Data = buf[r.Off : r.Off+r.Cap : r.Off+r.Cap]
	p.Wire, p.Iface, p.Link, p.Lost, p.Dir = r.Wire, r.Iface, r.Link, r.Lost, decode.Dir(r.Dir)
	p.Flags = 0
	if r.Flags&analysis.RecordNoTime != 0 {
		p.Flags |= decode.FlagNoTime
	}
	if r.Flags&analysis.RecordTruncated != 0 {
		p.Flags |= decode.FlagTruncated
	}
	if r.Flags&analysis.RecordRxError != 0 {
		p.Flags |= decode.FlagRxError
	}
}

// Numbers returns the numbers that the records of the last block have in the
// whole capture: what a report must name, since a reader opens the file, not
// what was left of it. Valid until the next ReadBlock.
func (s *FilteredSource) Numbers() []int64 { return s.numbers }

// Seen returns how many packets were read, whether they passed or not.
func (s *FilteredSource) Seen() int64 { return s.read }

// Interfaces and Inputs are those of the source underneath.
func (s *FilteredSource) Interfaces() []analysis.Interface { return s.src.Interfaces() }

// Inputs is what the source underneath tells.
func (s *FilteredSource) Inputs() []analysis.InputInfo { return s.src.Inputs() }
