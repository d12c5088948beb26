package roce

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// vector is one row of testdata/*.json: a frame and what it has to decode to.
// The frames were made from the specification and cross-checked with tshark,
// scapy and three independent CRC codes.
type vector struct {
	Name     string
	LinkType int
	Hex      string
	Expected map[string]any
	ICRCKind string `json:"icrc_kind"`

	frame []byte
}

var vectorFiles = []string{"rocev2", "icrc", "cnp", "rocev1", "native_ib", "cm", "ulp"}

func loadVectors(t testing.TB, path string) []vector {
	t.Helper()
	raw, err := os.ReadFile(path)
	require.NoError(t, err)
	var out []vector
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	require.NoError(t, dec.Decode(&out))
	for i := range out {
		out[i].frame, err = hex.DecodeString(out[i].Hex)
		require.NoError(t, err, out[i].Name)
	}
	return out
}

func allVectors(t testing.TB) (out []vector) {
	t.Helper()
	for _, name := range vectorFiles {
		out = append(out, loadVectors(t, filepath.Join("testdata", name+".json"))...)
	}
	return out
}

// number reads an integer that the JSON may have as a "0x…" string, because
// it is larger than a float64 can hold.
func number(t testing.TB, v any) uint64 {
	t.Helper()
	s, ok := v.(json.Number)
	text := s.String()
	if !ok {
		text, ok = v.(string)
		require.True(t, ok, "%T", v)
	}
	n, err := strconv.ParseUint(text, 0, 64)
	require.NoError(t, err)
	return n
}

// carried is a transport cut out of a frame by this minimal, independent
// scanner (the real one is in package wire).
type carried struct {
	carrier   Carrier
	packet    []byte // from the first byte that the ICRC covers, to the ICRC's end
	bth       int
	tail      []byte // behind the ICRC
	transport []byte
}

func scan(t testing.TB, v vector) carried {
	t.Helper()
	f := v.frame
	switch v.LinkType {
	case 197:
		return scanLRH(t, f[16:])
	case 247:
		return scanLRH(t, f)
	}
	typ := uint16(f[12])<<8 | uint16(f[13])
	f = f[14:]
	for typ == 0x8100 || typ == 0x88a8 || typ == 0x9100 {
		typ, f = uint16(f[2])<<8|uint16(f[3]), f[4:]
	}
	var c carried
	var end int
	switch typ {
	case 0x0800:
		require.Equal(t, byte(17), f[9], v.Name)
		c.carrier, c.bth, end = CarrierIPv4, int(f[0]&15)*4+8, int(f[2])<<8|int(f[3])
	case 0x86dd:
		c.carrier, c.bth, end = CarrierIPv6, 48, 40+(int(f[4])<<8|int(f[5]))
	case 0x8915:
		c.carrier, c.bth, end = CarrierGRH, 40, 40+(int(f[4])<<8|int(f[5]))
	default:
		require.Fail(t, "ethertype", "%s: %04x", v.Name, typ)
	}
	c.packet, c.tail = f[:end], f[end:]
	c.transport = c.packet[c.bth:]
	return c
}

func scanLRH(t testing.TB, f []byte) (c carried) {
	t.Helper()
	var lrh LRHFields
	require.NoError(t, lrh.Decode(f))
	c.carrier, c.bth = CarrierLRH, LRHLen
	if lrh.LNH == LNHIBAGlobal {
		c.carrier, c.bth = CarrierLRHGRH, LRHLen+GRHLen
	}
	c.packet, c.tail = f[:lrh.Bytes()], f[lrh.Bytes():]
	c.transport = c.packet[c.bth:]
	return c
}

func TestVectorHeaders(t *testing.T) {
	for _, v := range allVectors(t) {
		t.Run(v.Name, func(t *testing.T) { checkHeaders(t, v) })
	}
}

