package main

import (
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"rdmascope/analysis"
	"rdmascope/pcaps"
)

// triggerOptions are the flags of the trigger.
type triggerOptions struct {
	severity  string
	pre, post time.Duration
	dir       string
	files     int
	memoryMiB int
}

func (o *triggerOptions) register(fl *pflag.FlagSet) {
	fl.StringVar(&o.severity, "trigger", "", "on a new finding of this `SEVERITY` or worse, write the packets around it to a file")
	fl.DurationVar(&o.pre, "pre", 5*time.Second, "how much before the finding a trigger writes")
	fl.DurationVar(&o.post, "post", 5*time.Second, "how much after it")
	fl.StringVar(&o.dir, "trigger-dir", ".", "`DIRECTORY` of the trigger's files")
	fl.IntVar(&o.files, "trigger-files", 20, "files that triggers write at most")
	fl.IntVar(&o.memoryMiB, "trigger-memory", 256, "`MiB` of packets held for a trigger; fewer seconds are written where they don't fit")
}

func (o *triggerOptions) check() error {
	switch {
	case !oneOf(o.severity, "notice", "warning", "critical"):
		return exitf(exitUsage, "--trigger %s: notice, warning or critical", o.severity)
	case o.pre < 0 || o.pre > time.Hour || o.post < 0 || o.post > time.Hour:
		return exitf(exitUsage, "--pre, --post: from 0 to 1h")
	case o.memoryMiB < 1:
		return exitf(exitUsage, "--trigger-memory %d: at least 1 MiB", o.memoryMiB)
	case o.files < 1:
		return exitf(exitUsage, "--trigger-files %d: at least 1", o.files)
	}
	if st, err := os.Stat(o.dir); err != nil || !st.IsDir() {
		return exitf(exitUsage, "--trigger-dir %s: no such directory", o.dir)
	}
	return nil
}

// triggerSlack is held beyond --pre: a finding is seen some time after its
// packets, at the next snapshot.
const triggerSlack = 3 * time.Second

// chunk is a copy of a block of packets.
type chunk struct {
	buf         []byte
	recs        []analysis.Record
	first, last int64 // their times
}

// shot is a trigger that went off.
type shot struct {
	finding analysis.Finding
	since   int64     // capture time from which packets are wanted
	until   int64     // capture time up to which they are
	cut     bool      // memory didn't suffice to hold them all
	timeout time.Time // when it ends though no packet comes
}

// trigger holds the newest packets, bounded in time and in memory, and writes
// those around a finding to a file. Reading goes on meanwhile.
type trigger struct {
	opt  triggerOptions
	say  func(string)
	rank int

	mu      sync.Mutex
	pending *analysis.Finding // seen, not yet taken up where packets are read
	busy    bool              // a file is being written
	written int
	writing sync.WaitGroup

	// Of where packets are read.
	held   []chunk // oldest first
	free   []chunk
	bytes  int64
	newest int64
	thrown int64 // time of the newest packet that had to go for want of memory
	firing *shot
}

func newTrigger(opt triggerOptions, say func(string)) (*trigger, error) {
	if err := opt.check(); err != nil {
		return nil, err
	}
	return &trigger{opt: opt, say: say, rank: analysis.Severity(opt.severity).Rank()}, nil
}

// look goes off on findings that weren't there before.
func (t *trigger) look(fresh []analysis.Finding) {
	for i := range fresh {
		if fresh[i].Severity.Rank() >= t.rank {
			t.mu.Lock()
			if t.pending == nil {
				t.pending = &fresh[i]
			}
			t.mu.Unlock()
			return // the worst comes first; the others are in the same file
		}
	}
}

func (t *trigger) block(buf []byte, recs []analysis.Record, faces []analysis.Interface) {
	if len(recs) > 0 {
		t.hold(buf, recs)
	}
	t.takeUp()
	if t.firing != nil && (t.newest >= t.firing.until || time.Now().After(t.firing.timeout)) {
		t.shoot(faces)
	}
	t.forget()
}

// hold copies the frames of a block: between them lies what is the source's.
func (t *trigger) hold(buf []byte, recs []analysis.Record) {
	var c chunk
	if n := len(t.free); n > 0 {
		c, t.free = t.free[n-1], t.free[:n-1]
	}
	c.buf, c.recs = c.buf[:0], append(c.recs[:0], recs...)
	for i := range c.recs {
		r := &c.recs[i]
		frame := buf[r.Off : r.Off+r.Cap]
		r.Off = uint32(len(c.buf))
		c.buf = append(c.buf, frame...)
	}
	c.first, c.last = recs[0].Time, recs[len(recs)-1].Time
	t.bytes += c.size()
	t.newest = max(t.newest, c.last)
	t.held = append(t.held, c)
}

