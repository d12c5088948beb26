package synth

import (
	"encoding/hex"
	"encoding/json"
	"net/netip"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vector is a frame that was made and checked elsewhere (three other codes and
// tshark), and what it holds.
type vector struct {
	Name     string
	Linktype int
	Hex      string
	Expected map[string]any
	frame    []byte
}

func vectors(t testing.TB, file string) []vector {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "vectors", file+".json"))
	require.NoError(t, err)
	var vs []vector
	require.NoError(t, json.Unmarshal(raw, &vs))
	for i := range vs {
		vs[i].frame, err = hex.DecodeString(vs[i].Hex)
		require.NoError(t, err, vs[i].Name)
	}
	require.NotEmpty(t, vs)
	return vs
}

// num reads an expected number; big ones are written as strings.
func (v *vector) num(key string) uint64 {
	switch x := v.Expected[key].(type) {
	case float64:
		return uint64(x)
	case string:
		n, err := strconv.ParseUint(x, 0, 64)
		if err != nil {
			panic(v.Name + " " + key + ": " + err.Error())
		}
		return n
	}
	return 0
}

// packet rebuilds the transport packet from the expected fields alone; the
// payload is cut from the frame, whose headers begin at bth and which ends
// with tail octets of check sums.
func (v *vector) packet(bth, tail int) Packet {
	p := Packet{
		Opcode: uint8(v.num("opcode")), DestQP: uint32(v.num("destqp")), PSN: uint32(v.num("psn")),
		SE: v.num("se") == 1, MigReq: v.num("migreq") == 1, AckReq: v.num("ackreq") == 1,
		FECN: v.num("fecn") == 1, BECN: v.num("becn") == 1,
		PKey: uint16(v.num("pkey")), TVer: uint8(v.num("tver")),
		EECN: uint32(v.num("eecn")), QKey: uint32(v.num("qkey")), SrcQP: uint32(v.num("srcqp")),
		XRCSRQ: uint32(v.num("xrc_srq")),
		VA:     v.num("reth_va"), RKey: uint32(v.num("reth_rkey")), DMALen: uint32(v.num("reth_len")),
		SwapAdd: v.num("at_swap_add"), Compare: v.num("at_cmp"),
		Syndrome: uint8(v.num("aeth_syndrome")), MSN: uint32(v.num("aeth_msn")),
		Original: v.num("atomic_orig"), Imm: uint32(v.num("immdt")), InvKey: uint32(v.num("ieth_rkey")),
		Placement: uint8(v.num("feth_plt")), Selectivity: uint8(v.num("feth_sel")),
	}
	end := len(v.frame) - tail - int(v.num("padcnt"))
	p.Payload = v.frame[bth+p.size() : end]
	return p
}

var (
	macA  = MAC{0x7c, 0xfe, 0x90, 0x64, 0x3b, 0x32}
	macB  = MAC{0xe4, 0x1d, 0x2d, 0xab, 0x2b, 0xc2}
	addrA = netip.MustParseAddr("192.0.2.17")
	addrB = netip.MustParseAddr("192.0.2.66")
	pathA = Path{SrcMAC: macA, DstMAC: macB, Src: addrA, Dst: addrB, TOS: 0x68, ID: 0x1234, SrcPort: 0xc0de}
	path6 = Path{
		SrcMAC: macA, DstMAC: macB, TOS: 0x68, FlowLabel: 0x12345, SrcPort: 0xc0de,
		Src: netip.MustParseAddr("2001:db8:1::17"), Dst: netip.MustParseAddr("2001:db8:2::66"),
	}
)

