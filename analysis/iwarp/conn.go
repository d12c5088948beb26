package iwarp

import (
	"rdmascope/decode/iwarp"
	"rdmascope/decode/wire"
)

// conn is one connection tracked in full.
type conn struct {
	t           *Tracker
	key         Key
	hash        uint32
	incarnation uint32

	firstTime, lastTime int64
	firstNumber         int64
	searched            int  // octets of payload, while a candidate
	initiator           int8 // side that sent the SYN, -1 unknown
	closing             Closing
	synAt, synAckAt     int64 // 0: not seen, or sent more than once
	synSeen, synAckSeen bool
	handshake           [2]int64 // SYN to SYN-ACK, SYN-ACK to ACK; 0 unknown
	resets              int64

	made *Connection  // its result, nil when a packet came since
	dir  [2]direction // data of either side
	pair iwarp.Pair
}

func (c *conn) init(t *Tracker, k Key, incarnation uint32) {
	d := c.dir
	*c = conn{t: t, key: k, hash: k.hash(), incarnation: incarnation, initiator: -1}
	c.pair.Init()
	for i := range c.dir {
		c.dir[i].reuse(&d[i])
		c.dir[i].c, c.dir[i].stream = c, &c.pair.Streams[i]
	}
}

// letGo gives back what the connection holds of shared pools.
func (c *conn) letGo() {
	for i := range c.dir {
		c.dir[i].waiting.clear(&c.t.pool)
		c.dir[i].bad.clear(&c.t.pool)
		c.dir[i].stream.Close()
	}
}

// finish reads what waits behind holes, as no more will come.
func (c *conn) finish() {
	c.made = nil
	for i := range c.dir {
		c.dir[i].flush()
	}
	c.letGo()
}

// isRDMA tells whether the connection proved to be iWARP.
func (c *conn) isRDMA() bool {
	for i := range c.dir {
		if s := c.dir[i].stream; s.Handshake() || s.Locked() {
			return true
		}
	}
	return false
}

func (c *conn) dataSegments() int { return int(c.dir[0].dataSegments + c.dir[1].dataSegments) }

// renewedBy tells whether a SYN begins another connection: its number is not
// that of this one's SYN.
func (c *conn) renewedBy(s *segment) bool {
	d := &c.dir[s.from]
	if !d.begun {
		return c.closing.How != Open
	}
	return uint32(d.first) != s.seq+1 || !d.fromSyn
}

// packet takes the connection's next packet, and its payload as far as it was
// captured.
func (c *conn) packet(s *segment, b []byte) {
	d, peer := &c.dir[s.from], &c.dir[1-s.from]
	c.made = nil
	if c.firstNumber == 0 {
		c.firstTime, c.firstNumber = s.time, s.number
	}
	d.countPacket(s)
	silent := s.time - c.lastTime
	c.lastTime = max(c.lastTime, s.time)
	switch {
	case d.isCopy(s):
		d.copied(s, peer)
		return
	case d.isBad(s):
		d.corrupted(s, b)
		return
	}
	d.order.see(s)
	if s.flags&flagSyn != 0 {
		c.syn(s, d)
	}
	if s.flags&flagAck != 0 {
		c.acked(s)
		peer.acknowledged(s)
	}
	if s.length > 0 || s.flags&flagFin != 0 {
		d.data(s, b, silent)
	}
	if s.flags&flagRst != 0 {
		c.resets++
		c.close(ByReset, s)
	}
	if s.flags&flagFin != 0 {
		c.close(ByFin, s)
	}
}

func (c *conn) close(how How, s *segment) {
	if c.closing.How == Open {
		c.closing = Closing{how, s.time, s.number}
	}
}

// syn takes the opening of a direction.
func (c *conn) syn(s *segment, d *direction) {
	d.syn = synOptions{true, s.opt.hasMSS, s.opt.mss, s.opt.hasScale, s.opt.scale, s.opt.sackOK, s.opt.hasTS}
	again := d.begun
	if again {
		d.countResent(0, resendTimeout)
	} else {
		d.begin(uint64(s.seq+1)|origin, s)
		d.fromSyn = true
	}
	if s.flags&flagAck == 0 {
		c.initiator = int8(s.from)
		c.synAt, c.synSeen = s.time, true
		if again {
			c.synAt = 0 // Karn: which one the SYN-ACK answers isn't known
		}
		return
	}
	if !c.synAckSeen {
		c.initiator = int8(1 - s.from)
		c.synAckAt, c.synAckSeen = s.time, true
		if c.synAt != 0 {
			c.handshake[0] = max(s.time-c.synAt, 1)
		}
		return
	}
	c.synAckAt = 0
}

// acked ends the handshake with the initiator's first ACK.
func (c *conn) acked(s *segment) {
	if c.synAckAt != 0 && int8(s.from) == c.initiator && s.flags&flagSyn == 0 {
		c.handshake[1] = max(s.time-c.synAckAt, 1)
		c.synAckAt = 0
	}
}

// How tells how a connection was closed.
type How uint8

const (
	Open How = iota
	ByFin
	ByReset
)

func (h How) String() string {
	switch h {
	case ByFin:
		return "fin"
	case ByReset:
		return "rst"
	}
	return "open"
}

// Closing is when and how a connection was closed first.
type Closing struct {
	How    How
	Time   int64
	Number int64
}

// synOptions is what a SYN offered.
type synOptions struct {
	seen     bool
	hasMSS   bool
	mss      uint16
	hasScale bool
	scale    uint8
	sack     bool
	stamps   bool
}

// isBad tells whether a segment's checksums are wrong and no offload explains
// it. Until a direction showed a right one, a wrong one is taken for an
// artefact of the capture.
func (d *direction) isBad(s *segment) bool {
	switch s.check {
	case wire.CheckOK:
		d.sumsGood = true
	case wire.CheckPartial:
		d.partialSums++
	case wire.CheckBad:
		return d.sumsGood
	}
	d.headersGood = d.headersGood || s.hasID && !s.ipBad
	return s.ipBad && d.headersGood
}
