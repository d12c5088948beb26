package analysis

import (
	"rdmascope/analysis/pause"
	"rdmascope/decode"
	"rdmascope/decode/pfc"
)

// dcbxTable holds which priorities ports announce as lossless, by interface
// and source MAC: the newest announcement counts.
type dcbxTable []dcbxEntry

type dcbxEntry struct {
	iface uint16
	mac   decode.MAC
	pfc.DCBX
}

// maxDCBX bounds the table: one link has two ports.
const maxDCBX = 256

// frame takes an LLDP frame.
func (t *dcbxTable) frame(p *decode.Packet) {
	off := min(int(p.TransOff), len(p.Data))
	d, ok := pfc.DecodeLLDP(p.Data[off:])
	if !ok {
		return
	}
	for i := range *t {
		if e := &(*t)[i]; e.iface == p.Iface && e.mac == p.EthSrc {
			e.DCBX = d
			return
		}
	}
	if len(*t) < maxDCBX {
		*t = append(*t, dcbxEntry{p.Iface, p.EthSrc, d})
	}
}

func (t dcbxTable) clone() dcbxTable { return append(dcbxTable(nil), t...) }

// enabled is the vector of priorities for which PFC is enabled on the link of
// a pause frame's sender: its own announcement, else its peer's.
func (t dcbxTable) enabled(iface uint16, mac decode.MAC) (vector uint8, ok bool) {
	for i := range t {
		if t[i].iface != iface {
			continue
		}
		if t[i].mac == mac {
			return t[i].Enabled, true
		}
		vector, ok = vector|t[i].Enabled, true
	}
	return vector, ok
}

// notEnabled lists the sources that pause a priority which isn't announced.
func (b *pfcBuilder) notEnabled(sources []pause.Source, t dcbxTable) (list []int) {
	for i := range sources {
		s := &sources[i]
		vector, ok := t.enabled(s.Iface, s.MAC)
		if ok && s.Priority != pause.All && s.XOFF > 0 && vector&(1<<s.Priority) == 0 {
			list = append(list, i)
		}
	}
	return list
}