// size is what a chunk takes of the memory; recordBytes is that of a Record.
func (c *chunk) size() int64 { return int64(len(c.buf)) + recordBytes*int64(len(c.recs)) }

const recordBytes = 40

// takeUp begins a shot for the finding that is pending.
func (t *trigger) takeUp() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.pending == nil || t.firing != nil {
		return
	}
	f := *t.pending
	t.pending = nil
	since := t.newest
	if first := int64(f.FirstTime); first > 0 {
		since = min(since, first)
	}
	t.firing = &shot{finding: f, since: since - int64(t.opt.pre), until: t.newest + int64(t.opt.post),
		timeout: time.Now().Add(t.opt.post + time.Second)}
}

// forget drops what is too old or too much. While a shot waits for its end,
// only memory counts.
func (t *trigger) forget() {
	old := t.newest - int64(t.opt.pre+triggerSlack)
	for len(t.held) > 1 {
		tooMuch := t.bytes > int64(t.opt.memoryMiB)<<20
		if !tooMuch && (t.firing != nil || t.held[0].last >= old) {
			return
		}
		if tooMuch {
			t.thrown = t.held[0].last
		}
		t.bytes -= t.held[0].size()
		if len(t.free) < 4 {
			t.free = append(t.free, t.held[0])
		}
		t.held[0] = chunk{}
		t.held = t.held[1:]
	}
}

// shoot hands what is held to a writer of its own.
func (t *trigger) shoot(faces []analysis.Interface) {
	s := t.firing
	t.firing = nil
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.busy:
		t.say(fmt.Sprintf("--trigger: %s: the file before is still being written; this one is left out", s.finding.Rule))
		return
	case t.written >= t.opt.files:
		return
	}
	s.cut = t.thrown >= s.since
	t.busy = true
	t.written++
	last := t.written == t.opt.files
	held := t.held
	t.held, t.bytes = nil, 0
	t.writing.Go(func() {
		text := t.writeFile(s, held, faces)
		t.mu.Lock()
		t.busy = false
		t.mu.Unlock()
		t.say(text)
		if last {
			t.say(fmt.Sprintf("--trigger: %d files written: no more (--trigger-files)", t.opt.files))
		}
	})
}

// writeFile writes the packets of a shot and says what became of them.
func (t *trigger) writeFile(s *shot, held []chunk, faces []analysis.Interface) string {
	at := time.Unix(0, s.until-int64(t.opt.post)).UTC()
	path := filepath.Join(t.opt.dir, fmt.Sprintf("rdmascope-%s-%s.pcapng", at.Format("20060102T150405.000"), s.finding.Rule))
	packets, first, err := s.write(path, held, faces)
	if err != nil {
		return fmt.Sprintf("--trigger: %s: %s", path, systemReason(err))
	}
	text := fmt.Sprintf("--trigger: %s: %d packets written to %s", s.finding.Rule, packets, path)
	if s.cut && packets > 0 {
		text += fmt.Sprintf(" (from %s on: --trigger-memory holds no more)", time.Unix(0, first).UTC().Format("15:04:05.000"))
	}
	return text
}

// write writes a file, which has its name only when it is complete. Packets
// hold what users sent: nobody else may read them.
func (s *shot) write(path string, held []chunk, faces []analysis.Interface) (packets, first int64, err error) {
	part := path + ".part"
	f, err := os.OpenFile(part, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, 0, err
	}
	packets, first, err = s.packets(f, held, faces)
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(part, path)
	}
	if err != nil {
		_ = os.Remove(part)
	}
	return packets, first, err
}

// packets writes those of its time, the first with a comment that says why.
func (s *shot) packets(f *os.File, held []chunk, faces []analysis.Interface) (packets, first int64, err error) {
	w, err := pcaps.NewPcapngWriter(f, faces)
	if err != nil {
		return 0, 0, err
	}
	comment := fmt.Sprintf("%s (%s): %s", s.finding.Rule, s.finding.Severity, s.finding.Title)
	for i := range held {
		for _, rec := range held[i].recs {
			if rec.Time < s.since || rec.Time > s.until {
				continue
			}
			if err := w.Write(rec, held[i].buf[rec.Off:rec.Off+rec.Cap], comment); err != nil {
				return packets, first, err
			}
			if packets++; packets == 1 {
				first, comment = rec.Time, ""
			}
		}
	}
	for i := range faces {
		if err := w.Statistics(i, s.until, faces[i].Received, faces[i].Dropped); err != nil {
			return packets, first, err
		}
	}
	return packets, first, w.Flush()
}

// finish ends a shot that waits for its end, and waits until all is written.
func (t *trigger) finish(faces []analysis.Interface) {
	t.takeUp()
	if t.firing != nil {
		t.writing.Wait() // the file before
		t.shoot(faces)
	}
	t.writing.Wait()
}