// onPath tells how a vector travels where it isn't the common path.
var onPath = map[string]func(p *Path){
	"rc_send_only_vlan_pcp3":          func(p *Path) { p.VLANs = []VLAN{{PCP: 3, VID: 100}} },
	"rc_send_only_qinq":               func(p *Path) { p.VLANs = []VLAN{{TPID: EtherQinQ, PCP: 3, DEI: false, VID: 10}, {PCP: 3, VID: 100}} },
	"rc_send_only_dscp26_ce":          func(p *Path) { p.TOS = 26<<2 | 3 },
	"ipv6_rc_send_only_pad3":          func(p *Path) { *p = path6 },
	"ipv6_vlan_rc_write_only":         func(p *Path) { *p = path6; p.VLANs = []VLAN{{PCP: 3, VID: 7}} },
	"icrc_invariant_ttl_minus1":       func(p *Path) { p.TTL = 63 },
	"icrc_invariant_dscp46_ce":        func(p *Path) { p.TOS = 46<<2 | 3 },
	"icrc_invariant_udp_checksum_set": func(p *Path) { p.UDPChecksum = 0xbeef },
	"icrc_invariant_vlan_added":       func(p *Path) { p.VLANs = []VLAN{{PCP: 3, VID: 5}} },
	"icrc_differs_ip_id_changed":      func(p *Path) { p.ID++ },
	"icrc_differs_sport_changed":      func(p *Path) { p.SrcPort++ },
	"icrc_differs_dst_ip_changed":     func(p *Path) { p.Dst = netip.MustParseAddr("192.0.2.67") },
	"icrc_differs_df_cleared":         func(p *Path) { p.MayFragment = true },
	"cnp_ipv4_spec_migreq1":           func(p *Path) { p.TOS = 48 << 2 },
	"cnp_ipv6":                        func(p *Path) { *p = path6; p.TOS = 48 << 2 },
	"cnp_ipv4_vlan_pcp6":              func(p *Path) { p.TOS = 48 << 2; p.VLANs = []VLAN{{PCP: 6, VID: 100}} },
}

func TestRoCEv2Vectors(t *testing.T) {
	for _, file := range []string{"rocev2", "icrc", "cnp"} {
		for _, v := range vectors(t, file) {
			t.Run(v.Name, func(t *testing.T) {
				path := pathA
				if f := onPath[v.Name]; f != nil {
					f(&path)
				}
				bth := 14 + 4*len(path.VLANs) + 28
				if !path.Src.Is4() {
					bth += 20
				}
				p := v.packet(bth, 4)
				switch v.Name {
				case "icrc_invariant_fecn_set":
					p.FECN = true // the vector doesn't list it
				case "icrc_bad_payload_bitflip":
					p.VA, p.RKey, p.DMALen = 0x7f3a10002000, 0x1a2b3c, 8 // nor these
					p.Payload = append([]byte(nil), p.Payload...)
					p.Payload[len(p.Payload)-1] ^= 1
					got := AppendRoCEv2(nil, &path, &p)
					got[len(got)-5] ^= 1
					require.Equal(t, v.frame, got)
					return
				}
				require.Equal(t, v.Hex, hex.EncodeToString(AppendRoCEv2(nil, &path, &p)))
			})
		}
	}
}

func TestRoCEv1Vectors(t *testing.T) {
	vs := vectors(t, "rocev1")
	require.Len(t, vs, 1)
	v := vs[0]
	path := Path{SrcMAC: macA, DstMAC: macB, VLANs: []VLAN{{PCP: 4, VID: 200}}}
	grh := GRH{TClass: 104, FlowLabel: 703710, HopLimit: 1,
		SGID: netip.MustParseAddr("fe80::7efe:90ff:fe64:3b32").As16(),
		DGID: netip.MustParseAddr("fe80::e61d:2dff:feab:2bc2").As16()}
	p := v.packet(18+40, 4)
	require.Equal(t, v.Hex, hex.EncodeToString(AppendRoCEv1(nil, &path, &grh, &p)))
}

func TestNativeVectors(t *testing.T) {
	global := GRH{TClass: 0x20 | 0x02, FlowLabel: 0x12345, HopLimit: 63,
		SGID: netip.MustParseAddr("fe80::1").As16(), DGID: netip.MustParseAddr("fe80::2").As16()}
	for _, v := range vectors(t, "native_ib") {
		t.Run(v.Name, func(t *testing.T) {
			erf := v.Linktype == LinkERF
			frame := v.frame
			if erf {
				v.frame = frame[16 : 16+v.num("erf_wlen")]
			}
			l := LRH{VL: uint8(v.num("lrh_vl")), SL: uint8(v.num("lrh_sl")), DLID: uint16(v.num("dlid")), SLID: uint16(v.num("slid"))}
			var g *GRH
			bth := 8
			if v.num("lrh_lnh") == 3 {
				g = &global
				g.TClass = uint8(v.num("grh_tclass"))
				bth += 40
			}
			p := v.packet(bth, 6)
			got := AppendIB(nil, &l, g, &p)
			require.Equal(t, hex.EncodeToString(v.frame), hex.EncodeToString(got))
			if erf {
				e := ERF{Time: 1717000000_000000000, Type: ERFInfiniBand, Flags: 4}
				require.Equal(t, hex.EncodeToString(frame), hex.EncodeToString(e.Append(nil, got)))
			}
		})
	}
}

