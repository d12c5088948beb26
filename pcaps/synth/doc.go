// Package synth writes test frames and whole captures byte by byte.
//
// It is the project's independent witness: it knows the wire formats from the
// specifications alone, carries its own opcode numbers and its own check sums,
// and imports nothing of decode, so that a mistake in a decoder can't hide
// behind the same mistake in its test data. Its frames are held against
// vectors that were made and checked elsewhere (testdata/vectors).
//
// Three layers, each built on the one below:
//
//   - frames: [Path] says how a packet travels (Ethernet, VLAN, IP, UDP),
//     [Packet] what it says (BTH, extension headers, payload). Append functions
//     write into the caller's buffer, so that a generator of millions of frames
//     allocates nothing. A [Wrap] puts a finished frame into another one
//     (tunnels, mirror headers, trailers, other link types).
//   - captures: a [Scenario] is a list of frames with times; it is written as
//     classic pcap, pcapng or ERF in every variant that a reader must know.
//     [Conn] writes the clean life of a connection; [LoadPcap] and [Rewrite]
//     alter real captures (PSNs, queue pairs, ports) and make their check sums
//     right again.
//   - behaviour: [Simulate] runs requester, tap and responder of an RC
//     connection as discrete events and tells, beside the frames which the tap
//     saw, the [Truth] about what was lost, where, and what was sent again.
//
// [WriteBench] streams big captures for measurements.
package synth
