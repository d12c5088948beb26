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
// ReadBlock copies the frames of ready blocks into the caller's buffer and
// gives each block back at once. The copy is deliberate: the kernel fills the
// blocks strictly in turn and drops everything when the next one isn't back,
// while the caller keeps its buffers for as long as its slowest consumer
// takes, and not in turn. Copying costs a fraction of a nanosecond an octet
// (BenchmarkTake), and nothing else decides how long a block is away.
//
// Where nothing came, ReadBlock returns no records and no error: time passed.
//
// # What the kernel changed
//
// The kernel takes the outermost VLAN tag off a frame and tells it beside the
// frame. It is put back in its place, with its TPID, also when its VID is 0:
// the priority in it is what PFC looks at.
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
