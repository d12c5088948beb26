package pcaps

import "slices"

// ifaceRun is a run of records of one interface: those up to the given one of
// their window.
type ifaceRun struct {
	end   int64
	iface uint16
}

// note adds the block that was just delivered to the table. It is contiguous in
// one file when one input delivered all of it and has nothing more at hand, then
// and before; what several inputs mixed is left out.
func (x *Indexed) note(recs []Record) {
	var from []int
	for i, in := range x.files.inputs {
		// No lock for what the input counts: the goroutine that reads is this one.
		done := in.info.Packets - x.pending(in)
		if done != x.track[i].done {
			x.track[i].done = done
			from = append(from, i)
		}
	}
	if len(from) == 1 {
		if w, ok := x.advance(from[0], recs); ok {
			x.add(w)
		}
		return
	}
	for _, i := range from {
		x.settle(i)
	}
}

// pending is how many records of an input were read and not yet delivered.
func (x *Indexed) pending(in *input) int64 {
	for _, c := range x.files.merge.active {
		if c.in == in {
			return int64(len(c.recs) - c.pos)
		}
	}
	return 0
}

// advance moves an input's place on, and returns the window that it passed.
func (x *Indexed) advance(i int, recs []Record) (window, bool) {
	t, in := &x.track[i], x.files.inputs[i]
	before := *t
	if !t.begun {
		before.pos, before.begun = x.start(in), true
		before.state = freshState(in)
	}
	x.settle(i)
	if t.broken || before.broken {
		return window{}, false
	}
	w := window{first: x.count + 1, count: int64(len(recs)), off: before.pos, size: t.pos - before.pos, most: x.most, input: i,
		state: t.state, skip: before.skip}
	if t.sec != before.sec { // a section began in it: its interfaces have other numbers
		w.state = before.state
		w.runs = runsOf(recs)
		x.runs += len(w.runs)
	}
	if x.spool != nil && x.spool.full { // only ever with one input
		x.refuse(refuseCompressed(in.inputInfo(), "this one is too big to keep in memory"))
		return window{}, false
	}
	return w, w.state != nil
}

// start is where an input's first record is looked for.
func (x *Indexed) start(in *input) int64 {
	if in.info.Format == FormatPcap {
		return pcapHeaderLen
	}
	return 0
}

// settle notes where an input is, between two blocks.
func (x *Indexed) settle(i int) {
	t, in := &x.track[i], x.files.inputs[i]
	t.begun, t.broken = true, x.pending(in) > 0
	read := in.bytes.Load()
	if x.spool != nil {
		read = x.spool.read
	}
	t.pos = read - int64(len(in.carry))
	if in.ended {
		t.pos = read
	}
	t.skip = skipping{}
	if g, ok := in.walk.(*pcapngFile); ok {
		t.sec, t.skip = g.sec, g.skip
	}
	t.state = t.state.of(in.walk)
}

func runsOf(recs []Record) []ifaceRun {
	var runs []ifaceRun
	for i := range recs {
		if n := len(runs); n > 0 && runs[n-1].iface == recs[i].Iface {
			runs[n-1].end = int64(i) + 1
			continue
		}
		runs = append(runs, ifaceRun{int64(i) + 1, recs[i].Iface})
	}
	return runs
}

// add appends a window, or lengthens the last one.
func (x *Indexed) add(w window) {
	if n := len(x.windows); n > 0 && x.windows[n-1].size+w.size <= x.step && x.windows[n-1].joins(&w) {
		x.windows[n-1].join(&w)
		return
	}
	x.windows = append(x.windows, w)
	if len(x.windows) < maxWindows && x.runs < maxRuns {
		return
	}
	x.step = max(2*x.step, 2*blockBytes)
	kept := x.windows[:1]
	for i := range x.windows[1:] {
		w, last := &x.windows[1+i], &kept[len(kept)-1]
		if last.size+w.size <= x.step && last.joins(w) {
			last.join(w)
			continue
		}
		kept = append(kept, *w)
	}
	clear(x.windows[len(kept):])
	x.windows = kept
	if len(kept) > maxWindows*3/4 && x.step > 1<<40 || x.runs >= maxRuns {
		x.refuse("there are too many files, or sections in them, for a table of places")
	}
}

// refuse gives up random access, and what it took.
func (x *Indexed) refuse(reason string) {
	x.reason, x.windows = reason, nil
	if x.spool != nil {
		x.spool.drop()
	}
}

// joins tells whether w goes on where the window ends, in the same state.
func (l *window) joins(w *window) bool {
	return l.input == w.input && l.off+l.size == w.off && l.first+l.count == w.first && l.state == w.state && l.runs == nil && w.runs == nil
}

func (l *window) join(w *window) {
	l.count += w.count
	l.size += w.size
	l.most = w.most
}

// walkState is a walker as it is between two blocks, to walk again from there.
// It is never changed.
type walkState struct {
	pcap *pcapFile
	ng   *pcapngFile
	erf  *erfFile
}

func freshState(in *input) *walkState {
	switch w := in.walk.(type) {
	case *pcapFile:
		return &walkState{pcap: w}
	case *pcapngFile:
		return &walkState{ng: newPcapng(w.input, nil)}
	case *erfFile:
		return &walkState{erf: w}
	}
	return nil
}

// of returns the state of a walker: the same one when nothing has changed that
// matters.
func (s *walkState) of(walk walker) *walkState {
	switch w := walk.(type) {
	case *pcapFile:
		if s == nil || s.pcap == nil {
			c := *w
			return &walkState{pcap: &c}
		}
	case *erfFile:
		if s == nil || s.erf == nil || s.erf.known != w.known {
			c := *w
			return &walkState{erf: &c}
		}
	case *pcapngFile:
		if s == nil || s.ng == nil || s.ng.sec != w.sec || s.ng.big != w.big || known(s.ng.ifaces) != known(w.ifaces) || len(s.ng.ifaces) != len(w.ifaces) {
			c := *w
			c.ifaces = slices.Clone(w.ifaces)
			return &walkState{ng: &c}
		}
	}
	return s
}

func known(list []ngInterface) (n int) {
	for i := range list {
		if list[i].known {
			n++
		}
	}
	return n
}

// walker makes a walker that goes on from the state. It numbers what it finds in
// a table of its own.
func (s *walkState) walker(skip skipping, ifaces []Interface) walker {
	tab := &ifaceTable{list: ifaces, owner: make([]*section, len(ifaces))}
	for i := range tab.owner {
		tab.owner[i] = &section{}
	}
	switch {
	case s.pcap != nil:
		c := *s.pcap
		c.tab, c.known = tab, true
		return &c
	case s.erf != nil:
		c := *s.erf
		c.tab = tab
		return &c
	}
	c := *s.ng
	c.tab, c.skip = tab, skip
	c.ifaces = slices.Clone(c.ifaces)
	if c.sec != nil {
		c.sec = &section{input: c.input}
	}
	return &c
}
