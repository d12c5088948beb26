package main

import (
	"io"
	"sync/atomic"
	"time"

	"rdmascope/analysis"
)

// sink gets every block that is analysed, before it is. It runs where packets
// are read: what it does must be quick, and must not keep the block, which may
// be the kernel's again soon.
type sink interface {
	block(buf []byte, recs []analysis.Record, faces []analysis.Interface)
	finish(faces []analysis.Interface) // after the last one
}

// liveTee is the Source of a live analysis: the capture, with an end after so
// many packets, and others who want to see them.
type liveTee struct {
	src   capture
	sinks []sink
	left  int64        // packets until the end, -1 without one
	beat  atomic.Int64 // Unix ns at which a read last came back: life sign
	last  atomic.Int64 // Unix ns at which one last brought packets
}

// ReadBlock reads on.
func (t *liveTee) ReadBlock(buf []byte, recs []analysis.Record) ([]byte, []analysis.Record, error) {
	buf, recs, err := t.src.ReadBlock(buf, recs)
	now := time.Now().UnixNano()
	t.beat.Store(now)
	if err != nil {
		return buf, recs, err
	}
	if len(recs) > 0 {
		t.last.Store(now)
	}
	if t.left >= 0 {
		// The capture is read to its end all the same, for its last counts.
		recs = recs[:min(int64(len(recs)), t.left)]
		if t.left -= int64(len(recs)); t.left == 0 {
			t.src.Stop()
		}
	}
	if len(t.sinks) > 0 {
		faces := t.src.Interfaces()
		for _, s := range t.sinks {
			s.block(buf, recs, faces)
		}
	}
	return buf, recs, nil
}

// Release gives a block's bytes back to the capture.
func (t *liveTee) Release(buf []byte) []byte { return analysis.Release(t.src, buf) }

// finish ends the sinks.
func (t *liveTee) finish() {
	for _, s := range t.sinks {
		s.finish(t.src.Interfaces())
	}
}

// Interfaces are the capture's.
func (t *liveTee) Interfaces() []analysis.Interface { return t.src.Interfaces() }

// Inputs are the capture's.
func (t *liveTee) Inputs() []analysis.InputInfo { return t.src.Inputs() }

// stoppable is a stream that can be ended while a read of it waits.
type stoppable struct {
	pipe *io.PipeReader
}

func newStoppable(r io.Reader) *stoppable {
	pr, pw := io.Pipe()
	go func() {
		_, err := io.Copy(pw, r)
		_ = pw.CloseWithError(err) // nil is the end
	}()
	return &stoppable{pr}
}

// Read reads the stream.
func (s *stoppable) Read(b []byte) (int, error) {
	n, err := s.pipe.Read(b)
	if err == io.ErrClosedPipe {
		err = io.EOF
	}
	return n, err
}
