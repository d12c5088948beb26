package tui

import (
	"context"

	"github.com/gdamore/tcell/v2"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

// Engine is the analysis that the browser shows; *analysis.Engine is one.
type Engine interface {
	Snapshot() *analysis.Snapshot // the newest, nil before the first
	RequestSnapshot()             // asks for one at the next block
}

// Progress tells how far reading got. Total is 0 when the size of the input
// is not known; rates and the time left are worked out here.
type Progress struct {
	ReadBytes  int64
	TotalBytes int64
	Packets    int64
	Done       bool
	Err        error // what ended the analysis early
}

// PacketSource gives random access to the packets of the input.
type PacketSource interface {
	// Count is how many packets can be asked for now, and whether that is all.
	Count() (n int64, complete bool)
	// Packet decodes packet n, from 1. It owns its bytes. It is called from
	// several goroutines.
	Packet(n int64) (*wire.Packet, error)
}

// PacketWindow is a PacketSource that keeps the newest packets alone, because
// what it comes from can't be read again.
type PacketWindow interface {
	PacketSource
	First() int64 // oldest packet kept
	// Freeze keeps what there is now as it is, while more comes, until it is
	// called with false.
	Freeze(on bool)
}

// PacketScanner may be implemented by a PacketSource that reads in sequence
// faster than packet by packet. The packet is valid during the call alone.
type PacketScanner interface {
	Scan(ctx context.Context, from int64, f func(*wire.Packet) bool) error
}

// PacketMarks is what the analysis says about single packets; their octets
// don't. It may grow while it is asked.
type PacketMarks interface {
	Marks(n int64) analysis.PacketMark
	// Next is the next packet with any of the marks, backwards when dir is −1.
	Next(from int64, dir int, m analysis.PacketMark) (n int64, ok bool)
}

// PacketSaver writes packets, named by number in ascending order, to a new
// capture file and returns how many it wrote.
type PacketSaver interface {
	Save(ctx context.Context, path string, packets []int64) (int64, error)
}

// FlowMatch tells whether one direction of a connection is selected; f is
// nil for a connection of which only the attempt was seen.
type FlowMatch func(s *analysis.Snapshot, c *analysis.Connection, f *analysis.Flow) bool

// FlowFilter compiles filters for the connection table. An error that has a
// method Column() int points at the character, from 0.
type FlowFilter interface {
	CompileFlow(expr string) (FlowMatch, error)
	FlowNames() []Name // for completion
}

// PacketFilter compiles display filters for packets, in the same manner.
type PacketFilter interface {
	CompilePacket(expr string) (func(*wire.Packet) bool, error)
	PacketNames() []Name
}

// Name is a field that a filter may use.
type Name struct{ Name, Meaning string }

// Options of the browser. Only Engine is needed.
type Options struct {
	Engine   Engine
	Progress func() Progress // called from any goroutine; nil: done
	Live     func() Live     // what is captured just now, called from any goroutine; nil: a file is read
	Details  Details         // nil: what the snapshot doesn't hold is not shown

	Marks       PacketMarks  // nil: single packets are not told apart
	Packets     PacketSource // nil: WhyNoPacket says why
	WhyNoPacket string
	Saver       PacketSaver

	FlowFilter   FlowFilter
	PacketFilter PacketFilter

	Title      string   // what is looked at: file name, "-i eth7"
	Inputs     []string // for the tshark and rdmascope commands that are shown
	Theme      string   // one of Themes()
	NoMouse    bool
	Screen     tcell.Screen
	WriteFile  func(path string, data []byte) error // nil: a new file is written; existing ones are refused
	Remembered Remembered                           // from the last time
	Remember   func(Remembered) error               // saves it for the next; nil: nothing is remembered. On any goroutine
	StartView  string                               // "" overview, else a command: flows, packets…
	OnPanicked func()                               // called before a panic goes on, once the terminal is restored
}
