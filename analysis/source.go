package analysis

import (
	"errors"
	"fmt"
)

// Record locates one captured packet in the bytes of its block. It is an
// alias of an unnamed struct, and so are Interface and InputInfo: a package that
// brings packets spells the same types and satisfies Source without importing
// this one.
type Record = struct {
	Time  int64  // ns since the Unix epoch
	Off   uint32 // offset of the frame's first byte in the block's bytes
	Cap   uint32 // captured bytes present
	Wire  uint32 // length on the wire without FCS, as the file tells
	Iface uint16 // index into Interfaces
	Link  uint16 // LINKTYPE_ number of the bytes
	Flags uint16 // RecordNoTime…
	Lost  uint16 // packets the recorder says it lost just before this one
	Dir   uint8  // 0 unknown, 1 inbound, 2 outbound
}

// Flags of a Record.
const (
	RecordNoTime    = 1 << iota // the file has no time for it
	RecordTruncated             // the container says cut although Cap equals Wire
	RecordRxError               // the recorder flagged a receive error
)

// Interface describes where records came from.
type Interface = struct {
	Input       int    // index of the input
	ID          int    // interface number in its section
	Name        string // as the file tells, else ""
	Description string
	Link        uint16
	SnapLen     uint32
	SpeedBps    uint64 // 0 unknown
	Received    int64  // recorder's count of packets received, -1 unknown
	Dropped     int64  // recorder's count of packets dropped, -1 unknown
	FCSBytes    int    // -1 unknown
	Nanos       bool   // the clock is finer than 1 µs
}

// InputInfo describes one file or stream.
type InputInfo = struct {
	Path        string
	Format      string // "pcap", "pcapng", "erf"
	Compression string // "", "gzip", "zstd"
	SizeBytes   int64  // -1 unknown
	Complete    bool   // the end was reached at a record border
	Error       string // one line; "" when complete
	Packets     int64  // records delivered
}

// Source yields blocks of records in capture order.
type Source interface {
	// ReadBlock reads the next block. It may use buf for the bytes and recs
	// for the records, both of length 0, and grows them only when one record
	// needs it, or keep buf for a later call; what it returns belongs to the
	// caller, the bytes until they are released (see Release). At the end it
	// returns
	// io.EOF and no records. A source that is cut short or malformed ends so
	// too, and Inputs tells why; any other error ends the analysis. A live
	// source may return no records and no error: time passed.
	ReadBlock(buf []byte, recs []Record) ([]byte, []Record, error)
	// Interfaces may grow with each block; statistics are final at the end.
	Interfaces() []Interface
	Inputs() []InputInfo
}

// lender is a source that may deliver bytes of its own, such as a ring that it
// shares with the kernel, which it needs back as soon as may be. Release is
// called once for each block when nobody looks at its bytes any more, by any
// goroutine, in any order, also while ReadBlock is under way. It returns what
// may be brought to a later ReadBlock in its place: buf, unless that is the
// source's, or nil.
type lender interface{ Release(buf []byte) []byte }

// Release gives the bytes of a block of src back, which nobody may look at from
// then on, and returns what may be brought to a later ReadBlock. Who reads a
// source calls it once for each block, and who wraps one has a method Release
// that passes it on.
func Release(src Source, buf []byte) []byte {
	if l, ok := src.(lender); ok {
		return l.Release(buf)
	}
	return buf
}

// partSource is a source that leaves packets out, such as a filter. Numbers are
// those of the last block's records in the whole capture, which a report must
// name since a reader opens that.
type partSource interface{ Numbers() []int64 }

var errBadRecord = errors.New("source delivered a record outside its block")

// checkRecords guards the engine against a source whose records don't lie in
// their block: a bug, but never a reason to panic in a worker.
func checkRecords(buf []byte, recs []Record) error {
	for i := range recs {
		if r := &recs[i]; int64(r.Off)+int64(r.Cap) > int64(len(buf)) {
			return fmt.Errorf("%w: record %d has %d bytes at %d of %d", errBadRecord, i, r.Cap, r.Off, len(buf))
		}
	}
	return nil
}
