// Package iwarp decodes RDMA over TCP: MPA framing (RFC 5044, RFC 6581), DDP
// (RFC 5041) and RDMAP (RFC 5040, RFC 7306).
//
// It has two halves.
//
// The headers are structs and gopacket DecodingLayers, one file each: MPAFrame
// (the start-up request and reply), FPDUHeader (length, pad, CRC), DDP (tagged
// and untagged, with the RDMAP control octet), ReadRequest, AtomicRequest,
// AtomicResponse, Immediate and Terminate. They never allocate; what they
// refuse comes back as a package sentinel: ErrTruncated when the octets end
// early (a short snaplen), an error that wraps ErrMalformed when octets that
// are there can't be right.
//
// The Stream is a pure machine for one direction of a TCP connection: segments
// in, in order, holes shown by their offsets; FPDUs out. It knows no clock, no
// TCP and no goroutine. It never stores payload: of a running FPDU it carries
// the first octets (HeadMax), a running CRC32C and a count, so that an FPDU of
// 64 KiB over many segments costs the same as one of 24 octets. TCP itself
// (resends, round trips, buffering of what came out of order) is its caller's.
//
// Two Streams make a Pair, since each direction's framing is agreed in the
// other one's start-up frame: markers of a direction are asked for by M in the
// *peer's* frame, and C in either frame turns CRCs on in both (RFC 5044 §7.1).
//
// A Stream that starts in the middle of a connection, or loses its place,
// searches: see search.go for the evidence that it asks for.
package iwarp
