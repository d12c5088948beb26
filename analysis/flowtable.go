package analysis

import (
	"unsafe"

	"rdmascope/analysis/prefetch"
	"rdmascope/decode/wire"
)

// FlowKey names a one-way flow: everything on its way to one queue pair of
// one host from another host, at one interface of the capture. An RC request
// carries the destination QPN alone, so this is all that the wire tells; the
// UDP source port is entropy and no part of it.
type FlowKey struct {
	Iface    uint16
	Kind     wire.Kind
	Src, Dst wire.Addr
	DestQP   uint32
	_        [16]byte // to a cache line: each is read with every packet
}

func flowKey(p *wire.Packet) FlowKey {
	return FlowKey{Iface: p.Iface, Kind: p.Kind, Src: p.Src, Dst: p.Dst, DestQP: uint32(p.RoCE.BTH.DestQP)}
}

// equal is ==, field by field: the compiler's own compares the struct in
// pieces by way of memequal, since it has holes.
func (k *FlowKey) equal(o *FlowKey) bool {
	return k.DestQP == o.DestQP && k.Src.Lo == o.Src.Lo && k.Dst.Lo == o.Dst.Lo && k.Src.Hi == o.Src.Hi && k.Dst.Hi == o.Dst.Hi &&
		k.Iface == o.Iface && k.Kind == o.Kind
}

// of tells whether it is flowKey(p).
func (k *FlowKey) of(p *wire.Packet) bool {
	return k.DestQP == uint32(p.RoCE.BTH.DestQP) && k.Src.Lo == p.Src.Lo && k.Dst.Lo == p.Dst.Lo && k.Src.Hi == p.Src.Hi && k.Dst.Hi == p.Dst.Hi &&
		k.Iface == p.Iface && k.Kind == p.Kind
}

// flowTable finds the dense id of a flow. It is an open-addressing table of
// its own: a Go map keyed by a struct of 48 octets takes two to three times
// as long, and this lookup is the dearest step of the hot path.
type flowTable struct {
	slots []flowSlot // power of two, at most half full
	keys  []FlowKey  // by id
	used  int        // flows in it
	max   int
}

type flowSlot struct {
	hash uint32 // 0 only in an empty slot
	id   int32
}

func newFlowTable(limit int) flowTable {
	return flowTable{slots: make([]flowSlot, 64), max: limit}
}

// find returns the id of key, -1 if it isn't there.
func (t *flowTable) find(hash uint64, key *FlowKey) int32 {
	h := uint32(hash>>32) | 1
	mask := uint32(len(t.slots) - 1)
	for i := uint32(hash) & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s.hash == 0 {
			return -1
		}
		if s.hash == h && t.keys[s.id].equal(key) {
			return s.id
		}
	}
}

// flow returns the id of p's flow, whose hash is given, -1 if it isn't there.
func (t *flowTable) flow(hash uint64, p *wire.Packet) int32 {
	if id := t.candidate(hash); id < 0 || t.keys[id].of(p) {
		return id
	}
	key := flowKey(p) // another key's hash is alike
	return t.find(hash, &key)
}

// candidate returns the flow of hash, unless another key's hash is alike.
func (t *flowTable) candidate(hash uint64) int32 {
	h := uint32(hash>>32) | 1
	mask := uint32(len(t.slots) - 1)
	for i := uint32(hash) & mask; ; i = (i + 1) & mask {
		s := t.slots[i]
		if s.hash == 0 {
			return -1
		}
		if s.hash == h {
			return s.id
		}
	}
}

// ahead asks for the place of a hash.
func (t *flowTable) ahead(l *prefetch.List, hash uint64) {
	l.Add(unsafe.Pointer(&t.slots[uint32(hash)&uint32(len(t.slots)-1)]))
}

// isFull tells whether there is no room for another flow.
func (t *flowTable) isFull() bool { return t.used >= t.max }

// insert adds key, which isn't there, as flow id: the number of a flow that
// was removed, else the next one.
func (t *flowTable) insert(hash uint64, key *FlowKey, id int32) {
	if 2*(t.used+1) > len(t.slots) {
		t.rehash()
	}
	if int(id) == len(t.keys) {
		t.keys = append(t.keys, *key)
	} else {
		t.keys[id] = *key
	}
	t.used++
	t.put(flowSlot{uint32(hash>>32) | 1, id}, uint32(hash))
}

// remove takes a flow out. Its key stays until the id is used again.
func (t *flowTable) remove(id int32) {
	mask := uint32(len(t.slots) - 1)
	at := uint32(t.keys[id].hash()) & mask
	for t.slots[at].hash == 0 || t.slots[at].id != id {
		at = (at + 1) & mask
	}
	t.used--
	// What follows moves up where it may, so that no search ends too early.
	for next := (at + 1) & mask; t.slots[next].hash != 0; next = (next + 1) & mask {
		home := uint32(t.keys[t.slots[next].id].hash()) & mask
		if (next-home)&mask >= (next-at)&mask {
			t.slots[at] = t.slots[next]
			at = next
		}
	}
	t.slots[at] = flowSlot{}
}

func (t *flowTable) put(s flowSlot, at uint32) {
	mask := uint32(len(t.slots) - 1)
	i := at & mask
	for t.slots[i].hash != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}

// rehash doubles the table. The low half of each hash is not kept, so it is
// computed again from the keys.
func (t *flowTable) rehash() {
	old := t.slots
	t.slots = make([]flowSlot, 2*len(old))
	for _, s := range old {
		if s.hash != 0 {
			t.put(s, uint32(t.keys[s.id].hash()))
		}
	}
}

// hash equals what flowHash gave for the packets of the flow.
func (k *FlowKey) hash() uint64 {
	return flowHash(pairHash(k.Src, k.Dst), k.Dst, k.DestQP, k.Kind, k.Iface)
}
