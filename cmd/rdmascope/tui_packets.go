package main

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"runtime"
	"strconv"
	"sync"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
	"rdmascope/tui"
)

// tuiWorkers leaves a processor to the terminal, so that keys are answered
// while a big file is analysed.
func tuiWorkers() int { return max(1, runtime.GOMAXPROCS(0)-1) }

// indexedPackets gives the browser single packets of the files.
type indexedPackets struct {
	files   *pcaps.Indexed
	stamped *analysis.StampedSource // of files: whose times packets have
	config  wire.Config
	single  singleDecoder
}

// singleDecoder decodes one packet at a time, for whoever asks.
type singleDecoder struct {
	mu      sync.Mutex
	decoder *wire.Decoder
}

// decode decodes packet n. The times are those of stamped.
func (d *singleDecoder) decode(stamped *analysis.StampedSource, config wire.Config, rec *analysis.Record, frame []byte, n int64) *wire.Packet {
	pkt := &wire.Packet{}
	analysis.LoadRecord(pkt, rec, frame, n)
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.decoder == nil {
		d.decoder = wire.NewDecoder(config)
	}
	stamped.Decode(d.decoder, pkt)
	return pkt
}

// Count is how many packets are known so far.
func (p *indexedPackets) Count() (int64, bool) { return p.files.Count(), p.files.Complete() }

// Packet reads and decodes packet n.
func (p *indexedPackets) Packet(n int64) (*wire.Packet, error) {
	rec, frame, err := p.files.Packet(n)
	if err != nil {
		return nil, err
	}
	return p.single.decode(p.stamped, p.config, &rec, frame, n), nil
}

// Save writes packets, by number, to a new pcapng file.
func (p *indexedPackets) Save(ctx context.Context, path string, numbers []int64) (n int64, err error) {
	return savePackets(ctx, path, p.files.Interfaces(), numbers, p.files.Packet)
}

// savePackets writes packets to a new file, each with the number that it had as
// its comment. A file that could not be written whole is taken away again: half
// of what was asked for looks like all of it.
func savePackets(ctx context.Context, path string, faces []analysis.Interface, numbers []int64,
	get func(n int64) (analysis.Record, []byte, error)) (n int64, err error) {
	f, err := newFile(path)
	if err != nil {
		return 0, err
	}
	defer func() {
		if e := bareError(f.Close()); err == nil {
			err = e
		}
		if err != nil {
			_ = os.Remove(path)
		}
	}()
	w, err := pcaps.NewPcapngWriter(f, faces)
	if err != nil {
		return 0, bareError(err)
	}
	for _, number := range numbers {
		if err := ctx.Err(); err != nil {
			return n, err
		}
		rec, frame, err := get(number)
		if err != nil {
			return n, err
		}
		rec.Off = 0
		if err := w.Write(rec, frame, "packet "+strconv.FormatInt(number, 10)); err != nil {
			return n, bareError(err)
		}
		n++
	}
	return n, bareError(w.Flush())
}

// newFile creates a file that must not be there yet.
func newFile(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if errors.Is(err, fs.ErrExist) {
		return nil, errExists
	}
	return f, bareError(err)
}

var errExists = errors.New("exists already: not overwritten")

// bareError leaves out the operation and the path, which whoever shows the
// error names.
func bareError(err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		return pe.Err
	}
	return err
}

// pointedError is a fault in a filter in one line, with its place.
type pointedError struct{ fault *filter.Error }

func (e pointedError) Error() string {
	if e.fault.Hint == "" {
		return e.fault.Msg
	}
	return e.fault.Msg + ": " + e.fault.Hint
}

// Column is where the fault is, in characters from 0.
func (e pointedError) Column() int {
	before, _ := e.fault.Column()
	return before
}

// pointed makes an error of package filter fit for one line.
func pointed(err error) error {
	var e *filter.Error
	if errors.As(err, &e) {
		return pointedError{e}
	}
	return err
}

// filters compiles what is typed at the browser's filter prompt.
type filters struct {
	marks    *packetMarks
	findings func() []analysis.Finding // of the newest snapshot
}

func (filters) CompileFlow(expr string) (tui.FlowMatch, error) {
	f, err := filter.CompileFlow(expr)
	if err != nil {
		return nil, pointed(err)
	}
	var seen *analysis.Snapshot
	return func(s *analysis.Snapshot, c *analysis.Connection, fl *analysis.Flow) bool {
		if s != seen {
			f.SetFindings(s.Findings)
			seen = s
		}
		return f.Match(c, fl)
	}, nil
}

func (filters) FlowNames() []tui.Name { return fieldNames(filter.ScopeFlow) }

func (c filters) CompilePacket(expr string) (func(*wire.Packet) bool, error) {
	f, err := filter.CompilePacket(expr)
	if err != nil {
		return nil, pointed(err)
	}
	f.SetMarks(c.marks)
	if f.NeedsFindings() {
		f.SetFindings(c.findings())
	}
	var mu sync.Mutex // a filter is for one goroutine at a time; a scan may follow another that still ends
	return func(p *wire.Packet) bool {
		mu.Lock()
		defer mu.Unlock()
		return f.Match(p)
	}, nil
}

func (filters) PacketNames() []tui.Name { return fieldNames(filter.ScopePacket) }

func fieldNames(in filter.Scope) []tui.Name {
	var names []tui.Name
	for _, f := range filter.Fields() {
		if f.Scope == in {
			names = append(names, tui.Name{Name: f.Name, Meaning: f.Doc})
		}
	}
	return names
}
