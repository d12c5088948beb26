package tui

import "time"

// follow takes up what came since, and lets go what is not kept any more. The
// cursor stays on its packet; on the newest one it stays on the newest, as long
// as a capture goes on.
func (p *packetsPage) follow(u *ui, total int64) {
	first := int64(1)
	w, window := u.opt.Packets.(PacketWindow)
	if window {
		first = w.First()
	}
	l := p.list
	if !l.all {
		gone := l.index(first)
		if gone > 0 {
			l.list = l.list[gone:]
			p.shift(gone)
		}
		return
	}
	gone := int(first - l.first)
	newest := window && p.g.cursor >= l.Len()-1
	l.first, l.total = first, total
	switch {
	case newest && !u.paused:
		p.g.cursor = max(l.Len()-1, 0)
	case gone > 0:
		p.shift(gone)
	}
}

// shift moves cursor and view by the rows that went at the beginning.
func (p *packetsPage) shift(gone int) {
	p.g.cursor, p.g.offset = max(p.g.cursor-gone, 0), max(p.g.offset-gone, 0)
}

// scanAgain is how often a filter looks at the packets that came since.
const scanAgain = time.Second

// scanOn looks on where a filter had seen everything that there was.
func (p *packetsPage) scanOn(u *ui, total int64) {
	s := p.scan
	if s == nil || !s.done || s.err != nil || s.full || p.match == nil || p.list.all || total <= s.at || time.Since(s.ended) < scanAgain {
		return
	}
	match, from := p.match, s.at+1
	p.scan = u.scanFrom(from, match, func(found []int64) {
		newest := p.g.cursor == len(p.list.list)-1
		p.list.list = append(p.list.list, found...)
		if newest && u.isLive() && !u.paused {
			p.g.cursor = len(p.list.list) - 1
		}
	})
	p.scan.at = s.at
}
