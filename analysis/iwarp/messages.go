package iwarp

import "rdmascope/decode/iwarp"

// message is one RDMAP message seen and not yet acknowledged.
type message struct {
	start, end uint64
	endAt      int64 // its last octet's sighting
	stag       uint32
	opcode     iwarp.Opcode
	sample     bool // a SEND or WRITE whose last octet was seen
	resent     bool // a part was sent twice
}

// messageRing holds them in order of the stream.
type messageRing struct {
	at   []message
	head int
}

const (
	maxMessages    = 8192
	oneWayMessages = 64
)

func (r *messageRing) add(d *direction, m message) {
	if n := d.most(maxMessages, oneWayMessages); len(r.at)-r.head >= n {
		if n == maxMessages {
			d.c.t.ev.Records++
		}
		r.head++
	}
	r.at, r.head = compact(r.at, r.head)
	r.at = append(r.at, m)
}

// pop takes the oldest out if it ends at ack or before.
func (r *messageRing) pop(ack uint64) (m message, ok bool) {
	if r.head < len(r.at) && r.at[r.head].end <= ack {
		m, ok = r.at[r.head], true
		r.head++
	}
	return m, ok
}

func (r *messageRing) mark(from, end uint64) {
	for i := len(r.at) - 1; i >= r.head && r.at[i].end > from; i-- {
		if r.at[i].start < end {
			r.at[i].resent = true
		}
	}
}

// between counts the messages wholly in [lo, hi).
func (r *messageRing) between(lo, hi uint64) (n int64) {
	for i := len(r.at) - 1; i >= r.head && r.at[i].start >= lo; i-- {
		if r.at[i].end <= hi {
			n++
		}
	}
	return n
}

// tellMessage names the message that a hole stood in.
func (d *direction) tellMessage(h *Hole) {
	for i := d.messages.head; i < len(d.messages.at); i++ {
		m := &d.messages.at[i]
		if m.end > h.offset {
			if m.start < h.end {
				h.Opcode, h.STag, h.HasOpcode = m.opcode, m.stag, true
			}
			return
		}
	}
}
