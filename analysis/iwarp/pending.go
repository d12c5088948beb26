package iwarp

// pendingLog is what is kept of a connection before its first payload: the
// summaries of its first packets (SYN, SYN-ACK, ACK, and a few sent again) and
// counts of the rest, which say nothing as long as no data were seen.
type pendingLog struct {
	key     Key
	hash    uint32
	n       uint8
	started [2]bool // the SYN of that side was seen
	start   [2]uint32
	rest    [2]volume
	first   [pendingKept]segment
}

const pendingKept = 6

// volume counts packets.
type volume struct{ packets, wire int64 }

func (v *volume) add(wire uint32) {
	v.packets++
	v.wire += int64(wire)
}

// add takes a packet without payload.
func (l *pendingLog) add(s *segment) {
	if s.flags&flagSyn != 0 {
		l.started[s.from], l.start[s.from] = true, s.seq+1
	}
	if int(l.n) < len(l.first) {
		l.first[l.n] = *s
		l.n++
		return
	}
	l.rest[s.from].add(s.wire)
}

// pendingLogs is a slab of logs. When it is full the next in turn is taken from
// its owner.
type pendingLogs struct {
	logs []pendingLog
	free []int32
	hand int
}

func (p *pendingLogs) used() int { return len(p.logs) - len(p.free) }

func (p *pendingLogs) take(k *Key, hash uint32) int32 {
	if n := len(p.free) - 1; n >= 0 {
		at := p.free[n]
		p.free = p.free[:n]
		p.logs[at] = pendingLog{key: *k, hash: hash}
		return at
	}
	p.logs = append(p.logs, pendingLog{key: *k, hash: hash})
	return int32(len(p.logs) - 1)
}

// next is the log whose owner loses it, while all are taken.
func (p *pendingLogs) next() *pendingLog {
	l := &p.logs[p.hand%len(p.logs)]
	p.hand = (p.hand + 1) % len(p.logs)
	return l
}

func (p *pendingLogs) give(at int32) { p.free = append(p.free, at) }
