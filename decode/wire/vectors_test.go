package wire

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/pfc"
	"rdmascope/decode/roce"
)

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) { checkVector(t, &v) })
	}
}

// TestRealVectors has frames of real captures, which don't belong to the
// repository.
func TestRealVectors(t *testing.T) {
	for _, v := range unwrapERF(t, loadVectors(t, filepath.Join(sharedDir(t, "vectors"), "real_fetched.json"))) {
		t.Run(v.Name, func(t *testing.T) { checkVector(t, &v) })
	}
}

// vectorFields are the expectations about what Packet holds.
var vectorFields = map[string]func(p *Packet) uint64{
	"opcode":        func(p *Packet) uint64 { return uint64(p.RoCE.BTH.Opcode) },
	"destqp":        func(p *Packet) uint64 { return uint64(p.RoCE.BTH.DestQP) },
	"psn":           func(p *Packet) uint64 { return uint64(p.RoCE.BTH.PSN) },
	"padcnt":        func(p *Packet) uint64 { return uint64(p.RoCE.BTH.PadCnt) },
	"tver":          func(p *Packet) uint64 { return uint64(p.RoCE.BTH.TVer) },
	"pkey":          func(p *Packet) uint64 { return uint64(p.RoCE.BTH.PKey) },
	"ackreq":        func(p *Packet) uint64 { return bit(p.RoCE.BTH.AckReq) },
	"migreq":        func(p *Packet) uint64 { return bit(p.RoCE.BTH.MigReq) },
	"se":            func(p *Packet) uint64 { return bit(p.RoCE.BTH.SE) },
	"becn":          func(p *Packet) uint64 { return bit(p.RoCE.BTH.BECN) },
	"fecn":          func(p *Packet) uint64 { return bit(p.RoCE.BTH.FECN) },
	"reth_va":       func(p *Packet) uint64 { va, _ := remoteAddress(p); return va },
	"reth_rkey":     func(p *Packet) uint64 { _, key := remoteAddress(p); return key },
	"reth_len":      func(p *Packet) uint64 { return uint64(p.RoCE.RETH.DMALen) },
	"aeth_syndrome": func(p *Packet) uint64 { return uint64(p.RoCE.AETH.Syndrome) },
	"aeth_msn":      func(p *Packet) uint64 { return uint64(p.RoCE.AETH.MSN) },
	"qkey":          func(p *Packet) uint64 { return uint64(p.RoCE.DETH.QKey) },
	"srcqp":         func(p *Packet) uint64 { return uint64(p.RoCE.DETH.SrcQP) },
	"payload_len":   func(p *Packet) uint64 { return uint64(p.RoCE.PayloadLen) },
	"ip_dscp":       func(p *Packet) uint64 { return uint64(p.DSCP()) },
	"ip_ecn":        func(p *Packet) uint64 { return uint64(p.ECN()) },
	"vlan_pcp":      func(p *Packet) uint64 { return uint64(p.PCP) },
	"vlan_vid":      func(p *Packet) uint64 { return uint64(p.VID) },
	"grh_tclass":    func(p *Packet) uint64 { return uint64(p.TOS) },
	"grh_hop":       func(p *Packet) uint64 { return uint64(p.TTL) },
	"slid":          func(p *Packet) uint64 { lid, _ := p.Src.LID(); return uint64(lid) },
	"dlid":          func(p *Packet) uint64 { lid, _ := p.Dst.LID(); return uint64(lid) },
	"vni":           func(p *Packet) uint64 { return uint64(p.Encap.IDs[0]) },
	"mpls_label":    func(p *Packet) uint64 { return uint64(p.Encap.IDs[0]) },
	"er_session":    func(p *Packet) uint64 { return uint64(p.Encap.IDs[0]) },
	"inner_offset":  func(p *Packet) uint64 { return uint64(p.NetOff) - 14 },
}

