package rc

// Options are thresholds and bounds. The zero value of a field means its
// default.
type Options struct {
	CopyWindowNS     int64 // two sightings of the same bytes this close are copies of one packet
	ReuseSilenceNS   int64 // silence before a PSN far below tells a new connection on the same QPN
	MaxPending       int   // events that wait in one flow for its partner
	MaxPendingTotal  int   // events that wait in the whole shard
	MaxOutstanding   int   // messages in flight that one requester remembers
	SendWindow       int   // packets that wait for late ones while a sender is in trouble
	MaxRecoveries    int   // recoveries told one by one
	MaxCandidates    int   // flows of the other direction that pairing by PSN looks at
	MaxClosed        int   // finished incarnations that are kept
	MaxConnects      int   // CM dialogues that are remembered for flows to come
	PairCertain      int   // responses that make pairing by PSN certain
	LivelockEpisodes int   // episodes at one PSN that make a livelock
	SchemeEpisodes   int   // episodes needed to name the recovery scheme

	// Paused tells for how much of [from, to) a flow's packets were stopped by
	// pauses; nil: nobody asks. It must not depend on how often it is called.
	Paused func(flow int32, from, to int64) int64

	// Mark is told of packets, by their number, that are not what they look
	// like alone; nil: nobody asks. A packet may be told twice. What is marked
	// counts once Finish and Result were called.
	Mark func(number int64, m Mark)

	// finished says that no packet follows, so that results may hold what
	// trackers hold instead of copies.
	finished bool
}

func (o Options) withDefaults() Options {
	def64 := func(p *int64, v int64) {
		if *p <= 0 {
			*p = v
		}
	}
	def := func(p *int, v int) {
		if *p <= 0 {
			*p = v
		}
	}
	def64(&o.CopyWindowNS, 1e6)
	def64(&o.ReuseSilenceNS, 10e6)
	def(&o.MaxPending, 4096)
	def(&o.MaxPendingTotal, 1<<17)
	def(&o.MaxOutstanding, 4096)
	def(&o.SendWindow, 192)
	def(&o.MaxRecoveries, 100)
	def(&o.MaxCandidates, 64)
	def(&o.MaxClosed, 1<<11)
	def(&o.MaxConnects, 1<<12)
	def(&o.PairCertain, 8)
	def(&o.LivelockEpisodes, 3)
	def(&o.SchemeEpisodes, 3)
	o.MaxOutstanding = min(o.MaxOutstanding, 1<<14) // the ring counts in 16 bits
	return o
}
