package pcaps

import (
	"cmp"
	"io"
	"math"
	"slices"
)

// merger puts the records of several inputs into one order of time. Inputs
// are opened when their time comes, so that a ring of a thousand files needs
// neither a thousand descriptors nor buffers. A block that no other input
// cuts into is passed on as it is; only interleaved records are copied.
type merger struct {
	tab     *ifaceTable
	waiting []waitingInput // by first time
	active  []*cursor      // inputs with a record at hand, by index
}

// waitingInput is a file that is not open, and when its records start.
type waitingInput struct {
	in    *input
	first int64
	open  bool // a stream, which can be opened only once
}

// cursor is a place in an input's present block.
type cursor struct {
	in   *input
	buf  []byte
	recs []Record
	pos  int
	last int64 // time of the record before pos, for those without a time
	most int64 // greatest time in the block
}

// place orders records: by time, those of one time by input.
type place struct {
	time  int64
	index int
}

// maxMerged bounds the records of a merged block, whose frames may be empty.
const maxMerged = blockBytes / pcapRecordLen

var nowhere = place{math.MaxInt64, math.MaxInt}

func (p place) before(q place) bool {
	return p.time < q.time || p.time == q.time && p.index < q.index
}

func (m *merger) start(inputs []*input, tab *ifaceTable) error {
	m.tab = tab
	var buf []byte
	var recs []Record
	for _, in := range inputs {
		first := int64(math.MinInt64)
		if in.onlyOnce() {
			if err := in.open(tab); err != nil {
				return err
			}
			m.waiting = append(m.waiting, waitingInput{in, first, true})
			continue
		}
		// Look when its records start, with a table of interfaces that is
		// thrown away: they are numbered when the records are read.
		if err := in.open(&ifaceTable{}); err != nil {
			return err
		}
		var err error
		buf, recs, err = in.readBlock(buf, recs[:0])
		if err == nil {
			first = recs[0].Time
		} else {
			first = math.MaxInt64 // no records: last, so that no other takes over its interfaces
		}
		in.close()
		in.rewind()
		m.waiting = append(m.waiting, waitingInput{in, first, false})
	}
	slices.SortStableFunc(m.waiting, func(a, b waitingInput) int { return cmp.Compare(a.first, b.first) })
	return nil
}

// rewind forgets what looking into the input found, but for what it is.
func (in *input) rewind() {
	in.bytes.Store(0)
	in.mu.Lock()
	in.info.Packets, in.info.Error, in.info.Complete = 0, "", false
	in.mu.Unlock()
}

// readBlock gives the next block of the merged order.
func (m *merger) readBlock(buf []byte, recs []Record) ([]byte, []Record, error) {
	buf = buf[:0]
	for {
		if m.wouldWait() && len(recs) > 0 {
			return buf, recs, nil
		}
		m.refill()
		m.activate()
		c, limit := m.next()
		if c == nil {
			break
		}
		if len(recs) == 0 && c.pos == 0 && (place{c.most, c.in.index}).before(limit) {
			whole, wholeRecs := c.buf, c.recs
			c.pass()
			c.buf, c.recs = buf, recs
			return whole, wholeRecs, nil
		}
		var full bool
		if buf, recs, full = c.copyUntil(limit, buf, recs); full {
			return buf, recs, nil
		}
	}
	if len(recs) == 0 {
		return buf, recs, io.EOF
	}
	return buf, recs, nil
}

// wouldWait says whether going on may have to wait for a slow stream.
func (m *merger) wouldWait() bool {
	for _, c := range m.active {
		if c.used() && c.in.live {
			return true
		}
	}
	return false
}

// refill reads the next block of every input whose last one is used up, and
// drops those that have ended.
func (m *merger) refill() {
	m.active = slices.DeleteFunc(m.active, func(c *cursor) bool { return c.used() && !c.read() })
}

// activate opens the files whose records come next. A file that starts when
// another has ended is opened after that, and may take over its interfaces.
func (m *merger) activate() {
	for len(m.waiting) > 0 {
		w := m.waiting[0]
		if nearest := m.nearest(nil); !w.place().before(nearest) {
			return
		}
		m.waiting = m.waiting[1:]
		if !w.open {
			if err := w.in.open(m.tab); err != nil { // changed since it was looked into
				w.in.fail(err)
				continue
			}
		}
		if c := (&cursor{in: w.in}); c.read() {
			m.active = append(m.active, c)
		}
	}
}

// nearest is the first place among the active inputs other than c.
func (m *merger) nearest(c *cursor) place {
	p := nowhere
	for _, o := range m.active {
		if q := o.place(); o != c && q.before(p) {
			p = q
		}
	}
	return p
}

// next is the input that has the next record, and the place up to which it
// may be read before another one's turn.
func (m *merger) next() (*cursor, place) {
	var c *cursor
	for _, o := range m.active {
		if c == nil || o.place().before(c.place()) {
			c = o
		}
	}
	limit := m.nearest(c)
	if len(m.waiting) > 0 {
		if p := m.waiting[0].place(); p.before(limit) {
			limit = p
		}
	}
	return c, limit
}

func (w waitingInput) place() place { return place{w.first, w.in.index} }

func (c *cursor) used() bool { return c.pos == len(c.recs) }

// read fetches the input's next block; false: it has ended.
func (c *cursor) read() bool {
	var err error
	c.buf, c.recs, err = c.in.readBlock(c.buf, c.recs[:0])
	c.pos, c.most = 0, math.MinInt64
	last := c.last
	for i := range c.recs {
		if c.recs[i].Flags&FlagNoTime == 0 {
			last = c.recs[i].Time
		}
		c.most = max(c.most, last)
	}
	return err == nil
}

// pass notes the time of the block's last record, which is handed over.
func (c *cursor) pass() {
	for c.pos = len(c.recs) - 1; c.pos > 0 && c.recs[c.pos].Flags&FlagNoTime != 0; c.pos-- {
	}
	c.last, c.pos = c.place().time, 0
}

// place is that of the next record. One without a time stays with the record
// before it.
func (c *cursor) place() place {
	if r := &c.recs[c.pos]; r.Flags&FlagNoTime == 0 {
		return place{r.Time, c.in.index}
	}
	return place{c.last, c.in.index}
}

// copyUntil appends the records before limit to a block of the merged order,
// until that is full.
func (c *cursor) copyUntil(limit place, buf []byte, recs []Record) ([]byte, []Record, bool) {
	for ; !c.used() && c.place().before(limit); c.pos++ {
		r := c.recs[c.pos]
		if len(recs) == maxMerged {
			return buf, recs, true
		}
		if n := len(buf) + int(r.Cap); n > cap(buf) || cap(buf) < blockBytes {
			if len(recs) > 0 {
				return buf, recs, true
			}
			buf = make([]byte, 0, max(n, blockBytes))
		}
		c.last = c.place().time
		frame := c.buf[r.Off : r.Off+r.Cap]
		r.Off = uint32(len(buf))
		buf = append(buf, frame...)
		recs = append(recs, r)
	}
	return buf, recs, false
}
