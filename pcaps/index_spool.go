package pcaps

import (
	"io"
	"sync"
)

// spool keeps what comes out of a decompressor, as long as it is little.
type spool struct {
	src  io.Reader
	read int64 // the reading side's own
	full bool  // too much came: nothing is kept

	mu   sync.Mutex
	kept []byte
	base int64 // offset of kept[0] in what the stream holds
}

// newSpool puts a spool behind an input that was just opened. What was read
// ahead of the first record is with the input already.
func newSpool(in *input) *spool {
	s := &spool{src: in.src}
	if in.info.Format == FormatPcap {
		s.base = pcapHeaderLen
	}
	s.kept = append(s.kept, in.carry...)
	s.read = s.base + int64(len(in.carry))
	in.src = s
	return s
}

// Read reads on, and keeps what it reads.
func (s *spool) Read(p []byte) (int, error) {
	n, err := s.src.Read(p)
	s.read += int64(n)
	if s.full {
		return n, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.kept)+n > maxSpool {
		s.full, s.kept = true, nil
		return n, err
	}
	s.kept = append(s.kept, p[:n]...)
	return n, err
}

// ReadAt reads what was kept.
func (s *spool) ReadAt(p []byte, off int64) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if off < s.base || off-s.base > int64(len(s.kept)) {
		return 0, io.EOF
	}
	n := copy(p, s.kept[off-s.base:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

func (s *spool) drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.full, s.kept = true, nil
}
