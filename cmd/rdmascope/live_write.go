package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"rdmascope/analysis"
	"rdmascope/pcaps"
)

// ringWriter writes what is captured to a pcapng, or with -b to one after
// another, of which the newest are kept. A file is complete up to the last
// block whenever the program ends, however it ends. When writing fails, it is
// said once and the analysis goes on.
type ringWriter struct {
	path   string
	limits ringLimits
	say    func(string)

	out     *os.File
	w       *pcaps.Writer
	faces   []analysis.Interface // as the file describes them
	bytes   int64                // of the file so far, written or about to be
	good    int64                // of the file up to the last whole block
	packets int64
	opened  time.Time
	last    int64    // time of the newest packet
	kept    []string // the ring's files, oldest first
	n       int      // files begun
	failed  bool
}

// ringLimits are dumpcap's: 0 is without limit.
type ringLimits struct {
	ring    bool
	bytes   int64 // filesize, kB of 1000 octets
	after   time.Duration
	packets int64
	files   int
}

// parseRing reads -b.
func parseRing(list []string) (ringLimits, error) {
	l := ringLimits{ring: len(list) > 0}
	for _, s := range list {
		key, value, _ := strings.Cut(s, ":")
		n, err := strconv.ParseInt(value, 10, 64)
		if err != nil || n < 1 || n > 1e12 {
			return l, exitf(exitUsage, "-b %s: not a number from 1", s)
		}
		switch key {
		case "filesize":
			l.bytes = n * 1000
		case "duration":
			l.after = time.Duration(min(n, 1e9)) * time.Second
		case "packets":
			l.packets = n
		case "files":
			l.files = int(min(n, 1e6))
		default:
			return l, exitf(exitUsage, "-b %s: filesize, duration, packets or files", s)
		}
	}
	if l.ring && l.bytes == 0 && l.after == 0 && l.packets == 0 {
		return l, exitf(exitUsage, "-b files: says nothing about when to go on to the next file; add filesize, duration or packets")
	}
	return l, nil
}

func newRingWriter(path string, ring []string, say func(string)) (*ringWriter, error) {
	if path == "-" {
		return nil, exitf(exitUsage, "-w -: standard output is the report's; name a file")
	}
	limits, err := parseRing(ring)
	if err != nil {
		return nil, err
	}
	return &ringWriter{path: path, limits: limits, say: say}, nil
}

// name is the next file's, numbered and dated as dumpcap does it.
func (r *ringWriter) name(now time.Time) string {
	if !r.limits.ring {
		return r.path
	}
	ext := filepath.Ext(r.path)
	return fmt.Sprintf("%s_%05d_%s%s", strings.TrimSuffix(r.path, ext), r.n+1, now.Format("20060102150405"), ext)
}

// open begins the next file. Packets hold what users sent: nobody else may
// read them.
func (r *ringWriter) open(faces []analysis.Interface, now time.Time) error {
	name := r.name(now)
	var header bytes.Buffer
	to := &target{&header}
	w, err := pcaps.NewPcapngWriter(to, faces)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return err
	}
	out, err := r.create(name, header.Bytes())
	if err != nil {
		return err
	}
	to.Writer = out
	r.out, r.w, r.faces, r.opened, r.packets = out, w, faces, now, 0
	r.n++
	r.kept = append(r.kept, name)
	if r.limits.files > 0 && len(r.kept) > r.limits.files {
		_ = os.Remove(r.kept[0]) // somebody may have taken it away
		r.kept = r.kept[1:]
	}
	return r.settle()
}

// target is where a writer's octets go.
type target struct{ io.Writer }

// create makes a file that begins with a header. One of a ring takes its name
// only when the header is in it: an end at any moment leaves no file that
// isn't a capture.
func (r *ringWriter) create(name string, header []byte) (*os.File, error) {
	if !r.limits.ring { // its name may be that of a pipe or a device
		return begin(name, os.O_CREATE|os.O_TRUNC, header)
	}
	young := filepath.Join(filepath.Dir(r.path), "."+filepath.Base(r.path)+".new")
	_ = os.Remove(young) // left by an end at such a moment
	out, err := begin(young, os.O_CREATE|os.O_EXCL, header)
	if err == nil {
		err = out.Close() // not every system renames open files
	}
	if err == nil {
		err = os.Rename(young, name)
	}
	if err == nil {
		out, err = begin(name, os.O_APPEND, nil)
	}
	if err != nil {
		_ = os.Remove(young)
	}
	return out, err
}

// begin opens a file and writes to it.
func begin(name string, flags int, header []byte) (*os.File, error) {
	out, err := os.OpenFile(name, flags|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	if _, err := out.Write(header); err != nil {
		_ = out.Close()
		return nil, err
	}
	return out, nil
}

// settle notes that all up to here is whole. A pipe has no place to return to:
// whoever reads it has what was written.
func (r *ringWriter) settle() error {
	end, err := r.out.Seek(0, io.SeekEnd)
	if errors.Is(err, syscall.ESPIPE) {
		return nil
	}
	r.good, r.bytes = end, end
	return err
}

// packetOverhead is what a packet takes in a pcapng beside its octets: the
// block's header and the flags.
const packetOverhead = 32 + 12

func (r *ringWriter) block(buf []byte, recs []analysis.Record, faces []analysis.Interface) {
	if r.failed {
		return
	}
	if err := r.write(buf, recs, faces); err != nil {
		r.fail(err)
	}
}

func (r *ringWriter) write(buf []byte, recs []analysis.Record, faces []analysis.Interface) error {
	for i := range recs {
		if r.full() {
			if err := r.next(faces); err != nil {
				return err
			}
		}
		rec := &recs[i]
		if err := r.w.Write(*rec, buf[rec.Off:rec.Off+rec.Cap], ""); err != nil {
			return err
		}
		r.bytes += packetOverhead + int64(rec.Cap)
		r.packets++
		r.last = rec.Time
	}
	if len(recs) == 0 {
		return nil
	}
	if err := r.w.Flush(); err != nil {
		return err
	}
	return r.settle()
}

func (r *ringWriter) full() bool {
	l := &r.limits
	return l.ring && r.packets > 0 &&
		(l.bytes > 0 && r.bytes >= l.bytes || l.packets > 0 && r.packets >= l.packets || l.after > 0 && time.Since(r.opened) >= l.after)
}

func (r *ringWriter) next(faces []analysis.Interface) error {
	if err := r.end(faces); err != nil {
		return err
	}
	return r.open(faces, time.Now())
}

// end completes the file with what the kernel counted.
func (r *ringWriter) end(faces []analysis.Interface) error {
	for i := range min(len(faces), len(r.faces)) {
		if err := r.w.Statistics(i, r.last, faces[i].Received, faces[i].Dropped); err != nil {
			return err
		}
	}
	err := r.w.Flush()
	if e := r.out.Close(); err == nil {
		err = e
	}
	return err
}

// fail says why no more is written, and cuts the file after its last whole
// block, so that all that is in it can be read.
func (r *ringWriter) fail(err error) {
	r.failed = true
	name := r.path
	if r.out != nil {
		name = r.out.Name()
		_ = r.out.Truncate(r.good)
		_ = r.out.Close()
	}
	r.say(fmt.Sprintf("-w: %s: %s: nothing more is written, the analysis goes on", name, systemReason(err)))
}

// systemReason is what the system said, without path and system call.
func systemReason(err error) string {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		return errno.Error()
	}
	return err.Error()
}

func (r *ringWriter) finish(faces []analysis.Interface) {
	if r.failed {
		return
	}
	if err := r.end(faces); err != nil {
		r.fail(err)
	}
}
