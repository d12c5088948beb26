package iwarp

import (
	"time"

	"rdmascope/decode/iwarp"
)

// Event is one FPDU of a connection, for analyses of what rides on it.
type Event struct {
	Key         Key
	Incarnation uint32
	Side        uint8 // that sent it: 0 is A of the key
	FPDU        *iwarp.FPDU
	// Complete is when the last of its octets to come was seen, Packet the one
	// that holds its last octet (of an FPDU found by a search: the one that proved
	// it). FPDU.At is its first octet's sighting.
	Complete int64
	Packet   int64
}

// Options bound a Tracker. A zero field takes its default.
type Options struct {
	// Connections, Candidates and Pending are how many connections may be in
	// each stage at a time; Entries is how many the table knows at all, plain
	// ones included.
	Connections, Candidates, Pending, Entries int
	// SearchSegments and SearchOctets are how much of a connection without
	// start-up frames is searched for FPDUs before it counts as plain.
	SearchSegments, SearchOctets int
	// StreamBuffer and TotalBuffer are the octets that may wait behind holes,
	// for one direction and for the shard.
	StreamBuffer, TotalBuffer int
	// Silence without a packet either way makes a retransmission a timeout
	// (METRICS §8): below the least RTO of the usual stacks, 200 ms.
	Silence time.Duration
	// CopyWithin is how far apart copies of a packet may be.
	CopyWithin time.Duration
	// Holes is how many holes a direction lists.
	Holes int
	// Observe, if set, is told of every FPDU that counts, in stream order of its
	// direction. The event and what it points to are valid during the call only.
	Observe func(*Event)
	// Evicted, if set, is told of an iWARP connection that has to go for another,
	// with its figures so far: it is in no later result.
	Evicted func(*Connection)
}

func (o Options) withDefaults() Options {
	def(&o.Connections, 1024)
	def(&o.Candidates, 64)
	def(&o.Pending, 1024)
	def(&o.Entries, 1<<15)
	def(&o.SearchSegments, 128)
	def(&o.SearchOctets, 512<<10)
	def(&o.StreamBuffer, 512<<10)
	def(&o.TotalBuffer, 4<<20)
	def(&o.Holes, 100)
	if o.Silence == 0 {
		o.Silence = 180 * time.Millisecond
	}
	if o.CopyWithin == 0 {
		o.CopyWithin = time.Millisecond
	}
	o.Entries = max(o.Entries, o.Connections+o.Candidates+o.Pending+1)
	return o
}

func def(v *int, d int) {
	if *v == 0 {
		*v = d
	}
}
