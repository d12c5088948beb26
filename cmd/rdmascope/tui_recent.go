package main

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"rdmascope/analysis"
	"rdmascope/analysis/figure"
	"rdmascope/decode/wire"
	"rdmascope/tui"
)

// recentPackets keeps the newest packets of what can't be read again, a live
// capture or a pipe, within a bound of memory: so that its packets can be
// looked at, plotted and saved all the same. It is a sink of the capture.
type recentPackets struct {
	config  wire.Config
	stamped *analysis.StampedSource // whose times the packets have
	most    int64                   // octets
	gone    func(before int64)      // told when the oldest packets went; may be nil

	mu         sync.Mutex
	parts      []*recentPart // oldest first
	octets     int64
	count      int64 // packets that came so far, kept or not
	complete   bool
	interfaces []analysis.Interface

	spare   *recentPart // the part that went last, for its room
	readers int         // scans under way: parts that they may read are not used again

	held      []*recentPart // while the display is frozen: what there was then
	heldCount int64
	frozen    bool

	single singleDecoder
}

// recentPart is packets one after the other. It grows, but never over the room
// that it has, so what was seen of it under the lock stays where it is.
type recentPart struct {
	first int64 // number of its first packet
	buf   []byte
	recs  []analysis.Record
}

// partOctets is the room of a part: the unit in which the oldest go.
const partOctets = 1 << 20

// recordOctets is what a record takes beside the octets of its frame.
const recordOctets = 40

func newRecentPackets(config wire.Config, mebibytes int) *recentPackets {
	return &recentPackets{config: config, most: int64(mebibytes) << 20}
}

// block keeps a block's packets.
func (p *recentPackets) block(buf []byte, recs []analysis.Record, faces []analysis.Interface) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.interfaces = faces
	for i := range recs {
		r := recs[i]
		frame := buf[r.Off : r.Off+r.Cap]
		part := p.room(len(frame))
		r.Off = uint32(len(part.buf))
		part.buf = append(part.buf, frame...)
		part.recs = append(part.recs, r)
		p.octets += int64(len(frame)) + recordOctets
		p.count++
	}
	for p.octets > p.most && len(p.parts) > 1 {
		oldest := p.parts[0]
		p.octets -= int64(len(oldest.buf)) + recordOctets*int64(len(oldest.recs))
		p.parts = slices.Delete(p.parts, 0, 1)
		if p.gone != nil {
			p.gone(p.parts[0].first)
		}
		if p.readers == 0 && !slices.Contains(p.held, oldest) {
			p.spare = oldest
		}
	}
}

// room gives the part that so many more octets fit into.
func (p *recentPackets) room(n int) *recentPart {
	if last := len(p.parts) - 1; last >= 0 {
		if part := p.parts[last]; len(part.buf)+n <= cap(part.buf) && len(part.recs) < cap(part.recs) {
			return part
		}
	}
	part := p.spare
	p.spare = nil
	if part == nil || cap(part.buf) < n {
		part = &recentPart{buf: make([]byte, 0, max(partOctets, n)), recs: make([]analysis.Record, 0, partOctets/64)}
	}
	part.first, part.buf, part.recs = p.count+1, part.buf[:0], part.recs[:0]
	p.parts = append(p.parts, part)
	return part
}

func (p *recentPackets) finish(faces []analysis.Interface) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.complete, p.interfaces = true, faces
}

// visible are the parts that are shown, with as much of them as there is now.
// They stay as they are until release.
func (p *recentPackets) visible() (parts []recentPart, count int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readers++
	from, count := p.parts, p.count
	if p.frozen {
		from, count = p.held, p.heldCount
	}
	parts = make([]recentPart, len(from))
	for i, part := range from {
		n := min(int64(len(part.recs)), count-part.first+1)
		parts[i] = recentPart{part.first, part.buf, part.recs[:n]}
	}
	return parts, count
}

func (p *recentPackets) release() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.readers--
	p.spare = nil // it went while somebody read
}

// Count is how many packets came, and whether that is all.
func (p *recentPackets) Count() (int64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.frozen {
		return p.heldCount, false
	}
	return p.count, p.complete
}

// First is the oldest packet kept.
func (p *recentPackets) First() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts := p.parts
	if p.frozen {
		parts = p.held
	}
	if len(parts) == 0 {
		return 1
	}
	return parts[0].first
}

// Freeze keeps what there is now for the display, while more is captured. It
// takes up to the same memory once more.
func (p *recentPackets) Freeze(on bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.frozen = on
	p.held, p.heldCount = nil, 0
	if on {
		p.held, p.heldCount = slices.Clone(p.parts), p.count
	}
}

// find returns packet n with a frame of its own.
func (p *recentPackets) find(n int64) (analysis.Record, []byte, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	parts, count := p.parts, p.count
	if p.frozen {
		parts, count = p.held, p.heldCount
	}
	i, found := slices.BinarySearchFunc(parts, n, func(part *recentPart, n int64) int {
		switch {
		case part.first > n:
			return 1
		case part.first+int64(len(part.recs)) <= n:
			return -1
		}
		return 0
	})
	if !found || n > count {
		return analysis.Record{}, nil, fmt.Errorf("packet %s is not kept any more: memory holds the newest %s, a file (-w) all",
			figure.Count(n), figure.Plural(count-p.firstOf(parts)+1, "packet"))
	}
	r := parts[i].recs[n-parts[i].first]
	return r, slices.Clone(parts[i].buf[r.Off : r.Off+r.Cap]), nil
}

func (p *recentPackets) firstOf(parts []*recentPart) int64 {
	if len(parts) == 0 {
		return 1
	}
	return parts[0].first
}

// Packet decodes packet n.
func (p *recentPackets) Packet(n int64) (*wire.Packet, error) {
	rec, frame, err := p.find(n)
	if err != nil {
		return nil, err
	}
	return p.single.decode(p.stamped, p.config, &rec, frame, n), nil
}

// Scan decodes the packets from number from on, those that there are now. The
// packet is valid during the call alone.
func (p *recentPackets) Scan(ctx context.Context, from int64, f func(*wire.Packet) bool) error {
	parts, _ := p.visible()
	defer p.release()
	d := wire.NewDecoder(p.config)
	pkt := &wire.Packet{}
	for i := range parts {
		part := &parts[i]
		for k := max(from-part.first, 0); k < int64(len(part.recs)); k++ {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			r := &part.recs[k]
			analysis.LoadRecord(pkt, r, part.buf[r.Off:r.Off+r.Cap], part.first+k)
			p.stamped.Decode(d, pkt)
			if !f(pkt) {
				return nil
			}
		}
	}
	return nil
}

// Save writes packets, by number, to a new pcapng file.
func (p *recentPackets) Save(ctx context.Context, path string, numbers []int64) (int64, error) {
	return savePackets(ctx, path, p.faces(), numbers, p.find)
}

func (p *recentPackets) faces() []analysis.Interface {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.interfaces
}

func (p *recentPackets) reread(ctx context.Context, f func(*wire.Packet) bool) error {
	return p.Scan(ctx, 1, f)
}

func (p *recentPackets) whyNot(bool) string { return "" }

func (p *recentPackets) moving() bool {
	_, complete := p.Count()
	return !complete
}

var (
	_ tui.PacketWindow  = (*recentPackets)(nil)
	_ tui.PacketScanner = (*recentPackets)(nil)
	_ tui.PacketSaver   = (*recentPackets)(nil)
)
