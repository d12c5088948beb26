package analysis

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// rateBins is how many bins the capture's time is cut into at most.
const rateBins = 1024

// Rates is the capture over time, in equal bins: what a graph of it shows.
type Rates struct {
	Start     Time
	BinNS     int64
	WireBytes []int64 // frame octets of all packets
	Packets   []int64
	CNPs      []int64
	NAKs      []int64 // RNR NAKs included
}

// Rates returns the capture over time; nil before the first packet with a time.
func (s *Snapshot) Rates() *Rates { return s.rates }

// rateCounter fills the bins of a capture whose length isn't known before its
// end: when the time runs beyond the last bin, neighbours are joined and the
// bins are twice as long from there on. So memory stays the same, and the
// result doesn't depend on when anybody looks.
type rateCounter struct {
	start int64
	shift uint // a bin is 1<<shift ns
	used  int  // bins
	bins  [rateBins]rateBin
}

type rateBin struct{ wire, packets, cnps, naks int64 }

// firstShift: bins of about a millionth of a second.
const firstShift = 10

// add counts a packet of a capture that begins at start.
func (c *rateCounter) add(p *wire.Packet, start int64) {
	if p.Flags&wire.FlagNoTime != 0 {
		return
	}
	if c.used == 0 {
		c.start, c.shift = start, firstShift
	}
	i := max(p.Time-c.start, 0) >> c.shift // a clock that steps back counts in the first bin
	for i >= rateBins {
		c.widen()
		i = max(p.Time-c.start, 0) >> c.shift
	}
	c.used = max(c.used, int(i)+1)
	b := &c.bins[i]
	b.wire += int64(p.Wire)
	b.packets++
	if !p.Has(wire.FlagBTH) {
		return
	}
	switch p.RoCE.BTH.Opcode.Operation() {
	case roce.OperationCNP:
		b.cnps++
	case roce.OperationAcknowledge:
		if p.RoCE.Present.Has(roce.HeaderAETH) && p.RoCE.AETH.Syndrome.Kind() != roce.SyndromeACK {
			b.naks++
		}
	}
}

func (c *rateCounter) widen() {
	for i := range rateBins / 2 {
		a, b := &c.bins[2*i], &c.bins[2*i+1]
		c.bins[i] = rateBin{a.wire + b.wire, a.packets + b.packets, a.cnps + b.cnps, a.naks + b.naks}
	}
	clear(c.bins[rateBins/2:])
	c.shift++
	c.used = (c.used + 1) / 2
}

// join adds what another one counted of the same capture. The sum is what one
// that had counted all would have.
func (c *rateCounter) join(o *rateCounter) {
	if o.used == 0 {
		return
	}
	if c.used == 0 {
		*c = *o
		return
	}
	for c.shift < o.shift {
		c.widen()
	}
	by := c.shift - o.shift
	for i := range o.used {
		a, b := &c.bins[i>>by], &o.bins[i]
		a.wire, a.packets, a.cnps, a.naks = a.wire+b.wire, a.packets+b.packets, a.cnps+b.cnps, a.naks+b.naks
	}
	c.used = max(c.used, (o.used-1)>>by+1)
}

func (c *rateCounter) result() *Rates {
	if c.used == 0 {
		return nil
	}
	r := &Rates{Start: Time(c.start), BinNS: 1 << c.shift, WireBytes: make([]int64, c.used), Packets: make([]int64, c.used),
		CNPs: make([]int64, c.used), NAKs: make([]int64, c.used)}
	for i := range c.used {
		b := &c.bins[i]
		r.WireBytes[i], r.Packets[i], r.CNPs[i], r.NAKs[i] = b.wire, b.packets, b.cnps, b.naks
	}
	return r
}
