package iwarp

import (
	"errors"
	"math/bits"

	"rdmascope/decode/iwarp"
)

// framing is what the MPA stream of one direction showed.
type framing struct {
	segments, aligned int64 // segments fed with a first octet not seen before; those whose first octet is an FPDU's
	opcodes           [iwarp.OpcodeCount]int64
	unseenOpcodes     int64
	byMessage         [iwarp.OpcodeCount]int64
	fpdus, messages   int64
	payload           int64
	crc               [5]int64 // by iwarp.CRCState
	firstBadCRC       int64    // packet
	partial, aborted  int64
	longest           int // octets of the longest FPDU
	aboveMSS          int64
	oddQueues         int64
	markers           int64
	markerFaults      int64
	desyncs, locks    int64
	holes             int64
	skipped           uint64 // octets that belong to no FPDU found

	frame      Frame
	frames     uint32
	terminates []Terminate
	moreTerms  int64
	msn        msnCheck
	start      [messageClasses]uint64 // where the running message began
	running    [messageClasses]bool
	newest     int64                 // the newest sighting of the FPDU in hand
	first      [firstSendOctets]byte // of the first SEND's payload: protocols are known by it
	firstLen   uint8
	haveSend   bool
	faults     [mpaFaults]Fault
	sizes      [sizeClasses]int64
	size       [messageClasses]uint64 // payload of the running message
	turns      turns
}

const firstSendOctets = 64

// sizeClasses are the powers of two up to the longest message, 2³² octets.
const sizeClasses = 34

// Messages of these classes may run side by side in one stream.
const (
	classWrite = iota
	classReadResponse
	classUntagged
	messageClasses
)

func classOf(o iwarp.Opcode) int {
	switch o {
	case iwarp.RDMAWrite:
		return classWrite
	case iwarp.RDMAReadResp:
		return classReadResponse
	}
	return classUntagged
}

// MPA takes a start-up frame.
func (d *direction) MPA(_ *iwarp.Stream, _ uint64, m *iwarp.MPAFrame, err error) {
	f := &d.framing
	f.frames++
	f.frame.set(m, d.feedingNumber, d.feedingAt)
	f.msn.begin()
	d.checkFrame(m, err)
}

// BeginFPDU takes the header of an FPDU.
func (d *direction) BeginFPDU(_ *iwarp.Stream, f *iwarp.FPDU) {
	d.framing.newest = max(f.At, d.feedingAt)
	d.checkBegin(f)
	if f.DDP.Opcode.IsSend() && !f.HeaderCut && f.DDP.MO == 0 {
		d.peer().framing.turns.answered(f.At)
	}
}

// EndFPDU counts an FPDU.
func (d *direction) EndFPDU(_ *iwarp.Stream, f *iwarp.FPDU) {
	m := &d.framing
	if f.State == iwarp.Aborted {
		m.aborted++
		return
	}
	if f.State == iwarp.Partial {
		m.partial++
	}
	m.fpdus++
	m.crc[f.CRC]++
	if f.CRC == iwarp.CRCBad && m.firstBadCRC == 0 {
		m.firstBadCRC = d.feedingNumber
	}
	if f.AtSegmentStart {
		m.aligned++
	}
	m.markers += int64(f.Markers)
	d.checkLength(f)
	if f.Odd != nil {
		m.oddQueues++
	}
	if !f.DDP.Opcode.Known() {
		m.unseenOpcodes++
		return
	}
	m.opcodes[f.DDP.Opcode]++
	m.payload += int64(f.PayloadLength())
	complete := m.newest
	if f.Recovered {
		complete = max(f.At, f.EndAt)
	}
	if !f.HeaderCut {
		m.msn.see(f)
	}
	d.observe(f, complete)
	d.operation(f, complete)
	d.message(f)
}

// observe tells of an FPDU to whom it may concern.
func (d *direction) observe(f *iwarp.FPDU, complete int64) {
	t := d.c.t
	if t.opt.Observe == nil {
		return
	}
	side := uint8(0)
	if d == &d.c.dir[1] {
		side = 1
	}
	t.event = Event{d.c.key, d.c.incarnation, side, f, complete, d.feedingNumber}
	t.opt.Observe(&t.event)
}

func (d *direction) checkLength(f *iwarp.FPDU) {
	m := &d.framing
	n := int(f.End - f.Start)
	m.longest = max(m.longest, n)
	if mss := d.sendMSS(); mss > 0 && n > mss {
		m.aboveMSS++
	}
}

// sendMSS is the longest segment that this direction may send: the peer's MSS
// option less what the timestamps take (RFC 6691); 0 unknown.
func (d *direction) sendMSS() int {
	p := &d.peer().syn
	if !p.hasMSS {
		return 0
	}
	mss := int(p.mss)
	if p.stamps && d.syn.stamps {
		mss -= 12
	}
	return mss
}

