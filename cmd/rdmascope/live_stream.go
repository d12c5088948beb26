package main

import (
	"io"
	"sync/atomic"

	"rdmascope/analysis"
	"rdmascope/pcaps"
)

// stream is captures from elsewhere, such as tcpdump's output, as a capture.
type stream struct {
	*pcaps.Files
	in      *stoppable
	stopped atomic.Bool
}

// openStream opens what -r names.
func (a *app) openStream(f *inputFlags) (capture, error) {
	in := newStoppable(a.stdin)
	files, err := pcaps.Open(f.read, pcaps.Options{Stdin: in})
	if err != nil {
		return nil, err
	}
	return &stream{Files: files, in: in}, nil
}

// ReadBlock reads on.
func (s *stream) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	if s.stopped.Load() {
		return buf[:0], recs[:0], io.EOF
	}
	return s.Files.ReadBlock(buf, recs)
}

// Stop ends the stream, also while a read waits for more of it.
func (s *stream) Stop() {
	s.stopped.Store(true)
	_ = s.in.pipe.Close()
}
