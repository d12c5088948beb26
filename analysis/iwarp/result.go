package iwarp

import (
	"cmp"
	"slices"

	"rdmascope/decode/iwarp"
)

// Result tells what is known now. It changes nothing. now is the capture's
// time, for holes that are open.
func (t *Tracker) Result(now int64) Result {
	r := Result{Evictions: t.ev}
	for _, c := range t.closed {
		r.Connections = append(r.Connections, c.figures(now))
	}
	for i := range t.table.entries {
		switch e := &t.table.entries[i]; e.stage {
		case plain:
			r.Plain++
		case pending:
			r.Pending++
		case candidate:
			r.Candidates++
		case proved:
			r.Connections = append(r.Connections, t.conns[e.at].figures(now))
		}
	}
	for _, c := range t.conns {
		if c != nil {
			r.WaitingOctets += int64(c.dir[0].waiting.octets + c.dir[1].waiting.octets)
		}
	}
	sortConnections(r.Connections)
	return r
}

func sortConnections(l []*Connection) {
	slices.SortFunc(l, func(a, b *Connection) int {
		return cmp.Or(cmp.Compare(a.FirstPacket, b.FirstPacket), cmp.Compare(a.Key.Iface, b.Key.Iface))
	})
}

// figures are the connection's result, made anew only where a packet came since
// the last one. A hole that is open grows with time alone.
func (c *conn) figures(now int64) *Connection {
	if c.made != nil {
		return c.made
	}
	r := c.result(now)
	if !c.dir[0].cover.open() && !c.dir[1].cover.open() {
		c.made = r
	}
	return r
}

func (c *conn) result(now int64) *Connection {
	r := &Connection{Key: c.key, Incarnation: c.incarnation, Initiator: int(c.initiator), FirstTime: c.firstTime,
		LastTime: c.lastTime, FirstPacket: c.firstNumber, Closed: c.closing, Resets: c.resets, CRC: c.pair.CRCMode()}
	req, rep := c.pair.Request(), c.pair.Reply()
	r.Handshake = req.Seen || rep.Seen
	r.Rejected = rep.Seen && rep.Reject
	r.ReplyTime = c.replyTime()
	if r.Initiator < 0 {
		r.Initiator = c.mpaInitiator()
	}
	for i := range c.dir {
		r.Flows[i] = c.dir[i].result(now)
	}
	r.Flows[0].Src, r.Flows[0].Dst = c.key.A, c.key.B
	r.Flows[0].SrcPort, r.Flows[0].DstPort = c.key.APort, c.key.BPort
	r.Flows[1].Src, r.Flows[1].Dst = c.key.B, c.key.A
	r.Flows[1].SrcPort, r.Flows[1].DstPort = c.key.BPort, c.key.APort
	r.ULP, r.ULPFrom = c.ulp()
	return r
}

func (c *conn) replyTime() Count {
	for i := range c.dir {
		q, p := &c.dir[i].framing.frame, &c.dir[1-i].framing.frame
		if q.Seen && !q.Reply && p.Seen && p.Reply {
			return Known(max(p.Time-q.Time, 0))
		}
	}
	return Unknown("the start-up frames of both sides were not seen")
}

func (c *conn) mpaInitiator() int {
	for i := range c.dir {
		if f := &c.dir[i].framing.frame; f.Seen {
			if f.Reply {
				return 1 - i
			}
			return i
		}
	}
	return -1
}

const oneWay = "no packet of the other direction was captured"

