// Package live takes packets from network interfaces, in the blocks and
// records in which package pcaps takes them from files. It needs Linux: other
// systems get ErrUnsupported from Open.
//
// # From the wire to a block
//
// Open makes for each interface one AF_PACKET socket (or several, see
// Options.Rings) with a TPACKET_V3 ring: memory shared with the kernel, cut
// into blocks that the kernel fills with frames and hands over as a whole.
// A block is handed over when it is full, and otherwise after a short time
// (retireMS), so that a lull never holds back the packets before it.
//
// ReadBlock lends what is in a ready block as it lies there (loan_linux.go), half
// a block at a time, and Release gives the block back to the kernel when none of
// it is out any more. The kernel fills the blocks strictly in turn and drops
// everything when the next one isn't back, while the caller keeps what it has
// for as long as its slowest consumer takes, and gives it back in any order. So
// it says how much it may hold (Options.Held), and the ring is longer by that:
// however late it gives back, there is as much room ahead as without loans.
//
// Otherwise the frames are copied into the caller's buffer, and the block is
// given back at once: where little is in it, since a block of 1 MiB is much to
// hold for a few frames, and several such make one block for the caller; where
// frames of several rings take turns within it; for a caller that holds more
// than it said, or says nothing; and with a ring smaller than what may be held.
//
// Where nothing came, ReadBlock returns no records and no error: time passed.
//
// # What the kernel changed
//
// The kernel takes the outermost VLAN tag off a frame and tells it beside the
// frame. It is put back in its place, with its TPID, also when its VID is 0: the
// priority in it is what PFC looks at. In a block that is lent, the addresses
// before it move into the end of the frame's header for that.
//
// # Several rings
//
// Records of several rings are merged by time (merge_linux.go): a block waits
// until every other ring has had the time to hand over what is older, unless
// its ring fills up meanwhile. Order across interfaces is worth less than a
// packet.
//
// # The end
//
// Stop makes the kernel take no more packets, and ReadBlock goes on until all
// that were taken before are delivered. Only then it returns io.EOF.
package live
