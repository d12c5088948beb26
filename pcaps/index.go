package pcaps

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"sync"
)

// Indexed is a source that remembers where in its files the packets lie, so
// that each can be read again by its number: while the source is still being
// read, and without keeping more than a bounded table of places.
//
// The table has windows: ranges of a file, and the numbers of the packets in
// them. A packet is found by walking through its window from the start. When
// there are too many windows, neighbours are joined and new ones made twice as
// long, so a file of any size needs at most maxWindows of them.
//
// A gzip or zstd stream can be entered at its start alone. What it holds is kept
// in memory up to maxSpool, since the captures that people attach to tickets are
// small and compressed. A bigger one is refused: each jump would take as long as
// decompressing all before it, and a table of decompressor states (32 KiB each
// for gzip, up to 8 MiB for zstd) either grows with the file or leaves seconds
// between two states. Decompressing it once is faster, and Reason says how.
//
// Refused as well are standard input and pipes, and the parts of several files
// in which packets of one lie between those of another.
type Indexed struct {
	files *Files
	paths []string      // of the inputs
	stats []os.FileInfo // of the inputs when they were opened

	track []tracked // the reading side's own

	mu      sync.Mutex // guards what follows
	windows []window
	step    int64 // length that a window grows to
	count   int64
	most    int64 // greatest time so far
	ended   bool
	reason  string
	runs    int // in all windows
	spool   *spool

	cacheMu sync.Mutex
	cached  chunk
}

const (
	maxWindows = 1 << 14
	maxRuns    = 1 << 18
	maxSpool   = 64 << 20
)

// window is a range of a file, and the packets in it.
type window struct {
	first, count int64 // number of its first packet; how many
	off, size    int64
	most         int64 // greatest time of all packets up to its end
	input        int
	state        *walkState
	skip         skipping
	runs         []ifaceRun // nil: the state knows the interfaces
}

// tracked is what is known of an input between two blocks.
type tracked struct {
	begun  bool
	pos    int64 // where its next record begins
	done   int64 // records delivered
	state  *walkState
	sec    *section
	skip   skipping
	broken bool // pos is not known
}

// OpenIndexed opens captures as Open does. It reads nothing yet: packets become
// known as the source is read, by whom ever, or by ReadAll.
func OpenIndexed(paths []string, opt Options) (*Indexed, error) {
	files, err := Open(paths, opt)
	if err != nil {
		return nil, err
	}
	x := &Indexed{files: files, paths: slices.Clone(paths), track: make([]tracked, len(files.inputs)), stats: make([]os.FileInfo, len(files.inputs)), most: math.MinInt64}
	for i, in := range files.inputs {
		st, err := os.Stat(in.info.Path)
		if in.info.Path == Stdin || err != nil || !st.Mode().IsRegular() {
			x.reason = displayName(in.info.Path) + " can be read only once: save it to a file to look at single packets"
			return x, nil
		}
		x.stats[i] = st
	}
	if len(files.inputs) == 1 {
		if in := files.inputs[0]; in.info.Compression != "" {
			x.spool = newSpool(in)
		}
		return x, nil
	}
	for _, in := range files.inputs {
		if in.info.Compression != "" {
			x.reason = refuseCompressed(in.info, "several files at once are read as they are")
		}
	}
	return x, nil
}

func refuseCompressed(in Input, why string) string {
	tool := map[string]string{"gzip": "gzip -dk ", "zstd": "zstd -d "}[in.Compression]
	return fmt.Sprintf("%s: %s can be read from its start alone, and %s: decompress it to look at single packets: %s%s",
		in.Path, in.Compression, why, tool, shellName(in.Path))
}

// ReadBlock reads the next block, as Files does, and notes where it lies.
func (x *Indexed) ReadBlock(buf []byte, recs []Record) ([]byte, []Record, error) {
	buf, recs, err := x.files.ReadBlock(buf, recs)
	x.mu.Lock()
	defer x.mu.Unlock()
	if err != nil {
		x.ended = x.ended || err == io.EOF
		return buf, recs, err
	}
	for i := range recs {
		if r := &recs[i]; r.Flags&FlagNoTime == 0 && r.Time > x.most {
			x.most = r.Time
		}
	}
	if x.reason == "" {
		x.note(recs)
	}
	x.count += int64(len(recs))
	return buf, recs, nil
}

// ReadAll reads the source to its end, or until stop says so.
func (x *Indexed) ReadAll(stop func() bool) error {
	var buf []byte
	var recs []Record
	for stop == nil || !stop() {
		var err error
		if buf, recs, err = x.ReadBlock(buf[:0], recs[:0]); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return err
		}
	}
	return nil
}

// Interfaces, Inputs, Progress and Close are those of Files.
func (x *Indexed) Interfaces() []Interface { return x.files.Interfaces() }

// Inputs is Files.Inputs.
func (x *Indexed) Inputs() []Input { return x.files.Inputs() }

// Progress is Files.Progress.
func (x *Indexed) Progress() (read, total int64) { return x.files.Progress() }

// Close closes the source. Packets can be read still.
func (x *Indexed) Close() error { return x.files.Close() }

// Count returns how many packets are known so far.
func (x *Indexed) Count() int64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.count
}

// Complete tells whether the source was read to its end.
func (x *Indexed) Complete() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.ended
}

// Reason says in one line why packets can't be read again, "" when they can.
func (x *Indexed) Reason() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.reason
}

// NotIndexedError says why a packet can't be read again.
type NotIndexedError struct{ Reason string }

func (e *NotIndexedError) Error() string { return e.Reason }

// find returns the window of packet n.
func (x *Indexed) find(n int64) (window, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.reason != "" {
		return window{}, &NotIndexedError{x.reason}
	}
	if n < 1 || n > x.count {
		return window{}, fmt.Errorf("no packet %s: there are %s", comma(n), comma(x.count))
	}
	i, found := slices.BinarySearchFunc(x.windows, n, func(w window, n int64) int {
		switch {
		case w.first+w.count <= n:
			return -1
		case w.first > n:
			return 1
		}
		return 0
	})
	if !found {
		return window{}, &NotIndexedError{fmt.Sprintf("packet %s lies where the files overlap in time: merge them first: mergecap -w all.pcapng FILE…", comma(n))}
	}
	return x.windows[i], nil
}

// FindTime returns the number of the first packet whose time is t or later; ok
// is false when none of those known is.
func (x *Indexed) FindTime(t int64) (n int64, ok bool, err error) {
	x.mu.Lock()
	if x.reason != "" {
		defer x.mu.Unlock()
		return 0, false, &NotIndexedError{x.reason}
	}
	if x.count == 0 || x.most < t {
		defer x.mu.Unlock()
		return 0, false, nil
	}
	i, _ := slices.BinarySearchFunc(x.windows, t, func(w window, t int64) int {
		if w.most < t {
			return -1
		}
		return 1
	})
	var w window
	if i < len(x.windows) {
		w = x.windows[i]
	}
	x.mu.Unlock()
	n, err = -1, nil
	if w.count > 0 {
		err = x.replay(&w, &chunk{}, func(c *chunk) bool {
			for i := range c.recs {
				if r := &c.recs[i]; r.Flags&FlagNoTime == 0 && r.Time >= t {
					n = c.first + int64(i)
					return false
				}
			}
			return true
		})
	}
	if err == nil && n < 0 {
		err = &NotIndexedError{"that time lies where the files overlap: merge them first: mergecap -w all.pcapng FILE…"}
	}
	return n, err == nil, err
}
