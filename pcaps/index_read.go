package pcaps

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// chunk is a part of a window that was read again.
type chunk struct {
	first int64 // number of its first packet
	buf   []byte
	recs  []Record
}

func (c *chunk) has(n int64) bool { return n >= c.first && n < c.first+int64(len(c.recs)) }

// Packet reads packet n again, counted from 1. The frame is a copy of its own,
// and the record's Off is 0. Neighbours come from the part of the file that was
// read last.
func (x *Indexed) Packet(n int64) (Record, []byte, error) {
	x.cacheMu.Lock()
	defer x.cacheMu.Unlock()
	if !x.cached.has(n) {
		w, err := x.find(n)
		if err != nil {
			return Record{}, nil, err
		}
		err = x.replay(&w, &x.cached, func(c *chunk) bool { return !c.has(n) })
		if err == nil && !x.cached.has(n) {
			err = x.changed(w.input)
		}
		if err != nil {
			x.cached.recs = x.cached.recs[:0]
			return Record{}, nil, err
		}
	}
	r := x.cached.recs[n-x.cached.first]
	frame := append([]byte(nil), x.cached.buf[r.Off:r.Off+r.Cap]...)
	r.Off = 0
	return r, frame, nil
}

func (x *Indexed) changed(input int) error {
	return fmt.Errorf("%s: changed since it was read", x.paths[input])
}

// replay walks through a window again and hands over its packets, chunk by
// chunk, until f returns false; c then holds the last chunk. What c held before
// is room to use.
func (x *Indexed) replay(w *window, c *chunk, f func(*chunk) bool) error {
	c.first, c.recs = w.first, c.recs[:0]
	src, done, err := x.reader(w)
	if err != nil {
		return err
	}
	defer done()
	walk := w.state.walker(w.skip, x.files.Interfaces())
	if len(c.buf) == 0 || len(c.buf) > 2*blockBytes {
		c.buf = make([]byte, blockBytes)
	}
	run, n, pos, found := 0, 0, int64(0), int64(0)
	for {
		m, err := src.ReadAt(c.buf[n:min(int64(len(c.buf)), int64(n)+w.size-pos)], w.off+pos)
		if err != nil && !errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w", x.paths[w.input], err)
		}
		n, pos = n+m, pos+int64(m)
		at, recs, werr := walk.walk(c.buf[:n], 0, c.recs[:0])
		if most := w.count - found; int64(len(recs)) > most {
			recs = recs[:most]
		}
		c.recs = recs
		run = w.number(recs, found, run)
		if len(recs) > 0 && !f(c) {
			return nil
		}
		found += int64(len(recs))
		c.first += int64(len(recs))
		switch {
		case found == w.count:
			return nil
		case werr != nil || pos >= w.size || m == 0:
			return x.changed(w.input)
		case at == 0 && n == len(c.buf): // one record is longer
			if n > 2*maxBlock {
				return x.changed(w.input)
			}
			c.buf = append(c.buf, make([]byte, n)...)
		default:
			n = copy(c.buf, c.buf[at:n])
		}
	}
}

// number gives the records of a window, from the found-th on, the interfaces
// that they had.
func (w *window) number(recs []Record, found int64, run int) int {
	if w.runs == nil {
		return run
	}
	for i := range recs {
		for run < len(w.runs)-1 && found+int64(i) >= w.runs[run].end {
			run++
		}
		recs[i].Iface = w.runs[run].iface
	}
	return run
}

// reader opens what a window lies in.
func (x *Indexed) reader(w *window) (io.ReaderAt, func(), error) {
	if x.spool != nil {
		return x.spool, func() {}, nil
	}
	f, err := os.Open(x.paths[w.input])
	if err != nil {
		return nil, nil, err
	}
	st, err := f.Stat()
	if err != nil || !os.SameFile(st, x.stats[w.input]) || st.Size() < w.off+w.size {
		_ = f.Close()
		if err == nil {
			err = x.changed(w.input)
		}
		return nil, nil, err
	}
	return f, func() { _ = f.Close() }, nil
}
