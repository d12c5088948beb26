package live

import "errors"

// Record locates one captured packet in the bytes of its block. It, Interface
// and Input are aliases of unnamed structs that other packages spell alike, so
// that none has to import another.
type Record = struct {
	Time  int64  // ns since the Unix epoch; 0 with flagNoTime
	Off   uint32 // offset of the frame's first byte in the block's bytes
	Cap   uint32 // captured bytes present
	Wire  uint32 // length on the wire without FCS
	Iface uint16 // index into Interfaces()
	Link  uint16 // LINKTYPE_ number
	Flags uint16 // flagNoTime or 0
	Lost  uint16 // 0: the kernel counts what it drops, not where
	Dir   uint8  // dirIn or dirOut
}

const (
	flagNoTime = 1
	dirIn      = 1
	dirOut     = 2
)

// Interface describes where records come from. Received and Dropped grow
// while the capture runs.
type Interface = struct {
	Input       int
	ID          int
	Name        string
	Description string
	Link        uint16
	SnapLen     uint32
	SpeedBps    uint64 // of the capturing port, 0 unknown
	Received    int64  // packets that passed the filter, those dropped for want of room included
	Dropped     int64  // of the kernel and of the network card
	FCSBytes    int
	Nanos       bool
}

// Input describes one interface as a stream of packets.
type Input = struct {
	Path        string // the interface's name
	Format      string // FormatLive
	Compression string
	SizeBytes   int64 // -1
	Complete    bool  // false when the interface went away
	Error       string
	Packets     int64
}

// FormatLive is the Format of every Input.
const FormatLive = "live"

// Options say what is captured. The zero value of every field but Interfaces
// is a good choice.
type Options struct {
	Interfaces []string
	// Filter runs in the kernel: see Preset and ParseDDD. Nil takes all.
	Filter *Filter
	// SnapLen is how many octets of a frame are kept, 0 for all.
	SnapLen int
	// BufferBytes is the size of each ring, 0 for DefaultBuffer.
	BufferBytes int
	// Rings is how many rings share the packets of an interface, by the CPU
	// that received them: with several receive queues, they don't wait for
	// one another. 0 means 1.
	Rings int
	// Held is how many blocks the caller holds at most before it releases them
	// (Source.Release), as an analysis tells by its Options.Blocks. They may then
	// be the kernel's own memory, lent instead of copied, and each ring has as
	// many blocks of 1 MiB more. With 0, and where that would more than double a
	// ring, all is copied.
	Held int
	// HardwareTime asks for the time stamps of the network card. Where it has
	// none, Open tells so by Notice and goes on with those of the kernel.
	HardwareTime bool
	// NotPromiscuous leaves the interface in its mode.
	NotPromiscuous bool
	// Notice is called with one line when an interface goes down, comes back
	// or is gone. It runs in ReadBlock and must be quick.
	Notice func(text string)
}

// DefaultBuffer is the size of a ring: at 10 Gbit/s it fills in 0.2 s. That is
// about what a busy machine of few cores may need to come back from making a
// snapshot; a quarter of it lost packets in BenchmarkLiveLoad.
const DefaultBuffer = 256 << 20

// Stats are the counts of one interface so far.
type Stats struct {
	Name          string
	Received      int64 // passed the filter, KernelDropped included
	KernelDropped int64 // the ring was full
	NICDropped    int64 // the network card had no buffer (rx_missed_errors), since the start; -1 unknown
	Up            bool
	Gone          bool
}

// ErrUnsupported is what Open returns where there is no live capture.
var ErrUnsupported = errors.New("live capture needs Linux; pipe tcpdump into -")

// StartError says why a capture could not start: one line, and the commands
// that help, if there are any.
type StartError struct {
	Interface string
	Reason    string
	Help      []string
	Err       error
}

func (e *StartError) Error() string {
	s := e.Reason
	if e.Interface != "" {
		s = e.Interface + ": " + s
	}
	for _, line := range e.Help {
		s += "\n    " + line
	}
	return s
}

func (e *StartError) Unwrap() error { return e.Err }
