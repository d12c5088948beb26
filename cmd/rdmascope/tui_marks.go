package main

import (
	"sync"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
)

// packetMarks is what the analysis says about packets, read while it goes on.
type packetMarks struct {
	mu  sync.Mutex
	set filter.MarkSet
}

func (p *packetMarks) add(number int64, m analysis.PacketMark) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set.Add(number, m)
}

// Marks are those of packet n so far.
func (p *packetMarks) Marks(n int64) analysis.PacketMark {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.set.Marks(n)
}

// Next is the next packet with any of the marks, backwards when dir is −1.
func (p *packetMarks) Next(from int64, dir int, m analysis.PacketMark) (n int64, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if dir < 0 {
		return p.set.Prev(from, m)
	}
	return p.set.Next(from, m)
}

// forget drops what nobody can look at any more.
func (p *packetMarks) forget(before int64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.set.Forget(before)
}
