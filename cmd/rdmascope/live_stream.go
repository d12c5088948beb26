package main

import (
	"io"
	"sync/atomic"
	"time"

	"rdmascope/analysis"
	"rdmascope/pcaps"
)

// streamIdle is after how long without packets a stream says that time passed,
// as a capture on an interface does.
const streamIdle = 100 * time.Millisecond

// stream is captures from elsewhere, such as tcpdump's output, as a capture. A
// read of a pipe waits for as long as nothing comes, so it is done by a
// goroutine of its own: snapshots, metrics and windows go on in a lull.
type stream struct {
	files   *pcaps.Files
	in      *stoppable
	stopped atomic.Bool
	blocks  chan streamBlock
	used    chan streamBlock // to be read into again
	quit    chan struct{}
	ended   bool
	faces   []analysis.Interface // as of the last block delivered
	inputs  []analysis.InputInfo
}

// streamBlock is what one read brought, and what the files told after it.
type streamBlock struct {
	buf    []byte
	recs   []analysis.Record
	err    error
	faces  []analysis.Interface
	inputs []analysis.InputInfo
}

// openStream opens what -r names.
func (a *app) openStream(f *inputFlags) (capture, error) {
	in := newStoppable(a.stdin)
	files, err := pcaps.Open(f.read, pcaps.Options{Stdin: in})
	if err != nil {
		return nil, err
	}
	s := &stream{files: files, in: in, blocks: make(chan streamBlock), used: make(chan streamBlock, 2), quit: make(chan struct{}),
		faces: files.Interfaces(), inputs: files.Inputs()}
	s.used <- streamBlock{}
	s.used <- streamBlock{}
	go s.read()
	return s, nil
}

// read reads ahead until the end, or until nobody wants any more.
func (s *stream) read() {
	defer s.files.Close()
	for {
		var b streamBlock
		select {
		case b = <-s.used:
		case <-s.quit:
			return
		}
		b.buf, b.recs, b.err = s.files.ReadBlock(b.buf[:0], b.recs[:0])
		b.faces, b.inputs = s.files.Interfaces(), s.files.Inputs()
		select {
		case s.blocks <- b:
		case <-s.quit:
			return
		}
		if b.err != nil {
			return
		}
	}
}

// ReadBlock delivers what has come; nothing, and no error, when nothing came
// for a while.
func (s *stream) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	if s.ended || s.stopped.Load() {
		return buf[:0], recs[:0], io.EOF
	}
	t := time.NewTimer(streamIdle)
	defer t.Stop()
	select {
	case b := <-s.blocks:
		s.faces, s.inputs, s.ended = b.faces, b.inputs, b.err != nil
		s.used <- streamBlock{buf: buf, recs: recs}
		return b.buf, b.recs, b.err
	case <-t.C:
		return buf[:0], recs[:0], nil
	}
}

// Interfaces are those of the packets delivered.
func (s *stream) Interfaces() []analysis.Interface { return s.faces }

// Inputs tells how far each was delivered.
func (s *stream) Inputs() []analysis.InputInfo { return s.inputs }

// Stop ends the stream, also while a read waits for more of it.
func (s *stream) Stop() {
	s.stopped.Store(true)
	_ = s.in.pipe.Close()
}

// Close lets the reader go.
func (s *stream) Close() error {
	if !s.stopped.Load() {
		s.Stop()
	}
	close(s.quit)
	return nil
}