func TestPauseVectors(t *testing.T) {
	for _, v := range vectors(t, "pfc") {
		if v.num("macc_opcode") == 1 {
			assert.Equal(t, v.frame, AppendPause(nil, macA, uint16(v.num("pause_time"))), v.Name)
			continue
		}
		var q [8]uint16
		for i := range q {
			q[i] = uint16(v.num("q" + strconv.Itoa(i)))
		}
		assert.Equal(t, v.frame, AppendPFC(nil, macA, uint16(v.num("cev")), q), v.Name)
	}
}

// req is the REQ that the CM vectors share.
func req(path *Path, comm uint32, service uint64, private []byte) REQ {
	return REQ{
		LocalCommID: comm, ServiceID: service, CAGUID: 0x7cfe900300643b32, LocalQPN: 0x123,
		ResponderResources: 16, InitiatorDepth: 16, RemoteCMTimeout: 20, StartingPSN: 0x0a0b0c,
		LocalCMTimeout: 20, RetryCount: 7, PKey: 0xffff, PathMTU: 5, RNRRetry: 7, MaxCMRetries: 15,
		Primary: CMPath{
			LocalLID: 0xffff, RemoteLID: 0xffff, LocalGID: GID(path.Src), RemoteGID: GID(path.Dst),
			FlowLabel: 0x5aa5a, TClass: 0x68, HopLimit: 0x40, SubnetLocal: true, ACKTimeout: 14,
		},
		Private: append(IPCMHeader(54321, path.Src, path.Dst), private...),
	}
}

func TestCMVectors(t *testing.T) {
	nvme := []byte{0, 0, 1, 0, 0x7f, 0, 0x80, 0}
	nfs := []byte{0xf6, 0xab, 0x0e, 0x18, 1, 1, 3, 3}
	const tid, a, b = 0xabcdef, 0x11223344, 0x55667788
	back := pathA // the vectors turn the addresses around, but not the MACs
	back.Src, back.Dst = addrB, addrA
	type row struct {
		path Path
		psn  uint32
		mad  MAD
	}
	r := func(path Path, comm uint32, port uint16, private []byte) MAD {
		q := req(&path, comm, ServiceID(6, port), private)
		return q.MAD(tid)
	}
	rep := REP{LocalCommID: b, RemoteCommID: a, LocalQPN: 0x456, StartingPSN: 0x0d0e0f, ResponderResources: 16,
		InitiatorDepth: 16, TargetACKDelay: 15, RNRRetry: 7, SRQ: true, CAGUID: 0xe41d2d0300ab2bc2, Private: []byte{0, 0, 0x80, 0}}
	udp := ServiceID(0x11, 7174)
	rows := map[string]row{
		"cm_req_nvme_ipv4":            {pathA, 1, r(pathA, a, 4420, nvme)},
		"cm_req_iser_ipv4":            {pathA, 2, r(pathA, 0x11223355, 3260, nil)},
		"cm_req_nfsrdma_ipv4":         {pathA, 3, r(pathA, 0x11223366, 20049, nfs)},
		"cm_req_ipv6":                 {path6, 4, r(path6, 0x11223377, 4420, nil)},
		"cm_rep":                      {back, 1, rep.MAD(tid)},
		"cm_rtu":                      {pathA, 2, RTU(tid, a, b, nil)},
		"cm_dreq":                     {pathA, 3, DREQ(tid, a, b, 0x456, nil)},
		"cm_drep":                     {back, 4, DREP(tid, b, a, nil)},
		"cm_rej_28_consumer_defined":  {back, 5, REJ(tid, 0, a, 0, 28, nil, []byte{0, 0, 6, 0})},
		"cm_rej_8_invalid_service_id": {back, 5, REJ(tid, 0, a, 0, 8, nil, nil)},
		"cm_rej_10_stale_conn":        {back, 5, REJ(tid, 0, a, 0, 10, nil, nil)},
		"cm_mra":                      {back, 6, MRA(tid, b, a, 0, 22, nil)},
		"cm_sidr_req":                 {pathA, 7, SIDRREQ(tid, 0xaabbccdd, 0xffff, udp, IPCMHeader(54321, addrA, addrB))},
		"cm_sidr_rep":                 {back, 8, SIDRREP(tid, 0xaabbccdd, 0, 0x777, udp, 0x01234567, nil)},
	}
	for _, v := range vectors(t, "cm") {
		row, ok := rows[v.Name]
		require.True(t, ok, v.Name)
		m := row.mad
		p := MADPacket(row.psn, &m)
		p.MigReq = true
		assert.Equal(t, v.Hex, hex.EncodeToString(AppendRoCEv2(nil, &row.path, &p)), v.Name)
	}
}
