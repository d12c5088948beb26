package live

import (
	"fmt"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// blockBytes is about how much a block holds: as much as one of a file,
	// which stays in a core's cache.
	blockBytes = 512 << 10

	// maxRecords bounds the records of a block of short frames.
	maxRecords = 8192

	idle = 100 * time.Millisecond // after which a lull is told

	// outPause is after how long it is looked anew whether a ring has a block
	// whose newest one is out.
	outPause = time.Millisecond

	statsEvery = 200 * time.Millisecond
	stateEvery = 500 * time.Millisecond

	// lag is how long a block waits for older packets of other rings: twice
	// the time after which the kernel hands over theirs, and some more for a
	// kernel that is busy.
	lag = 3 * retireMS * time.Millisecond

	// drainAfter is for how long after the last packet was taken blocks may
	// still come.
	drainAfter = lag + 40*time.Millisecond
)

// Source captures from interfaces. ReadBlock, Interfaces and Inputs are for
// one goroutine at a time; Stop and Stats are for any.
type Source struct {
	opt      Options
	ports    []*port
	rings    []*ring
	start    time.Time
	baseline map[int]int64 // rx_missed_errors at the start, by interface index

	wake     int // eventfd that ends a wait
	stopping atomic.Bool
	drained  int64 // monotonic time at which the last blocks have come; 0: not stopping
	lastStat int64
	lastLook int64
	ended    bool
	spare    [][]byte // to copy into

	mu     sync.Mutex // guards what follows
	stats  []Stats
	counts []int64 // records delivered, by interface
	closed bool
}

// Open starts a capture. Its errors are *StartError.
func Open(opt Options) (*Source, error) {
	if len(opt.Interfaces) == 0 {
		return nil, &StartError{Reason: "no interface named"}
	}
	if opt.BufferBytes <= 0 {
		opt.BufferBytes = DefaultBuffer
	}
	if opt.Notice == nil {
		opt.Notice = func(string) {}
	}
	opt.Rings, opt.Held = max(1, opt.Rings), max(0, opt.Held)
	s := &Source{opt: opt, start: time.Now(), wake: -1}
	var err error
	if s.wake, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err != nil {
		return nil, &StartError{Reason: err.Error(), Err: err}
	}
	for i, name := range opt.Interfaces {
		if slices.Contains(opt.Interfaces[:i], name) {
			err = &StartError{Interface: name, Reason: "named twice"}
		} else {
			err = s.add(uint16(i), name)
		}
		if err != nil {
			_ = s.Close()
			return nil, startError(name, err)
		}
	}
	s.baseline = nicDrops()
	s.counts = make([]int64, len(s.ports))
	for _, p := range s.ports {
		st := Stats{Name: p.name, Up: true, NICDropped: -1}
		if s.baseline != nil {
			st.NICDropped = 0
		}
		s.stats = append(s.stats, st)
	}
	// Bound only now: no ring fills while the others are made.
	for _, r := range s.rings {
		p := s.ports[r.iface]
		if err := s.begin(r, p); err != nil {
			_ = s.Close()
			return nil, startError(p.name, err)
		}
	}
	return s, nil
}

// add makes the rings of one interface.
func (s *Source) add(i uint16, name string) error {
	if name == "any" {
		return &StartError{Interface: name, Reason: "connections and pauses belong to one interface: name each with its own -i"}
	}
	for k := range s.opt.Rings {
		r, err := newRing(s.opt.BufferBytes, s.opt.Held, s.opt.Filter, s.opt.SnapLen)
		if err != nil {
			return err
		}
		s.rings = append(s.rings, r)
		if k == 0 {
			p, err := lookUp(r.fd, name)
			if err != nil {
				return err
			}
			p.speedBps = p.speed(r.fd)
			s.ports = append(s.ports, p)
		}
		p := s.ports[i]
		r.iface, r.link, r.loopback = i, p.link, p.loopback
	}
	return nil
}

