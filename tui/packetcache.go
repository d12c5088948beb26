package tui

import (
	"time"

	"rdmascope/decode/wire"
)

// packetEntry is a packet as the list shows it.
type packetEntry struct {
	p       *wire.Packet
	err     error
	summary string
	tree    []wire.Node // made when it is looked at
}

// cacheSize is how many packets are kept; some screens' worth.
const cacheSize = 2048

// fetchBudget is how long a redraw may wait for packets; what isn't there by
// then comes in the background and shows as "…" until then.
const fetchBudget = 30 * time.Millisecond

// packetCache keeps packets that were looked at. It is used on the drawing
// goroutine alone; the source is read by others too.
type packetCache struct {
	src      PacketSource
	have     map[int64]*packetEntry
	order    []int64 // as they came; the oldest goes first
	want     []int64
	fetching bool
	spent    time.Duration // of this redraw's budget
}

func newPacketCache(src PacketSource) *packetCache {
	return &packetCache{src: src, have: map[int64]*packetEntry{}}
}

func loadPacket(src PacketSource, n int64) *packetEntry {
	p, err := src.Packet(n)
	if err != nil || p == nil {
		return &packetEntry{err: err}
	}
	return &packetEntry{p: p, summary: clean(wire.Summary(p))}
}

func (c *packetCache) put(n int64, e *packetEntry) {
	if _, ok := c.have[n]; ok {
		return
	}
	if len(c.order) >= cacheSize {
		delete(c.have, c.order[0])
		c.order = c.order[1:]
	}
	c.have[n] = e
	c.order = append(c.order, n)
}

// get gives packet n, nil while it is being fetched.
func (c *packetCache) get(n int64) *packetEntry {
	if e := c.have[n]; e != nil {
		return e
	}
	if c.spent >= fetchBudget {
		if len(c.want) < cacheSize/4 {
			c.want = append(c.want, n)
		}
		return nil
	}
	start := time.Now()
	e := loadPacket(c.src, n)
	c.spent += time.Since(start)
	c.put(n, e)
	return e
}

// begin starts a redraw; end fetches what it lacked.
func (c *packetCache) begin() { c.spent, c.want = 0, c.want[:0] }

func (c *packetCache) end(u *ui) {
	if len(c.want) == 0 || c.fetching || u.host.post == nil {
		return
	}
	c.fetching = true
	want, src := append([]int64(nil), c.want...), c.src
	u.background(func() func() {
		got := make([]*packetEntry, len(want))
		for i, n := range want {
			got[i] = loadPacket(src, n)
		}
		return func() {
			c.fetching = false
			for i, n := range want {
				c.put(n, got[i])
			}
		}
	})
}
