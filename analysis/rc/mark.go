package rc

// Mark is what the tracking finds out about one packet, and no octet of it
// tells. One packet can have several.
type Mark uint8

// Marks. The packets with one of them are those that the figure of its name
// counts, on all flows that aren't void.
const (
	MarkRetransmission   Mark = 1 << iota // retransmitted_packets: a request sent again
	MarkOutOfOrder                        // out_of_order_packets: a first sending that came late
	MarkDuplicateAck                      // an ACK that acknowledges nothing new
	MarkDuplicate                         // duplicate_packets: a copy of a packet seen before
	MarkRepeatedResponse                  // repeated_response_packets: sent again since it was asked for again
	MarkEpisode                           // where the sender steps back
	Marks                = 6              // how many there are
)

// mark tells whoever wants to know. A packet is marked once its place in the
// order of sending is known, which may be long after it came.
func (o *Options) mark(number int64, m Mark) {
	if o.Mark != nil {
		o.Mark(number, m)
	}
}

// quiet are the options of copies on which what will happen is tried: they mark
// nothing, but at the end, when what is tried is what stands.
func (s *Shard) quiet(f *flow) *Options {
	if s.opt.finished || f.opt.Mark == nil {
		return f.opt
	}
	o := *f.opt
	o.Mark = nil
	return &o
}

// markRest marks what waits for late packets when a flow ends.
func (f *flow) markRest() {
	if f.opt.Mark != nil && f.own != nil && f.own.t != nil {
		f.own.t.flush(f.own)
	}
}

func (r *requester) cameLate(number int64) {
	r.count().outOfOrder++
	r.opt.mark(number, MarkOutOfOrder)
}

func (r *requester) sentAgain(s *sent) {
	c := r.count()
	c.retransmitted++
	c.retransmittedBytes += uint64(s.wire)
	r.opt.mark(s.num, MarkRetransmission)
}

func (r *requester) answeredAgain(number int64) {
	r.count().repeated++
	r.opt.mark(number, MarkRepeatedResponse)
}