// remoteAddress is in the RETH, or in the AtomicETH, which the vectors name
// alike.
func remoteAddress(p *Packet) (va, key uint64) {
	if p.RoCE.Present.Has(roce.HeaderAtomicETH) {
		return p.RoCE.AtomicETH.VA, uint64(p.RoCE.AtomicETH.RKey)
	}
	return p.RoCE.RETH.VA, uint64(p.RoCE.RETH.RKey)
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func checkVector(t *testing.T, v *vector) {
	p := packetOf(Config{}, uint16(v.LinkType), v.frame(t), v.wireLen(t))
	if _, ok := v.Expected["macc_opcode"]; ok {
		checkPFC(t, v, p)
		return
	}
	_, cm := v.Expected["mad_attr"]
	for key, of := range vectorFields {
		if cm && key == "qkey" && p.RoCE.DETH.QKey == gsiQKey {
			continue // also the name of a field of SIDR_REP: see checkCM
		}
		if want, ok := v.number(t, key); ok {
			assert.Equal(t, want, of(p), key)
		}
	}
	if _, ok := v.Expected["opcode"]; !ok {
		return
	}
	require.True(t, p.Has(FlagBTH), "no BTH: %s", p.Stop)
	assert.True(t, p.Kind.IsRoCE())
	checkICRC(t, v, p)
	checkTapTime(t, v, p)
	if cm {
		checkCM(t, v, p)
	}
}

const gsiQKey = 0x80010000 // of all datagrams to QP1 (IBTA 10.2.5)

// cmNames has for each expectation about a management datagram the end of the
// name of the tree's field, one of several.
var cmNames = map[string][]string{
	"mad_attr": {"mad.attributeid"}, "mad_method": {"mad.method"}, "mad_class": {"mad.mgmtclass"},
	"lcid":       {"cm.req", "cm.rep", ".localcommid"},
	"rcid":       {".remotecommid"},
	"service_id": {".serviceid"}, "ca_guid": {".localcaguid"}, "local_qpn": {".localqpn"},
	"resp_res": {".responderres", ".respres"}, "init_depth": {".initdepth"}, "remote_cm_to": {".remoteresptout"},
	"transport": {".transpsvctype"}, "e2e_fc": {".e2eflowctrl"}, "start_psn": {".startpsn"},
	"local_cm_to": {".localresptout"}, "retry_count": {"req.retrcount"}, "cm_pkey": {"req.pkey"}, "path_mtu": {".pppmtu"},
	"rnr_retry": {".rnrretrcount"}, "max_cm_retries": {".maxcmretr"}, "srq": {".srq"}, "flow_label": {".prim_flowlabel"},
	"tclass": {".prim_tfcclass"}, "hoplimit": {".prim_hoplim"}, "sl": {".prim_sl"}, "ack_timeout": {".prim_localacktout"},
	"ipcm_ipv": {".ipv"}, "ipcm_sport": {".sport"}, "ipcm_sip4": {".sip4"}, "ipcm_dip4": {".dip4"}, "ipcm_sip6": {".sip6"},
	"ipcm_dip6": {".dip6"}, "tgt_ack_delay": {".tgtackdelay"}, "failover": {".failoveracc"}, "remote_qpn": {".remoteqpneecn"},
	"msg_rejected": {".msgrej"}, "reject_info_len": {".rejinfolen"}, "reason": {".reason"}, "msg_mraed": {"mra.message"},
	"service_timeout": {".servicetimeout"}, "request_id": {".requestid"}, "sidr_pkey": {"sidrreq.pkey"},
	"status": {"sidrrep.status"}, "qpn": {"sidrrep.qpn"},
}

// checkCM holds the tree's fields of a connection management message against
// the vector's.
func checkCM(t *testing.T, v *vector, p *Packet) {
	class, ok := MADClass(p)
	require.True(t, ok)
	assert.Equal(t, uint8(roce.MgmtClassCommMgt), class)
	tree := Tree(p)
	for key, ends := range cmNames {
		want, ok := v.Expected[key]
		if !ok {
			continue
		}
		n := findEnd(tree, ends)
		require.NotNil(t, n, key)
		if n.Numeric && n.Name != "infiniband.cm.req.ip_cm.sip4" && n.Name != "infiniband.cm.req.ip_cm.dip4" {
			num, _ := v.number(t, key)
			assert.Equal(t, num, n.Raw, key)
		} else {
			assert.Equal(t, want, n.Value, key)
		}
	}
}

// findEnd returns the first node with a value whose name ends so.
func findEnd(tree []Node, ends []string) *Node {
	for i := range tree {
		n := &tree[i]
		for _, end := range ends {
			if n.Value != "" && len(n.Children) == 0 && strings.HasPrefix(n.Name, "infiniband.") && strings.HasSuffix(n.Name, end) {
				return n
			}
		}
		if c := findEnd(n.Children, ends); c != nil {
			return c
		}
	}
	return nil
}

// checkICRC wants the iCRC found at its place and judged right.
func checkICRC(t *testing.T, v *vector, p *Packet) {
	want, ok := v.number(t, "icrc")
	if !ok {
		assert.Equal(t, roce.ICRCUncheckable, p.ICRC)
		return
	}
	end := p.TransOff + p.TransLen
	assert.Equal(t, uint32(want), be32(p.Data, int(end)-4), "iCRC's place")
	if v.ICRCKind == "bad" {
		assert.Equal(t, roce.ICRCBad, p.ICRC)
	} else {
		assert.Equal(t, roce.ICRCOK, p.ICRC)
	}
}

func checkTapTime(t *testing.T, v *vector, p *Packet) {
	for _, k := range [][2]string{{"av_sec", "av_nsec"}, {"mm_sec", "mm_nsec"}, {"ex_sec", "ex_nsec"}, {"er_p5_sec", "er_ts"}} {
		sec, ok := v.number(t, k[0])
		if !ok {
			continue
		}
		ns, _ := v.number(t, k[1])
		assert.True(t, p.Has(FlagTapTime))
		assert.Equal(t, int64(sec)*second+int64(ns), p.TrailerNS)
		return
	}
	assert.False(t, p.Has(FlagTapTime))
}

func checkPFC(t *testing.T, v *vector, p *Packet) {
	opcode, _ := v.number(t, "macc_opcode")
	assert.Equal(t, map[uint64]Kind{1: KindPause, 0x101: KindPFC}[opcode], p.Kind)
	var f pfc.Frame
	require.NoError(t, f.Decode(p.EthDst, p.Data[p.TransOff:], int(p.TransLen)))
	if cev, ok := v.number(t, "cev"); ok {
		for i := range pfc.Priorities {
			q, _ := v.number(t, "q"+string(rune('0'+i)))
			assert.Equal(t, cev>>i&1 == 1, f.Enabled(i))
			assert.Equal(t, q, uint64(f.Time[i]))
		}
	}
}

// TestEveryPrefix cuts every vector at every octet: the decoder must say that
// the capture was cut, never that the packet was malformed, and what it says of
// the headers that are there must not change.
func TestEveryPrefix(t *testing.T) {
	d := NewDecoder(Config{})
	for _, v := range vectors(t) {
		whole := v.frame(t)
		full := packetOf(Config{}, uint16(v.LinkType), whole, v.wireLen(t))
		for n := range whole {
			p := &Packet{Time: vectorTime, Data: whole[:n:n], Wire: uint32(v.wireLen(t)), Link: uint16(v.LinkType)}
			d.Decode(p)
			require.True(t, p.Has(FlagCut), "%s cut at %d", v.Name, n)
			if full.Stop.Reason == ReasonNone {
				require.Contains(t, []Reason{ReasonNone, ReasonCut}, p.Stop.Reason, "%s cut at %d: %s", v.Name, n, p.Stop)
			}
			if p.Has(FlagBTH) {
				require.Equal(t, full.RoCE.BTH, p.RoCE.BTH, "%s cut at %d", v.Name, n)
				require.Equal(t, full.TransLen, p.TransLen, "%s cut at %d", v.Name, n)
			}
			if p.Has(FlagBTH) && p.Stop.Reason == ReasonNone {
				require.Equal(t, full.RoCE.PayloadLen, p.RoCE.PayloadLen, "%s cut at %d", v.Name, n)
				require.Equal(t, full.RoCE.Present, p.RoCE.Present, "%s cut at %d", v.Name, n)
			}
			require.NotPanics(t, func() { Tree(p); _ = Summary(p); MADClass(p) }, "%s cut at %d", v.Name, n)
		}
	}
}

// TestReuse decodes all vectors into one Packet and expects of each what a
// fresh one has: nothing that is valid may be left over.
func TestReuse(t *testing.T) {
	d, all := NewDecoder(Config{}), vectors(t)
	var reused Packet
	for range 2 {
		for _, v := range all {
			b := v.frame(t)
			fresh := packetOf(Config{}, uint16(v.LinkType), b, v.wireLen(t))
			reused.Number, reused.Time, reused.Data, reused.Wire, reused.Link = 1, vectorTime, b, uint32(v.wireLen(t)), uint16(v.LinkType)
			reused.Flags, reused.Dir = 0, DirUnknown
			d.Decode(&reused)
			got, want := reused, *fresh
			assert.Equal(t, want.RoCE.Present, got.RoCE.Present, v.Name)
			assert.Equal(t, Tree(fresh), Tree(&reused), v.Name)
			got.RoCE, want.RoCE = roce.Headers{}, roce.Headers{}
			got.TCP, want.TCP = TCPHeader{}, TCPHeader{}
			assert.Equal(t, want, got, v.Name)
		}
	}
}
