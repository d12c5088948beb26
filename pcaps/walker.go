package pcaps

import "slices"

// walker finds the records of one container format. It is fed the bytes of
// an input block by block.
type walker interface {
	// walk appends the whole records of b from offset at on to recs and
	// returns the offset up to which it is done: what follows is the start of
	// a record that has not arrived in full. An error ends the input.
	walk(b []byte, at int, recs []Record) (int, []Record, error)

	// cut says in words where an input ends that ends before its time; rest
	// is what walk was not done with, maybe nothing.
	cut(rest []byte) string

	// partial says whether the input, ending with rest, ends inside
	// something that it had begun.
	partial(rest []byte) bool

	// finish enters interfaces without a record into the table and frees
	// them all for a file that goes on where this one ends.
	finish() error
}

// cutInPacket is the place of a cut inside the record after n whole ones.
func cutInPacket(n int64) string { return "in packet " + comma(n+1) }

// cutAfterPacket is the place of a cut between records.
func cutAfterPacket(n int64) string {
	if n == 0 {
		return "before the first packet"
	}
	return "after packet " + comma(n)
}

// cutFCS takes a frame check sequence that the file tells of off the frame:
// it is not part of what the stations said, and the last bytes of a frame
// must never be taken for an iCRC.
func cutFCS(rec *Record, fcs uint32) {
	if rec.Wire < fcs {
		return
	}
	rec.Wire -= fcs
	rec.Cap = min(rec.Cap, rec.Wire)
}

// oneMore makes recs longer by a record to be filled in place: to append one
// made on the stack takes twice the time of a whole walk.
func oneMore(recs []Record) []Record {
	if len(recs) == cap(recs) {
		recs = slices.Grow(recs, 1)
	}
	return recs[:len(recs)+1]
}