// begin binds a ring to its interface.
func (s *Source) begin(r *ring, p *port) error {
	if p.link != linkEthernet && s.opt.Filter.preset() {
		// The presets read Ethernet headers, which there are none.
		if err := r.attach(takeAll(s.opt.SnapLen)); err != nil {
			return err
		}
	}
	if s.opt.HardwareTime {
		if err := p.hardwareTime(r); err != nil {
			s.opt.Notice(fmt.Sprintf("%s: no time stamps of the network card (%v): those of the kernel are used", p.name, err))
		} else {
			r.hardware = true
		}
	}
	if !s.opt.NotPromiscuous && !p.loopback && p.link == linkEthernet {
		if err := r.promiscuous(p.index); err != nil {
			return err
		}
	}
	if err := r.bind(p.index); err != nil {
		return err
	}
	if s.opt.Rings > 1 {
		return p.fanout(r)
	}
	return nil
}

// fanout joins a ring to those of its interface, which share its packets by the
// CPU that received them. The kernel finds a number for the group that nobody
// else uses, in this process or another one.
func (p *port) fanout(r *ring) error {
	const kind = unix.PACKET_FANOUT_CPU
	if p.group >= 0 {
		return unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_FANOUT, p.group|kind<<16)
	}
	if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_FANOUT, (kind|unix.PACKET_FANOUT_FLAG_UNIQUEID)<<16); err != nil {
		return err
	}
	v, err := unix.GetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_FANOUT)
	p.group = v & 0xffff
	return err
}

// ReadBlock delivers what has come. It returns no records and no error when
// nothing came for a while, and io.EOF after Stop, or when all interfaces are
// gone. With Options.Held, the bytes may be those of the kernel's ring: the
// caller releases each block.
func (s *Source) ReadBlock(buf []byte, recs []Record) ([]byte, []Record, error) {
	buf, recs = buf[:0], recs[:0]
	if s.ended {
		return buf, recs, io.EOF
	}
	now := monotonic()
	limit := now + int64(idle)
	for {
		s.keepHouse(now)
		var waiting bool
		buf, recs, waiting = s.collect(now, buf, recs)
		if len(recs) > 0 {
			s.delivered(recs)
			return buf, recs, nil
		}
		if s.over(now, waiting) {
			s.count()
			s.ended = true
			return buf, recs, io.EOF
		}
		if now >= limit {
			return buf, recs, nil
		}
		s.wait(limit-now, waiting)
		now = monotonic()
	}
}

func (s *Source) delivered(recs []Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range recs {
		s.counts[recs[i].Iface]++
	}
}

// over tells whether nothing can come any more.
func (s *Source) over(now int64, waiting bool) bool {
	if s.stopping.Load() && s.drained == 0 {
		for _, r := range s.rings {
			_ = r.rejectAll()
		}
		s.drained = now + int64(drainAfter)
	}
	if s.drained == 0 {
		for i := range s.stats {
			if !s.stats[i].Gone {
				return false
			}
		}
		s.drained = now + int64(drainAfter) // all are gone
	}
	return !waiting && now >= s.drained
}

// wait sleeps until a block is ready, at most ns. When blocks are ready and
// wait for others, or the newest one is out, poll would return at once: then
// only Stop ends the sleep early.
func (s *Source) wait(ns int64, waiting bool) {
	fds := make([]unix.PollFd, 0, 8)
	if waiting || s.drained != 0 {
		ns = min(ns, int64(retireMS*time.Millisecond)/2)
	} else {
		for _, r := range s.rings {
			if r.newestOut() {
				ns = min(ns, int64(outPause))
				continue
			}
			fds = append(fds, unix.PollFd{Fd: int32(r.fd), Events: unix.POLLIN})
		}
	}
	if !s.stopping.Load() { // it stays readable afterwards
		fds = append(fds, unix.PollFd{Fd: int32(s.wake), Events: unix.POLLIN})
	}
	if _, err := unix.Poll(fds, int((ns+1e6-1)/1e6)); err != nil {
		return // interrupted: the caller looks again
	}
	for i := range fds {
		if fds[i].Revents&unix.POLLERR != 0 {
			_, _ = unix.GetsockoptInt(int(fds[i].Fd), unix.SOL_SOCKET, unix.SO_ERROR) // takes the error away
			s.lastLook = 0                                                            // sees what it was
		}
	}
}