func checkHeaders(t *testing.T, v vector) {
	c := scan(t, v)
	var h Headers
	require.NoError(t, h.Decode(c.transport, len(c.transport)))
	assert.False(t, h.Truncated)
	b := &h.BTH
	got := map[string]uint64{
		"opcode": uint64(b.Opcode), "destqp": uint64(b.DestQP), "psn": uint64(b.PSN),
		"padcnt": uint64(b.PadCnt), "ackreq": bit(b.AckReq), "migreq": bit(b.MigReq), "se": bit(b.SE),
		"tver": uint64(b.TVer), "pkey": uint64(b.PKey), "becn": bit(b.BECN), "fecn": bit(b.FECN),
	}
	add := func(k Header, fields map[string]uint64) {
		if h.Present.Has(k) {
			for name, n := range fields {
				got[name] = n
			}
		}
	}
	add(HeaderRETH, map[string]uint64{"reth_va": h.RETH.VA, "reth_rkey": uint64(h.RETH.RKey), "reth_len": uint64(h.RETH.DMALen)})
	add(HeaderAtomicETH, map[string]uint64{"reth_va": h.AtomicETH.VA, "reth_rkey": uint64(h.AtomicETH.RKey),
		"at_swap_add": h.AtomicETH.SwapAdd, "at_cmp": h.AtomicETH.Compare})
	s := h.AETH.Syndrome
	add(HeaderAETH, map[string]uint64{"aeth_syndrome": uint64(s), "aeth_msn": uint64(h.AETH.MSN),
		"nak_code": uint64(s.NAKCode()), "rnr_timer": uint64(s.Code()), "rnr_ns": uint64(s.RNRTimer()), "credit_code": uint64(s.Code())})
	if n, ok := s.Credits(); ok && h.Present.Has(HeaderAETH) {
		got["credit_count"] = uint64(n)
	}
	add(HeaderAtomicAckETH, map[string]uint64{"atomic_orig": h.AtomicAckETH.Original})
	add(HeaderImmDt, map[string]uint64{"immdt": uint64(h.ImmDt.Immediate)})
	add(HeaderIETH, map[string]uint64{"ieth_rkey": uint64(h.IETH.RKey)})
	add(HeaderFETH, map[string]uint64{"feth_sel": uint64(h.FETH.SEL), "feth_plt": uint64(h.FETH.PLT)})
	add(HeaderDETH, map[string]uint64{"qkey": uint64(h.DETH.QKey), "srcqp": uint64(h.DETH.SrcQP)})
	add(HeaderRDETH, map[string]uint64{"eecn": uint64(h.RDETH.EECN)})
	add(HeaderXRCETH, map[string]uint64{"xrc_srq": uint64(h.XRCETH.XRCSRQ)})
	got["payload_len"] = uint64(h.PayloadLen)
	compared := 0
	for name, want := range v.Expected {
		switch name {
		case "aeth_type":
			assert.Equal(t, want, s.Kind().String())
		case "payload":
			assert.Equal(t, want, hex.EncodeToString(c.transport[h.Len:h.Len+h.PayloadLen]))
		case "opcode", "destqp", "psn", "padcnt", "ackreq", "migreq", "se", "tver", "pkey", "becn", "fecn",
			"reth_va", "reth_rkey", "reth_len", "at_swap_add", "at_cmp", "aeth_syndrome", "aeth_msn",
			"nak_code", "rnr_timer", "rnr_ns", "credit_code", "credit_count", "atomic_orig", "immdt", "ieth_rkey",
			"feth_sel", "feth_plt", "qkey", "srcqp", "eecn", "xrc_srq", "payload_len":
			if sidr := v.Expected["mad_attr"] != nil && name == "qkey"; sidr {
				continue // the Q_Key of a SIDR_REP, not of the DETH
			}
			require.Contains(t, got, name)
			assert.Equal(t, number(t, want), got[name], name)
		default:
			continue
		}
		compared++
	}
	t.Logf("%d fields", compared)
	if p, ok := v.Expected["response_psns_pmtu4096"]; ok {
		assert.EqualValues(t, number(t, p), ReadPackets(h.RETH.DMALen, 4096))
		assert.EqualValues(t, number(t, v.Expected["next_request_psn_pmtu4096"]), b.PSN.Add(int64(ReadPackets(h.RETH.DMALen, 4096))))
	}
	if _, ok := v.Expected["becn"]; ok {
		require.True(t, h.Present.Has(HeaderCNP))
		assert.True(t, h.CNP.Clean())
	}
}

func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

func TestVectorICRC(t *testing.T) {
	for _, v := range allVectors(t) {
		t.Run(v.Name, func(t *testing.T) { checkICRC(t, v) })
	}
}

func checkICRC(t *testing.T, v vector) {
	c := scan(t, v)
	before := bytes.Clone(v.frame)
	var checker ICRCChecker
	want := ICRCOK
	if v.ICRCKind == "bad" {
		want = ICRCBad
	}
	assert.Equal(t, want, checker.Check(c.carrier, c.packet, c.bth, len(c.packet)))
	assert.Equal(t, before, v.frame, "the packet was written to")

	if text, ok := v.Expected["icrc"].(string); ok {
		tail := c.packet[len(c.packet)-ICRCLen:]
		assert.Equal(t, text[2:], hex.EncodeToString(tail))
		sum, ok := checker.Sum(c.carrier, c.packet[:len(c.packet)-ICRCLen], c.bth)
		require.True(t, ok)
		// The texts have the bytes in the order of the wire.
		if want == ICRCOK {
			assert.Equal(t, tail, []byte{byte(sum), byte(sum >> 8), byte(sum >> 16), byte(sum >> 24)})
		}
	}
	if text, ok := v.Expected["vcrc"].(string); ok && len(c.tail) >= VCRCLen {
		sum := VCRCSum(c.packet)
		assert.Equal(t, c.tail[:2], []byte{byte(sum), byte(sum >> 8)})
		assert.Equal(t, text[2:], hex.EncodeToString(c.tail[:2]))
	}
	for n := range c.packet {
		require.Equal(t, ICRCUncheckable, checker.Check(c.carrier, c.packet[:n], c.bth, len(c.packet)), "cut at %d", n)
	}
}
