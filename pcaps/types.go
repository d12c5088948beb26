package pcaps

// Record locates one captured packet in the bytes of its block. It is an
// alias of an unnamed struct so that analysis can spell the same type
// without either package importing the other.
type Record = struct {
	Time  int64  // ns since the Unix epoch (capture clock); 0 with FlagNoTime when the file has none
	Off   uint32 // offset of the frame's first byte in the block's bytes
	Cap   uint32 // captured bytes present
	Wire  uint32 // length on the wire as the file tells, never less than Cap, without an FCS that the file tells of
	Iface uint16 // index into Interfaces()
	Link  uint16 // LINKTYPE_ number of these bytes; ERF and PPI are already unwrapped
	Flags uint16 // Flag… bits
	Lost  uint16 // packets that the recorder lost just before this one, saturating
	Dir   uint8  // DirUnknown, DirInbound or DirOutbound
}

// Bits of Record.Flags.
const (
	FlagNoTime    = 1 << iota // the container holds no time for this record
	FlagTruncated             // the container says truncated, although Cap may equal Wire
	FlagRxError               // the recorder says that the frame arrived damaged
)

// Values of Record.Dir, those of pcapng's epb_flags bits 0–1.
const (
	DirUnknown  = 0
	DirInbound  = 1
	DirOutbound = 2
)

// Interface describes where records came from. Statistics are final when the
// input that holds them has ended.
type Interface = struct {
	Input       int    // index of the input file
	ID          int    // interface number in its section
	Name        string // if_name, else ""
	Description string // if_description, else ""
	Link        uint16 // LINKTYPE_ number of the interface, of the outside where ERF or PPI wraps
	SnapLen     uint32 // 0: no limit, or not told
	SpeedBps    uint64 // if_speed, 0 unknown
	Received    int64  // isb_ifrecv, -1 unknown
	Dropped     int64  // isb_ifdrop + isb_osdrop, -1 unknown
	FCSBytes    int    // FCS length told by the file, -1 unknown
	Nanos       bool   // clock resolution finer than 1 µs
}

// Input describes one opened file or stream.
type Input = struct {
	Path        string
	Format      string // FormatPcap, FormatPcapng or FormatERF
	Compression string // "", "gzip" or "zstd"
	SizeBytes   int64  // size of the file on disk, -1 unknown (stdin)
	Complete    bool   // the end was reached at a record border
	Error       string // one line: which packet, what is wrong; "" when complete
	Packets     int64  // records read
}

// Values of Input.Format.
const (
	FormatPcap   = "pcap"
	FormatPcapng = "pcapng"
	FormatERF    = "erf"
)
