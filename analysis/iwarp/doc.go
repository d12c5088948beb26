// Package iwarp follows the TCP connections of one shard and, on those that
// prove to carry iWARP, the RDMA messages: METRICS §8.
//
// TCP is followed by a small state machine of our own. Reassembly libraries
// (gopacket's tcpassembly and reassembly among them) deliver octets in order
// and throw away what these figures are made of: the order in which segments
// were sent, what was sent twice, what was never seen. They store payload per
// connection without a bound and allocate per packet.
//
// Most TCP in a capture is no iWARP, so a connection goes through stages, each
// with a bound of its own (Options):
//
//   - pending: nothing but its first packets without payload is kept, as
//     summaries of fixed size that hold no pointer (pending.go). With the SYN
//     seen, the first octets of a stream decide: MPA begins with its key.
//   - candidate: payload came in mid-stream, where decode/iwarp looks for
//     evidence of FPDUs. It is tracked in full, so that the figures are right
//     from its first packet on, until it locks on or has shown
//     Options.SearchSegments or SearchOctets without doing so.
//   - plain: no iWARP. Only the table's entry is left; each segment costs a
//     look-up and a look at its first octets, since a start-up frame may follow
//     other traffic (RFC 5044 §7.1 lets streaming mode go before MPA).
//   - iwarp: proved. It stays until it is closed and its ports are used anew,
//     or until the cap on connections evicts the one that was silent longest.
//
// The summaries of a pending connection are replayed when it leaves that stage,
// so that there is one path of code for every packet.
//
// What rides on the connections is not looked at here: Options.Observe hands the
// FPDUs on, in stream order.
//
// Sequence numbers are carried to 64 bits at once (offset), so that nothing
// compares 32-bit numbers. Payload is kept only while it waits behind a hole
// for the framing (waiting.go), within a cap for each direction and one for the
// shard.
package iwarp