func (d *direction) result(now int64) Flow {
	f, m := &d.figures, &d.framing
	r := Flow{Packets: d.volume.packets, WireBytes: d.volume.wire, ECNCapable: f.ecnCapable, ECNCE: f.ecnCE,
		Copies: f.copies, NetworkCopies: f.networkCopies, ChecksumBad: f.checksumBad, PartialChecksums: d.partialSums,
		LateBytes: f.lateOctets, PayloadBytes: m.payload, Messages: m.messages, OpcodesUnseen: m.unseenOpcodes,
		CorruptHoles: f.corrupt, MoreTerms: m.moreTerms, MAC: d.marks.mac, HasMAC: d.marks.hasMAC, DSCP: d.marks.dscp.table(), VLAN: d.marks.vlan.table(),
		DSCPOthers: d.marks.dscp.others, VLANOthers: d.marks.vlan.others, PCP: d.marks.pcp, MessageSizes: m.sizes,
		Opcodes: byName(&m.opcodes), MessagesByOpcode: byName(&m.byMessage),
		MessageRunning: m.running != [messageClasses]bool{}, HolesTotal: d.holes.count,
		Terminates: slices.Clone(m.terminates), FirstSend: slices.Clone(m.first[:m.firstLen])}
	heard := d.peer().volume.packets > 0
	r.TCPPayloadBytes = d.octetsSeen()
	r.UnseenBytes = ifHeard(heard, f.unseen+int64(d.cover.unseen()))
	r.LostUpstream = Known(f.lostUpstream)
	r.LostDownstream = ifHeard(heard, f.lostDownstream)
	r.Turnround = m.turns.latency.result()
	r.AckLatency, r.Atomic = d.ackLatency.result(), d.reads.atomicLatency.result()
	r.ReadFirst, r.ReadLast = d.reads.result()
	r.SYN = d.syn.result()
	r.TCP = d.tcpResult(heard)
	r.MPA = d.mpaResult()
	r.Reads = Reads{Requests: d.reads.requests, Answered: d.reads.answered, ByOrder: d.reads.byOrder,
		Unanswered: d.reads.requests - d.reads.answered, Orphans: d.reads.orphans, Recovered: d.reads.recovered,
		MaxOutstanding: int64(d.reads.maxOpen), Atomics: d.reads.atomics, AtomicsAnswered: d.reads.atomicsAnswered,
		LittleEndian: d.reads.littleEndian, Depth: d.readDepth()}
	r.Queues, r.SharedMSN = m.msn.result()
	r.Holes = d.holesResult(now)
	for _, x := range m.faults {
		if x.Count > 0 {
			r.Faults = append(r.Faults, x)
		}
	}
	return r
}

func ifHeard(heard bool, n int64) Count {
	if !heard {
		return Unknown(oneWay)
	}
	return Known(n)
}

// octetsSeen is the sequence space seen, holes and the FIN left out.
func (d *direction) octetsSeen() int64 {
	if !d.begun {
		return 0
	}
	n := int64(d.max-d.first) + d.figures.earlier
	fin := d.first <= d.finAt && d.finAt < d.max
	for i := range d.cover.holes {
		h := &d.cover.holes[i]
		n -= int64(h.hi - h.lo)
		fin = fin && (d.finAt < h.lo || h.hi <= d.finAt)
	}
	if fin {
		n--
	}
	return n
}

func byName(counts *[iwarp.OpcodeCount]int64) map[string]int64 {
	r := map[string]int64{}
	for o, n := range counts {
		if n > 0 {
			r[iwarp.Opcode(o).String()] = n
		}
	}
	return r
}

func (s *synOptions) result() SYN {
	r := SYN{Seen: s.seen, SACK: s.sack, Timestamps: s.stamps}
	r.MSS, r.WindowScale = Unknown("the SYN was not seen"), Unknown("the SYN was not seen")
	if !s.seen {
		return r
	}
	r.MSS, r.WindowScale = Unknown("not in the SYN"), Unknown("not in the SYN")
	if s.hasMSS {
		r.MSS = Known(int64(s.mss))
	}
	if s.hasScale {
		r.WindowScale = Known(int64(s.scale))
	}
	return r
}

func (d *direction) tcpResult(heard bool) TCP {
	f := &d.figures
	r := TCP{DataSegments: d.dataSegments - f.badData, Retransmitted: f.resent, RetransmittedBytes: f.resentOctets, OutOfOrder: f.late,
		Likely: f.likely, Keepalives: f.keepalives, Implausible: f.implausible, RTT: d.rtt.result(),
		RTTSkipped: f.rttSkipped, IdentificationUsable: d.order.usable()}
	r.DuplicateAcks = ifHeard(heard, f.dupAcks)
	r.Timeouts = ifHeard(heard, f.byKind[resendTimeout])
	r.Fast = ifHeard(heard, f.byKind[resendFast])
	r.TailProbes = ifHeard(heard, f.byKind[resendProbe])
	r.UnknownResends = ifHeard(heard, f.byKind[resendUnknown])
	r.Spurious = ifHeard(heard, f.spurious)
	r.DSACKs = ifHeard(heard, f.dsacks)
	r.ZeroWindows = ifHeard(heard, f.zeroWindows)
	r.HandshakeNS = d.c.handshakeOf(d)
	return r
}

