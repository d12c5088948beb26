package pcaps

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"sync/atomic"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// maxZstdWindow is the memory that a zstd stream may ask for: what the zstd
// command itself grants without --long.
const maxZstdWindow = 128 << 20

// input reads one file or stream.
type input struct {
	index int
	stdin io.Reader

	mu   sync.Mutex
	info Input

	file  *os.File     // nil for stdin
	bytes atomic.Int64 // read from the file, before decompression
	src   io.Reader    // decompressed
	zstd  *zstd.Decoder
	walk  walker
	carry []byte // the start of the record that the last block ended in
	live  bool   // deliver what has arrived: the writer may be slow
	ended bool
}

// counted counts the bytes of the file itself.
type counted struct {
	src io.Reader
	n   *atomic.Int64
}

func (c counted) Read(p []byte) (int, error) {
	n, err := c.src.Read(p)
	c.n.Add(int64(n))
	return n, err
}

// open opens the input, or opens it anew, and recognises what it is.
func (in *input) open(tab *ifaceTable) error {
	in.bytes.Store(0)
	in.ended, in.carry = false, in.carry[:0]
	raw, size, err := in.openRaw()
	if err != nil {
		return unreadableSystem(in.info.Path, err)
	}
	h := &head{src: counted{raw, &in.bytes}}
	compression := compressionOf(h)
	if compression != "" {
		if h, err = in.decompress(compression, h); err != nil {
			in.close()
			if errors.Is(err, io.ErrUnexpectedEOF) || err == io.EOF {
				return unreadable(in.info.Path, "cut short in the "+compression+" header")
			}
			return unreadableHead(in.info.Path, err)
		}
		if inner := compressionOf(h); inner != "" {
			in.close()
			return unreadable(in.info.Path, inner+" inside "+compression+": decompress it first")
		}
	}
	w, format, err := formatOf(h, in.info.Path, in.index, tab)
	if err != nil {
		in.close()
		return err
	}
	in.walk, in.src = w, h.tail()
	in.carry = append(in.carry, h.buf...)
	in.mu.Lock()
	in.info = Input{Path: in.info.Path, Format: format, Compression: compression, SizeBytes: size}
	in.mu.Unlock()
	return nil
}

// onlyOnce says whether the input is a stream, which cannot be read again.
func (in *input) onlyOnce() bool {
	if in.info.Path == Stdin {
		return true
	}
	st, err := os.Stat(in.info.Path)
	return err == nil && !st.Mode().IsRegular() && !st.IsDir()
}

// fail ends an input that can no longer be opened.
func (in *input) fail(err error) {
	reason := err.Error()
	var ue *UnreadableError
	if errors.As(err, &ue) {
		reason = ue.Reason
	}
	in.mu.Lock()
	in.info.Error = reason
	in.mu.Unlock()
	in.ended = true
}

func (in *input) openRaw() (io.Reader, int64, error) {
	if in.info.Path == Stdin {
		in.live = true
		if f, ok := in.stdin.(*os.File); ok {
			if st, err := f.Stat(); err == nil && st.Mode().IsRegular() {
				in.live = false
			}
		}
		return in.stdin, -1, nil
	}
	f, err := os.Open(in.info.Path)
	if err != nil {
		return nil, 0, err
	}
	st, err := f.Stat()
	if err != nil {
		_ = f.Close()
		return nil, 0, err
	}
	in.file = f
	if !st.Mode().IsRegular() {
		in.live = true
		return f, -1, nil
	}
	return f, st.Size(), nil
}

func (in *input) decompress(compression string, h *head) (*head, error) {
	src := bufio.NewReaderSize(h.rest(), 128<<10)
	if compression == "gzip" {
		z, err := gzip.NewReader(src)
		if err != nil {
			return nil, err
		}
		return &head{src: z}, nil
	}
	z, err := zstd.NewReader(src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxZstdWindow))
	if err != nil {
		return nil, err
	}
	in.zstd = z
	return &head{src: z}, nil
}

// readBlock reads the next block, as Source.ReadBlock says.
func (in *input) readBlock(buf []byte, recs []Record) ([]byte, []Record, error) {
	if in.ended {
		return buf[:0], recs, io.EOF
	}
	if want := max(blockBytes, len(in.carry)+1); cap(buf) < want {
		buf = make([]byte, want)
	}
	buf = buf[:cap(buf)]
	n, at := copy(buf, in.carry), 0
	in.carry = in.carry[:0]
	for first := true; ; first = false {
		var rerr, werr error
		if !(first && in.live && n > 0) { // what the head held may be all there is for now
			n, rerr = in.fill(buf, n)
		}
		at, recs, werr = in.walk.walk(buf[:n], at, recs)
		switch {
		case werr != nil:
			in.end(werr.Error())
		case rerr != nil:
			in.end(in.ending(buf[at:n], rerr))
		case len(recs) > 0:
			in.carry = append(in.carry, buf[at:n]...)
		case at > 0: // blocks without packets
			n, at = copy(buf, buf[at:n]), 0
			continue
		case n == len(buf): // one record is longer; its length was believed
			grown := make([]byte, 2*len(buf))
			copy(grown, buf)
			buf = grown
			continue
		default:
			continue
		}
		break
	}
	in.mu.Lock()
	in.info.Packets += int64(len(recs))
	in.mu.Unlock()
	if len(recs) == 0 {
		return buf[:0], recs, io.EOF
	}
	return buf[:n], recs, nil
}

// fill reads until buf is full, or of a slow stream what is there.
func (in *input) fill(buf []byte, n int) (int, error) {
	for empty := 0; n < len(buf); {
		m, err := in.src.Read(buf[n:])
		n += m
		switch {
		case err != nil:
			return n, err
		case m > 0 && in.live:
			return n, nil
		case m > 0:
			empty = 0
		default:
			if empty++; empty == 100 {
				return n, io.ErrNoProgress
			}
		}
	}
	return n, nil
}

// ending says in one line what is wrong with the end of the input, "" for a
// good one.
func (in *input) ending(rest []byte, err error) string {
	cut := in.walk.cut(rest)
	switch {
	case err == io.EOF && !in.walk.partial(rest):
		return ""
	case err == io.EOF:
		return "cut short " + cut
	case isRead(err):
		return fmt.Sprintf("read error %s: %v", cut, errors.Unwrap(err))
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Sprintf("cut short %s: the %s stream ends early", cut, in.info.Compression)
	case in.info.Compression != "":
		return fmt.Sprintf("damaged %s: %s stream: %v", cut, in.info.Compression, err)
	}
	return fmt.Sprintf("read error %s: %v", cut, err)
}

func (in *input) end(problem string) {
	if err := in.walk.finish(); err != nil && problem == "" {
		problem = err.Error()
	}
	in.mu.Lock()
	in.info.Error, in.info.Complete = problem, problem == ""
	in.mu.Unlock()
	in.ended = true
	in.close()
}

func (in *input) close() {
	if in.zstd != nil {
		in.zstd.Close()
		in.zstd = nil
	}
	if in.file != nil {
		_ = in.file.Close() // only read from
		in.file = nil
	}
}

func (in *input) inputInfo() Input {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.info
}