// keepHouse reads the kernel's counts and the state of the interfaces, now and
// then.
func (s *Source) keepHouse(now int64) {
	if now-s.lastStat >= int64(statsEvery) {
		s.lastStat = now
		s.count()
	}
	if now-s.lastLook >= int64(stateEvery) {
		s.lastLook = now
		s.look()
	}
}

// count takes the kernel's counts.
func (s *Source) count() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range s.rings {
		received, dropped := r.counts()
		s.stats[r.iface].Received += received
		s.stats[r.iface].KernelDropped += dropped
	}
}

// look notes interfaces that went down, came back or are gone, and what their
// cards dropped.
func (s *Source) look() {
	missed := nicDrops()
	for i, p := range s.ports {
		s.mu.Lock()
		st := &s.stats[i]
		was := *st
		if !was.Gone {
			st.Up, st.Gone = p.state(s.ring(i).fd)
			if st.Up && !was.Up {
				p.speedBps = p.speed(s.ring(i).fd) // negotiated anew
			}
			if m, ok := missed[p.index]; ok && s.baseline != nil && !st.Gone {
				st.NICDropped = max(st.NICDropped, m-s.baseline[p.index])
			}
		}
		is := *st
		s.mu.Unlock()
		switch {
		case is.Gone && !was.Gone:
			s.opt.Notice(p.name + ": the interface is gone")
		case was.Up && !is.Up && !is.Gone:
			s.opt.Notice(p.name + ": the interface went down; waiting for it")
		case !was.Up && is.Up:
			s.opt.Notice(p.name + ": the interface is up again")
		}
	}
}

// ring is the first ring of interface i.
func (s *Source) ring(i int) *ring { return s.rings[i*s.opt.Rings] }

// Interfaces describes the interfaces, with their counts so far.
func (s *Source) Interfaces() []Interface {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Interface, len(s.ports))
	for i, p := range s.ports {
		st := &s.stats[i]
		list[i] = Interface{
			Input: i, Name: p.name, Link: p.link, SnapLen: uint32(max(0, s.opt.SnapLen)), SpeedBps: p.speedBps,
			Received: st.Received, Dropped: st.KernelDropped + max(0, st.NICDropped), FCSBytes: -1, Nanos: true,
		}
	}
	return list
}

// Inputs describes the interfaces as streams.
func (s *Source) Inputs() []Input {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Input, len(s.ports))
	for i, p := range s.ports {
		list[i] = Input{Path: p.name, Format: FormatLive, SizeBytes: -1, Complete: true, Packets: s.counts[i]}
		if s.stats[i].Gone {
			list[i].Complete, list[i].Error = false, "the interface is gone"
		}
	}
	return list
}

// Stats returns the counts of each interface.
func (s *Source) Stats() []Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.stats)
}

// Offloads returns, for each interface on which the system merges frames or
// takes tags off before they are captured, one line that tells and the command
// that ends it.
func (s *Source) Offloads() []string {
	var lines []string
	for i, p := range s.ports {
		if on := p.offloads(s.ring(i).fd); len(on) > 0 {
			lines = append(lines, offloadLine(p.name, on))
		}
	}
	return lines
}

// Stop ends the capture: ReadBlock delivers what was taken so far, then io.EOF.
func (s *Source) Stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed && !s.stopping.Swap(true) {
		_, _ = unix.Write(s.wake, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	}
}

// Close gives everything back. No ReadBlock may be under way. The memory of
// blocks that weren't released stays until they are.
func (s *Source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil
	}
	s.closed, s.ended = true, true
	for _, r := range s.rings {
		r.close()
	}
	return unix.Close(s.wake)
}

// monotonic is a clock for waiting, in ns; packets have another.
func monotonic() int64 { return int64(time.Since(processStart)) }

var processStart = time.Now().Add(-time.Hour) // 0 lies before every time
