package analysis

import (
	"rdmascope/analysis/pause"
	"rdmascope/decode/pfc"
	"rdmascope/decode/wire"
)

// dcbxTable holds which priorities ports announce as lossless, by interface
// and source MAC: the newest announcement counts.
type dcbxTable struct {
	entries []dcbxEntry
	refused int64 // announcements of ports that there was no room for
}

type dcbxEntry struct {
	iface    uint16
	mac      wire.MAC
	heard    int64 // newest announcement
	announce int64 // how many
	pfc.DCBX
}

const (
	// maxDCBX bounds the table: one link has two ports.
	maxDCBX = 256
	// dcbxLife is how long an announcement holds when nobody renews it: the usual
	// time to live (802.1AB 9.2.5.22: 4 × 30 s, and 1). Only then does a port give
	// room to another, and the one that announced least: a flood of made-up ones
	// doesn't drive out those of the link.
	dcbxLife = 121_000_000_000
)

// frame takes an LLDP frame.
func (t *dcbxTable) frame(p *wire.Packet) {
	off := min(int(p.TransOff), len(p.Data))
	d, ok := pfc.DecodeLLDP(p.Data[off:])
	if !ok {
		return
	}
	if e := t.entry(p); e != nil {
		e.heard, e.DCBX = max(e.heard, p.Time), d
		e.announce++
	}
}

// entry is a port's place in the table, nil when there is none.
func (t *dcbxTable) entry(p *wire.Packet) *dcbxEntry {
	var least *dcbxEntry
	for i := range t.entries {
		e := &t.entries[i]
		if e.iface == p.Iface && e.mac == p.EthSrc {
			return e
		}
		if least == nil || e.announce < least.announce || e.announce == least.announce && e.heard < least.heard {
			least = e
		}
	}
	fresh := dcbxEntry{iface: p.Iface, mac: p.EthSrc, heard: p.Time}
	if len(t.entries) < maxDCBX {
		t.entries = append(t.entries, fresh)
		return &t.entries[len(t.entries)-1]
	}
	if p.Time-least.heard < dcbxLife {
		t.refused++
		return nil
	}
	*least = fresh
	return least
}

func (t *dcbxTable) clone() dcbxTable {
	return dcbxTable{append([]dcbxEntry(nil), t.entries...), t.refused}
}

// enabled is the vector of priorities for which PFC is enabled on the link of
// a pause frame's sender: its own announcement, else its peer's.
func (t *dcbxTable) enabled(iface uint16, mac wire.MAC) (vector uint8, ok bool) {
	for i := range t.entries {
		e := &t.entries[i]
		if e.iface != iface {
			continue
		}
		if e.mac == mac {
			return e.Enabled, true
		}
		vector, ok = vector|e.Enabled, true
	}
	return vector, ok
}

// notEnabled lists the sources that pause a priority which isn't announced.
func (b *pfcBuilder) notEnabled(sources []pause.Source, t *dcbxTable) (list []int) {
	for i := range sources {
		s := &sources[i]
		vector, ok := t.enabled(s.Iface, s.MAC)
		if ok && s.Priority != pause.All && s.XOFF > 0 && vector&(1<<s.Priority) == 0 {
			list = append(list, i)
		}
	}
	return list
}