// operation acts on what an FPDU is.
func (d *direction) operation(f *iwarp.FPDU, complete int64) {
	switch op := f.DDP.Opcode; {
	case op == iwarp.RDMAReadReq || op == iwarp.AtomicReq:
		d.request(f)
	case op == iwarp.RDMAReadResp || op == iwarp.AtomicResp:
		d.response(f, complete)
	case op == iwarp.Terminated:
		d.terminate(f)
	case op.IsSend() && !d.framing.haveSend && !f.HeaderCut:
		d.framing.haveSend = true
		d.framing.firstLen = uint8(copy(d.framing.first[:], f.Body()))
	}
}

// message follows messages over their FPDUs.
func (d *direction) message(f *iwarp.FPDU) {
	m := &d.framing
	class := classOf(f.DDP.Opcode)
	if !m.running[class] {
		m.running[class], m.start[class], m.size[class] = true, f.Start, 0
	}
	m.size[class] += uint64(f.PayloadLength())
	if !f.DDP.Last {
		return
	}
	m.running[class] = false
	m.messages++
	m.byMessage[f.DDP.Opcode]++
	m.sizes[min(bits.Len64(m.size[class]), sizeClasses-1)]++
	if f.DDP.Opcode.IsSend() {
		m.turns.sent(f.EndAt)
	}
	x := message{start: m.start[class], end: f.End, endAt: f.EndAt, opcode: f.DDP.Opcode, stag: f.DDP.STag}
	x.sample = f.State == iwarp.Whole && (x.opcode == iwarp.RDMAWrite || x.opcode.IsSend())
	x.resent = d.resent.overlaps(x.start, x.end)
	d.holes.countDelayed(&x)
	if !d.haveAck || x.end > d.una {
		d.messages.add(d, x)
	}
}

// turns measures request and reply where they alternate: the time from a SEND to
// the peer's next one, if it was the only SEND since the peer's last.
type turns struct {
	latency
	pending int
	at      int64
}

func (t *turns) sent(at int64) {
	t.pending++
	t.at = at
}

func (t *turns) answered(at int64) {
	if t.pending == 1 {
		t.latency.add(at - t.at)
	}
	t.pending = 0
}

// terminate lists a Terminate.
func (d *direction) terminate(f *iwarp.FPDU) {
	var t iwarp.Terminate
	m := &d.framing
	if f.HeaderCut || !f.Terminate(&t) {
		m.moreTerms++
		return
	}
	if len(m.terminates) >= maxTerminates {
		m.moreTerms++
		return
	}
	m.terminates = append(m.terminates, Terminate{TerminateError: t.TerminateError, Order: t.Order, Other: t.Other,
		Packet: d.feedingNumber, Time: d.feedingAt, DDPValid: t.DDPValid, FailedOpcode: t.DDP.Opcode, FailedSTag: t.DDP.STag})
}

const maxTerminates = 8 // a stream ends with its first; more are hostile

// Notice takes what happened to the framing itself.
func (d *direction) Notice(_ *iwarp.Stream, n iwarp.Notice) {
	m := &d.framing
	switch n.Kind {
	case iwarp.NoticeHole:
		m.holes++
		if !n.Bridged {
			m.msn.lose()
			m.running = [messageClasses]bool{}
		}
	case iwarp.NoticeDesync:
		m.desyncs++
		m.msn.lose()
		m.running = [messageClasses]bool{}
		if errors.Is(n.Err, iwarp.ErrMarker) {
			m.markerFaults++
		}
	case iwarp.NoticeLock:
		m.locks++
		m.skipped += n.Length
	case iwarp.NoticeMarker:
		m.markerFaults++
	}
}

// msnCheck looks for gaps in message sequence numbers, of each queue and, for
// stacks that count all queues with one counter (the first softiwarp), of all.
type msnCheck struct {
	queue  [queues]msnQueue
	shared msnQueue
}

const queues = 4

type msnQueue struct {
	have     bool
	next     iwarp.MSN // of the next message
	messages int64
	gaps     int64
}

func (c *msnCheck) see(f *iwarp.FPDU) {
	d := &f.DDP
	if d.Tagged || d.QN >= queues {
		return
	}
	q := &c.queue[d.QN]
	if d.MO == 0 { // a message's first segment
		q.messages++
		q.check(d.MSN)
		c.shared.check(d.MSN)
	}
	q.have, q.next = true, d.MSN.Add(1)
	c.shared.have, c.shared.next = true, d.MSN.Add(1)
}

func (q *msnQueue) check(n iwarp.MSN) {
	if q.have && n != q.next {
		q.gaps++
	}
}

// begin expects the first message of each queue (RFC 5041 §4.3: MSN 1).
func (c *msnCheck) begin() {
	for i := range c.queue {
		c.queue[i].have, c.queue[i].next = true, iwarp.FirstMSN
	}
}

// lose forgets the next numbers: messages may have passed unseen.
func (c *msnCheck) lose() {
	for i := range c.queue {
		c.queue[i].have = false
	}
	c.shared.have = false
}
