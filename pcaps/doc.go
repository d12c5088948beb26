// Package pcaps is where packets come from: capture files and streams, read
// into blocks of records. It imports none of the project's packages: Record,
// Interface and Input are aliases of unnamed structs, so that analysis can
// declare the Source that Files satisfies.
//
// # From bytes to records
//
// Open makes one input per path. An input reads its file (counting bytes for
// Progress), looks at the first bytes (sniff.go) for gzip or zstd and then
// for the container, and makes a walker of that format: pcap.go, pcapng*.go,
// erf.go. What is recognised and not read is refused with the command that
// converts it (foreign.go).
//
// ReadBlock reads straight into the caller's buffer, decompression included,
// and the walker appends a Record for every whole record in it: no frame is
// copied. Only the start of a record that the block ends in is carried over
// to the next block. The walkers read at a few nanoseconds a packet; nothing
// is allocated per block once the buffers have grown.
//
// A file delivers full blocks of 512 KiB. A stream (stdin, a named pipe)
// delivers whatever whole records have arrived, since its writer may be slow.
//
// ERF and PPI around each frame are taken off (unwrap.go, erf.go), as is a
// frame check sequence that the file tells of. Every other link type passes
// as it is; decode counts what it doesn't know, LinkTypeName names it.
//
// # Several files
//
// The merger puts the records of several inputs into the order of time,
// those of one time in the order of the files. Files wait closed until their
// first record's turn, and a block that no other input cuts into passes
// uncopied, so that a ring of a thousand files costs what one file costs.
//
// Interfaces are numbered over all inputs and sections, in the order in which
// their records begin. A section or file that starts when another has ended
// and has the same interface (number, name, link type) takes its index over
// (ifaces.go): a connection goes on from one file of a ring to the next.
//
// # Damage
//
// Lengths in a file are claims. A frame is at most 1 MiB, and a buffer grows
// only by what has arrived. Where an input is cut short or damaged, all
// before is delivered and Input.Error says in one line where it ended;
// reading then goes on with the other inputs. Open fails, with an
// UnreadableError, only where an input holds nothing to analyse.
package pcaps
