package rc

import "math/bits"

// flowIndex finds a flow by where it goes. It is an open-addressing table of
// ids: a map would hold the 40 octets of each key once more.
type flowIndex struct {
	ids []int32 // id + 1, 0 for a free place; a power of two of them, at most three quarters in use
	n   int
}

func (k *cmKey) hash() uint32 {
	const a, b = 0xa0761d6478bd642f, 0xe7037ed1a0b428db
	h := uint64(k.iface)<<32 | uint64(k.qpn)
	for _, x := range [4]uint64{k.src.Hi, k.src.Lo, k.dst.Hi, k.dst.Lo} {
		hi, lo := bits.Mul64(h^a, x^b)
		h = hi ^ lo
	}
	return uint32(h>>32) ^ uint32(h)
}

func (t *flowIndex) find(flows []*flow, k cmKey) *flow {
	if len(t.ids) == 0 {
		return nil
	}
	if i, ok := t.place(flows, &k); ok {
		return flows[t.ids[i]-1]
	}
	return nil
}

// place returns where the flow of k stands, or where it would.
func (t *flowIndex) place(flows []*flow, k *cmKey) (i uint32, found bool) {
	mask := uint32(len(t.ids) - 1)
	for i = k.hash() & mask; t.ids[i] != 0; i = (i + 1) & mask {
		f := flows[t.ids[i]-1]
		if f.qpn&0xffffff == k.qpn && f.src == k.src && f.dst == k.dst && f.iface == k.iface {
			return i, true
		}
	}
	return i, false
}

// add enters a flow, in place of one that goes to the same queue pair.
func (t *flowIndex) add(flows []*flow, f *flow) {
	if 4*(t.n+1) > 3*len(t.ids) {
		old := t.ids
		t.ids, t.n = make([]int32, max(2*len(old), 8)), 0
		for _, id := range old {
			if id != 0 {
				t.enter(flows, flows[id-1])
			}
		}
	}
	t.enter(flows, f)
}

func (t *flowIndex) enter(flows []*flow, f *flow) {
	k := f.cmKey()
	i, found := t.place(flows, &k)
	if !found {
		t.n++
	}
	t.ids[i] = f.id + 1
}

// remove takes a flow out, and moves up those behind it that a search would no
// longer come to.
func (t *flowIndex) remove(flows []*flow, f *flow) {
	k := f.cmKey()
	i, found := t.place(flows, &k)
	if !found || t.ids[i] != f.id+1 {
		return // another flow has taken its place
	}
	t.n--
	mask := uint32(len(t.ids) - 1)
	for j := (i + 1) & mask; t.ids[j] != 0; j = (j + 1) & mask {
		k := flows[t.ids[j]-1].cmKey()
		if home := k.hash() & mask; (j-home)&mask >= (j-i)&mask {
			t.ids[i] = t.ids[j]
			i = j
		}
	}
	t.ids[i] = 0
}
