package tui

import (
	"context"
	"time"

	"rdmascope/decode/wire"
)

// scanBatch is how often a scan hands over what it found.
const scanBatch = 200 * time.Millisecond

// maxFound bounds the numbers that a filter keeps, 16 MB of them.
const maxFound = 2_000_000

// scan goes through packets in the background.
type scan struct {
	cancel context.CancelFunc
	at     int64 // packet looked at last
	full   bool  // stopped at maxFound
	done   bool
	ended  time.Time
	err    error
}

func (s *scan) stop() {
	if s != nil && s.cancel != nil {
		s.cancel()
	}
}

// firstPacket is the oldest packet that a source has.
func firstPacket(src PacketSource) int64 {
	if w, ok := src.(PacketWindow); ok {
		return w.First()
	}
	return 1
}

// eachPacket calls f for the packets from n on, in order.
func eachPacket(ctx context.Context, src PacketSource, n int64, f func(*wire.Packet) bool) error {
	if s, ok := src.(PacketScanner); ok {
		return s.Scan(ctx, n, f)
	}
	n = max(n, firstPacket(src))
	for ; ctx.Err() == nil; n++ {
		if total, _ := src.Count(); n > total {
			return nil
		}
		p, err := src.Packet(n)
		if err != nil {
			return err
		}
		if p != nil && !f(p) {
			return nil
		}
	}
	return ctx.Err()
}

// scanFrom collects the numbers of the packets from one on that match; take
// gets them in batches, on the drawing goroutine.
func (u *ui) scanFrom(from int64, match func(*wire.Packet) bool, take func(found []int64)) *scan {
	ctx, cancel := context.WithCancel(context.Background())
	s := &scan{cancel: cancel}
	src, post := u.opt.Packets, u.host.post
	u.background(func() func() {
		var batch []int64
		found, at := 0, from-1
		last := time.Now()
		hand := func() {
			out, now := batch, at
			batch = nil
			post(func() {
				if ctx.Err() == nil {
					s.at = now
					take(out)
				}
			})
		}
		err := eachPacket(ctx, src, from, func(p *wire.Packet) bool {
			at = p.Number
			if match(p) {
				batch = append(batch, p.Number)
				found++
			}
			if at&255 == 0 && time.Since(last) > scanBatch {
				last = time.Now()
				hand()
			}
			return found < maxFound && ctx.Err() == nil
		})
		hand()
		return func() { s.done, s.full, s.err, s.ended = true, found >= maxFound, err, time.Now() }
	})
	return s
}

// scanNext looks for the next packet that matches, forwards or backwards.
func (u *ui) scanNext(from int64, dir int, match func(*wire.Packet) bool, found func(n int64)) *scan {
	ctx, cancel := context.WithCancel(context.Background())
	s := &scan{cancel: cancel}
	src := u.opt.Packets
	u.background(func() func() {
		n, err := findPacket(ctx, src, from, dir, match)
		return func() {
			s.done, s.err = true, err
			if ctx.Err() == nil {
				found(n)
			}
		}
	})
	return s
}

// findPacket gives 0 when there is none.
func findPacket(ctx context.Context, src PacketSource, from int64, dir int, match func(*wire.Packet) bool) (int64, error) {
	hit := int64(0)
	if dir > 0 {
		err := eachPacket(ctx, src, from+1, func(p *wire.Packet) bool {
			if match(p) {
				hit = p.Number
			}
			return hit == 0
		})
		return hit, err
	}
	for n := from - 1; n >= firstPacket(src) && ctx.Err() == nil; n-- {
		p, err := src.Packet(n)
		if err != nil {
			return 0, err
		}
		if p != nil && match(p) {
			return n, nil
		}
	}
	return 0, ctx.Err()
}
