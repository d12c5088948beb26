//go:build !linux

package live

import "io"

// Source is what captures on Linux. Elsewhere there is none.
type Source struct{}

// Open returns ErrUnsupported.
func Open(Options) (*Source, error) { return nil, ErrUnsupported }

// ReadBlock returns io.EOF.
func (*Source) ReadBlock(buf []byte, recs []Record) ([]byte, []Record, error) {
	return buf[:0], recs[:0], io.EOF
}

// Release returns buf.
func (*Source) Release(buf []byte) []byte { return buf }

// Interfaces returns nothing.
func (*Source) Interfaces() []Interface { return nil }

// Inputs returns nothing.
func (*Source) Inputs() []Input { return nil }

// Stats returns nothing.
func (*Source) Stats() []Stats { return nil }

// Offloads returns nothing.
func (*Source) Offloads() []string { return nil }

// Stop does nothing.
func (*Source) Stop() {}

// Close does nothing.
func (*Source) Close() error { return nil }

// DropPrivileges does nothing.
func DropPrivileges(bool) error { return nil }
