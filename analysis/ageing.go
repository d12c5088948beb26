package analysis

import (
	"math"
	"slices"

	"rdmascope/analysis/cm"
	"rdmascope/analysis/rc"
)

// An endless run forgets connections that have been idle for long, and the
// longest idle ones when there is no room for a new one. What they counted is
// kept, see aged.

// sweepsPerIdle is how often, in the time after which a connection is idle,
// the flows are looked over: one is kept for at most that part longer.
const sweepsPerIdle = 8

// evictShare is the share of a full table that makes room at once, so that
// looking for the longest idle ones costs little for each of them.
const evictShare = 8

// keptIncarnations bounds the finished incarnations of queue pairs that are
// kept beside the live ones.
const keptIncarnations = 1 << 10

// tick looks for idle connections now and then; t is the time of a packet.
func (p *partition) tick(t int64) {
	if every := p.idleNS / sweepsPerIdle; every > 0 && (t-p.swept >= every || t < p.swept) {
		p.swept = t
		p.letGo(t-p.idleNS, keptIncarnations, false)
	}
}

// makeRoom lets the longest idle connections go.
func (p *partition) makeRoom() {
	times := make([]int64, 0, len(p.flows))
	for i := range p.flows {
		if f := &p.flows[i]; f.id >= 0 {
			times = append(times, p.lastOf(f))
		}
	}
	slices.Sort(times)
	p.letGo(times[(len(times)-1)/evictShare]+1, keptIncarnations/2, true)
}

// lastOf is when the connection of a flow was last heard of.
func (p *partition) lastOf(f *flow) int64 {
	last := f.last
	if peer := p.rc.Peer(f.id); peer >= 0 {
		last = max(last, p.flows[peer].last)
	}
	return last
}

// letGo forgets the connections that were last heard of before a time, and the
// oldest finished incarnations beyond keep. math.MinInt64 is before all times;
// crowded says that it is for want of room.
func (p *partition) letGo(before int64, keep int, crowded bool) {
	b := connectionBuilder{p: &partitionResult{keys: p.table.keys, rc: &rc.Result{}}}
	ids := p.idle(before)
	for _, id := range ids {
		b.p.flows = append(b.p.flows, p.flows[id])
	}
	b.p.rc.Connections = p.rc.TakeClosed(before, ids, keep)
	p.takeArchived(b.p)
	if len(ids) > 0 || len(b.p.archived) > 0 {
		p.gather(&b, ids)
	}
	for i := range b.p.rc.Connections {
		p.aged.broken.connection(&b.p.rc.Connections[i])
	}
	for i := range b.list {
		d := &b.list[i]
		d.evicted = crowded
		for _, ref := range d.refs {
			d.keys = append(d.keys, p.table.keys[ref.id])
		}
		p.aged.add(d)
	}
	p.dropDialogues(&b)
	for _, id := range ids {
		p.forget(id)
	}
	for i := range b.p.archived {
		p.forgetMark(b.p.archived[i].mark)
	}
	if before == math.MinInt64 {
		return
	}
	for _, c := range p.iwarp.Age(before) {
		d := iwarpConnection(0, c, 1, &b.arena)
		for p.aged.has(d.ID) { // should it speak again, that one is of generation 0
			d = iwarpConnection(0, c, d.generation+1, &b.arena)
		}
		d.evicted = crowded
		p.aged.add(&d)
	}
}

// idle lists the flows whose connections were last heard of before a time.
func (p *partition) idle(before int64) (ids []int32) {
	var silent []int32
	for i := range p.flows {
		if f := &p.flows[i]; f.id >= 0 && f.last < before {
			silent = append(silent, f.id)
		}
	}
	p.rc.Settle(silent)
	for _, id := range silent {
		if p.lastOf(&p.flows[id]) < before {
			ids = append(ids, id)
		}
	}
	return ids
}

// takeArchived moves the flows of the finished incarnations in r out of the
// archive.
func (p *partition) takeArchived(r *partitionResult) {
	if len(r.rc.Connections) == 0 {
		return
	}
	gone := make(map[flowRef]bool, 2*len(r.rc.Connections))
	for i := range r.rc.Connections {
		for _, f := range r.rc.Connections[i].Flows {
			if f != nil {
				gone[flowRef{f.ID, f.Incarnation}] = true
			}
		}
	}
	p.archived = slices.DeleteFunc(p.archived, func(f flow) bool {
		if !gone[flowRef{f.id, f.incarnation}] {
			return false
		}
		r.archived = append(r.archived, f)
		return true
	})
}

// gather builds the connections of the flows ids, and of what is in b.p.
func (p *partition) gather(b *connectionBuilder, ids []int32) {
	done := make(map[int32]bool, len(ids))
	for _, id := range ids {
		if done[id] {
			continue
		}
		done[id] = true
		if peer := p.rc.Peer(id); peer >= 0 {
			done[peer] = true
		}
		if c, ok := p.rc.Connection(id); ok {
			b.p.rc.Connections = append(b.p.rc.Connections, c)
		}
	}
	b.p.cm = p.cm.Result(p.now)
	for _, d := range p.dialogues {
		b.p.cm.Dialogues = append(b.p.cm.Dialogues, *d)
	}
	b.p.marks = p.marks.Result(p.now, p.wayBack(b.p.rc))
	b.p.taps = p.taps.Result()
	b.p.copies = p.cnps.counts()
	b.buildFlows()
}

// dropDialogues forgets the dialogues of what was built: they would look as if
// no data ever followed them.
func (p *partition) dropDialogues(b *connectionBuilder) {
	if len(b.used) == 0 {
		return
	}
	first := make(map[int64]bool, len(b.used))
	for d := range b.used {
		first[d.FirstPacket] = true
	}
	p.cm.DropIf(p.now, func(d *cm.Dialogue) bool { return first[d.FirstPacket] })
	for id, d := range p.dialogues {
		if first[d.FirstPacket] {
			delete(p.dialogues, id)
		}
	}
}

// forget drops everything about a flow; its id may come again.
func (p *partition) forget(id int32) {
	f := &p.flows[id]
	p.rc.Forget(id)
	delete(p.dialogues, id)
	p.traffic.Forget(id)
	p.forgetMark(f.mark)
	p.table.remove(id)
	*f = flow{id: -1, mark: -1}
	p.free = append(p.free, id)
}

func (p *partition) forgetMark(mark int32) {
	p.marks.Forget(mark)
	p.taps.Forget(mark)
	p.freeMarks = append(p.freeMarks, mark)
	delete(p.cnps.seen, mark)
}
