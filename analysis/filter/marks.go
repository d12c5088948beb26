package filter

import (
	"math/bits"

	"rdmascope/analysis"
)

// MarkSet holds the marks of packets: one bit for each packet and mark. Pages
// are made where there is something to mark, so that a clean capture of any
// length costs nothing. The zero value is empty; fill it before others read it.
type MarkSet struct {
	pages [markCount]map[int64]*[pageWords]uint64
}

const (
	markCount = analysis.PacketMarks
	pageWords = 512 // 32,768 packets in 4 KiB
	pageBits  = pageWords * 64
	// maxMarked bounds the numbers, so that a page's number cannot wrap.
	maxMarked = 1 << 56
)

// Add marks a packet.
func (s *MarkSet) Add(number int64, m Mark) {
	if number < 0 || number > maxMarked {
		return
	}
	for i := range markCount {
		if m>>i&1 == 0 {
			continue
		}
		if s.pages[i] == nil {
			s.pages[i] = make(map[int64]*[pageWords]uint64)
		}
		page := s.pages[i][number/pageBits]
		if page == nil {
			page = new([pageWords]uint64)
			s.pages[i][number/pageBits] = page
		}
		page[number%pageBits/64] |= 1 << (number % 64)
	}
}

// Marks returns the marks of a packet.
func (s *MarkSet) Marks(number int64) (m Mark) {
	if number < 0 {
		return 0
	}
	for i := range markCount {
		if page := s.pages[i][number/pageBits]; page != nil && page[number%pageBits/64]>>(number%64)&1 != 0 {
			m |= 1 << i
		}
	}
	return m
}

// Next returns the first packet behind number with any of the marks.
func (s *MarkSet) Next(number int64, m Mark) (next int64, ok bool) {
	for i := range markCount {
		if m>>i&1 == 0 {
			continue
		}
		if n, found := s.nextIn(i, max(number+1, 0)); found && (!ok || n < next) {
			next, ok = n, true
		}
	}
	return next, ok
}

// Prev returns the last packet before number with any of the marks.
func (s *MarkSet) Prev(number int64, m Mark) (prev int64, ok bool) {
	for i := range markCount {
		if m>>i&1 == 0 {
			continue
		}
		if n, found := s.prevIn(i, number-1); found && (!ok || n > prev) {
			prev, ok = n, true
		}
	}
	return prev, ok
}

// Forget drops the marks of packets before number, but for some right before
// it: of an endless capture only the newest matter.
func (s *MarkSet) Forget(number int64) {
	for i := range markCount {
		for at := range s.pages[i] {
			if (at+1)*pageBits <= number {
				delete(s.pages[i], at)
			}
		}
	}
}

func (s *MarkSet) prevIn(mark int, from int64) (int64, bool) {
	best := int64(-1)
	for at := range s.pages[mark] {
		if at*pageBits <= from && at > best && lastIn(s.pages[mark][at], min(from-at*pageBits, pageBits-1)) >= 0 {
			best = at
		}
	}
	if best < 0 {
		return 0, false
	}
	return best*pageBits + lastIn(s.pages[mark][best], min(from-best*pageBits, pageBits-1)), true
}

// lastIn is the last bit of a page up to one, −1 for none.
func lastIn(page *[pageWords]uint64, to int64) int64 {
	for w := to / 64; w >= 0; w-- {
		word := page[w]
		if w == to/64 {
			word &= ^uint64(0) >> (63 - to%64)
		}
		if word != 0 {
			return w*64 + 63 - int64(bits.LeadingZeros64(word))
		}
	}
	return -1
}

func (s *MarkSet) nextIn(mark int, from int64) (int64, bool) {
	best := int64(-1)
	for at := range s.pages[mark] {
		if at >= from/pageBits && (best < 0 || at < best) && firstIn(s.pages[mark][at], max(from-at*pageBits, 0)) >= 0 {
			best = at
		}
	}
	if best < 0 {
		return 0, false
	}
	return best*pageBits + firstIn(s.pages[mark][best], max(from-best*pageBits, 0)), true
}

// firstIn is the first bit of a page from one on, −1 for none.
func firstIn(page *[pageWords]uint64, from int64) int64 {
	for w := from / 64; w < pageWords; w++ {
		word := page[w]
		if w == from/64 {
			word &= ^uint64(0) << (from % 64)
		}
		if word != 0 {
			return w*64 + int64(bits.TrailingZeros64(word))
		}
	}
	return -1
}