func (c *conn) handshakeOf(d *direction) Count {
	if c.initiator < 0 {
		return Unknown("the SYN was not seen")
	}
	i := 0
	if d != &c.dir[c.initiator] {
		i = 1
	}
	switch {
	case c.handshake[i] > 0:
		return Known(c.handshake[i])
	case c.synSeen && c.synAckSeen:
		return Unknown("a part of the handshake was sent more than once")
	}
	return Unknown("the handshake was not seen whole")
}

func (d *direction) mpaResult() MPA {
	m := &d.framing
	r := MPA{Frame: m.frame, FPDUs: m.fpdus, FirstBadCRC: m.firstBadCRC, CRCUnchecked: m.crc[iwarp.CRCUnchecked] + m.crc[iwarp.CRCUndecided],
		MarkerCount: m.markers, MarkerFaults: m.markerFaults, Segments: m.segments, Aligned: m.aligned, Longest: int64(m.longest),
		AboveMSS: m.aboveMSS, OddQueues: m.oddQueues, Partial: m.partial, Aborted: m.aborted, Desyncs: m.desyncs, Locks: m.locks,
		SkippedOctets: int64(m.skipped), FramesSeen: int64(m.frames), Synchronised: d.stream.Synchronised(),
		UnframedOctets: int64(d.stream.Unframed()), WaitingOctets: int64(d.waiting.octets), Waiting: int64(len(d.waiting.segs))}
	r.Markers = Unknown("the peer's start-up frame was not seen")
	if agreed, known := d.stream.Markers(); known {
		r.Markers = Known(0)
		if agreed {
			r.Markers.N = 1
		}
	}
	switch d.c.pair.CRCMode() {
	case iwarp.CRCOn:
		r.CRCGood, r.CRCBad = Known(m.crc[iwarp.CRCGood]), Known(m.crc[iwarp.CRCBad])
	case iwarp.CRCOff:
		r.CRCGood, r.CRCBad = Unknown("CRCs are not used"), Unknown("CRCs are not used")
	default:
		r.CRCGood, r.CRCBad = Unknown("no start-up frame tells whether CRCs are used"), Unknown("no start-up frame tells whether CRCs are used")
	}
	r.SendMSS = Unknown("the peer's SYN was not seen")
	if mss := d.sendMSS(); mss > 0 {
		r.SendMSS = Known(int64(mss))
	}
	return r
}

func (r *readRing) result() (first, last *Latency) {
	first, last = r.first.result(), r.lastLatency.result()
	if first != nil {
		first.Recovered = r.recovered
	}
	if last != nil {
		last.Recovered = r.recovered
	}
	return first, last
}

// result tells the queues in use. Where every queue has gaps and one counter
// over all explains them, there are none.
func (c *msnCheck) result() (list []Queue, shared bool) {
	var gaps int64
	for i := range c.queue {
		gaps += c.queue[i].gaps
	}
	shared = gaps > 0 && c.shared.gaps == 0
	for i := range c.queue {
		q := &c.queue[i]
		if q.messages == 0 {
			continue
		}
		x := Queue{QN: uint32(i), Messages: q.messages, Gaps: q.gaps}
		if shared {
			x.Gaps = 0
		}
		list = append(list, x)
	}
	return list, shared
}

// holesResult lists the holes, and those that are open now.
func (d *direction) holesResult(now int64) []Hole {
	list := slices.Clone(d.holes.list)
	for i := range d.cover.holes {
		h := &d.cover.holes[i]
		if h.acked || len(list) >= d.c.t.opt.Holes {
			continue
		}
		list = append(list, Hole{FirstTime: h.time, FirstPacket: h.number, Octets: int64(h.hi - h.lo), Lost: LostOpen,
			Blocked: Known(max(now-h.time, 0)), offset: h.lo, end: h.hi})
	}
	slices.SortStableFunc(list, func(a, b Hole) int {
		return cmp.Or(cmp.Compare(a.FirstPacket, b.FirstPacket), cmp.Compare(a.offset, b.offset))
	})
	return list
}
