// Package wire turns captured frames into Packets: from the link header
// through tunnels, IP and UDP or TCP to the family that the packet belongs to,
// in one pass.
//
// Decoder is the hot path. It scans the headers in front of the transport
// itself; gopacket's structs for them take three times as long, and a fuzz test
// holds the scanner against them. The transport is decoded by package roce,
// pause frames by package pfc, and what TCP carries by package iwarp, each with
// types that are gopacket layers, too: package decode enters them into
// gopacket's tables for other programs.
//
// Where data end is told by the innermost length field that can be trusted,
// first of all IP's, never by the frame: padding, frame check sequences and the
// trailers of taps follow. A frame view (type frame) carries that end along, and
// each header narrows it. Octets that are missing before it were cut by the
// capture (Stop: cut, FlagCut, FlagHiddenCut); a header that doesn't fit in front
// of it is malformed; what this program has no definition for is unknown. The
// three are never mixed, and what was decoded before stays.
//
// Tree and Summary show a packet to people. Tree walks the very path that the
// decoder took, so it can't say anything else than the decoder saw; its fields
// have Wireshark's names, and a test compares them with tshark's values.
package wire
