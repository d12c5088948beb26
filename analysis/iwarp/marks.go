package iwarp

import "rdmascope/decode/wire"

// marks counts what the link and the network wrote on a direction's packets.
type marks struct {
	mac    wire.MAC // first seen
	hasMAC bool
	dscp   few
	vlan   few
	pcp    [8]int64
	tagged bool
}

func (m *marks) add(s *segment) {
	m.dscp.add(uint16(s.tos >> 2))
	if !m.hasMAC && s.hasMAC {
		m.mac, m.hasMAC = s.mac, true
	}
	if s.hasVLAN {
		m.tagged = true
		m.vlan.add(s.vid)
		m.pcp[s.pcp&7]++
	}
}

// few counts packets by a value of which one direction uses a few at most.
type few struct {
	n      uint8
	values [4]uint16
	counts [4]int64
	others int64
}

func (f *few) add(v uint16) {
	for i := range f.n {
		if f.values[i] == v {
			f.counts[i]++
			return
		}
	}
	if int(f.n) < len(f.values) {
		f.values[f.n], f.counts[f.n] = v, 1
		f.n++
		return
	}
	f.others++
}

// table is nil where there is nothing.
func (f *few) table() map[uint16]int64 {
	if f.n == 0 {
		return nil
	}
	t := make(map[uint16]int64, f.n)
	for i := range f.n {
		t[f.values[i]] = f.counts[i]
	}
	return t
}
