package pcaps

import (
	"io"
	"os"
)

// Options are what Open may be told.
type Options struct {
	Stdin io.Reader // read for the path "-"; nil: os.Stdin
}

// Files is a Source over capture files and streams.
type Files struct {
	inputs []*input
	tab    ifaceTable
	merge  merger // of several inputs
}

// Open opens captures and recognises each by its content. Several are merged
// by time. Where one of them holds nothing that can be analysed, the error is
// an *UnreadableError.
func Open(paths []string, opt Options) (*Files, error) {
	if opt.Stdin == nil {
		opt.Stdin = os.Stdin
	}
	f := &Files{}
	stdin := false
	for i, path := range paths {
		in := &input{index: i, stdin: opt.Stdin, info: Input{Path: path, SizeBytes: -1}}
		if path == Stdin {
			if stdin {
				return nil, f.abandon(unreadable(path, "named twice"))
			}
			stdin = true
		}
		f.inputs = append(f.inputs, in)
	}
	if len(f.inputs) == 1 {
		if err := f.inputs[0].open(&f.tab); err != nil {
			return nil, f.abandon(err)
		}
		return f, nil
	}
	if err := f.merge.start(f.inputs, &f.tab); err != nil {
		return nil, f.abandon(err)
	}
	return f, nil
}

func (f *Files) abandon(err error) error {
	_ = f.Close()
	return err
}

// ReadBlock reads the next block, using buf and recs where they are big
// enough. Both results belong to the caller until handed in again. It returns
// io.EOF at the end, also where an input was cut short: Inputs tells that.
func (f *Files) ReadBlock(buf []byte, recs []Record) ([]byte, []Record, error) {
	if len(f.inputs) == 1 {
		return f.inputs[0].readBlock(buf, recs[:0])
	}
	return f.merge.readBlock(buf, recs[:0])
}

// Interfaces returns what is known so far of where records came from.
func (f *Files) Interfaces() []Interface { return f.tab.all() }

// Inputs returns the state of each input, in the order of Open's paths.
func (f *Files) Inputs() []Input {
	all := make([]Input, len(f.inputs))
	for i, in := range f.inputs {
		all[i] = in.inputInfo()
	}
	return all
}

// Progress returns the bytes read of the files as they are on disk, and the
// bytes that there are, -1 where an input's size is not known. It may be
// called while another goroutine reads.
func (f *Files) Progress() (read, total int64) {
	for _, in := range f.inputs {
		read += in.bytes.Load()
		size := in.inputInfo().SizeBytes
		if size < 0 || total < 0 {
			total = -1
			continue
		}
		total += size
	}
	return read, total
}

// Close closes what is still open. No ReadBlock may be under way.
func (f *Files) Close() error {
	for _, in := range f.inputs {
		in.ended = true
		in.close()
	}
	return nil
}
