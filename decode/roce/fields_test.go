package roce

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// unhex reads bytes that are written one group per field.
func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	require.NoError(t, err)
	return b
}

// headerTests are all headers, byte by byte, each field with its own value.
func headerTests(t testing.TB) []struct {
	name  string
	bytes []byte
	empty func() extension
	want  extension
} {
	gid := func(b byte) (g [16]byte) {
		for i := range g {
			g[i] = b + byte(i)
		}
		return g
	}
	return []struct {
		name  string
		bytes []byte
		empty func() extension
		want  extension
	}{
		{"BTH", unhex(t, "0a f1 8001  c0 000123  80 abcdef"), func() extension { return new(BTH) },
			&BTH{BTHFields: BTHFields{Opcode: 0x0a, SE: true, MigReq: true, PadCnt: 3, TVer: 1, PKey: 0x8001,
				FECN: true, BECN: true, DestQP: 0x123, AckReq: true, PSN: 0xabcdef}}},
		{"BTH reserved bits", unhex(t, "ff 00 7fff  3f ffffff  7f 000000"), func() extension { return new(BTH) },
			&BTH{BTHFields: BTHFields{Opcode: 0xff, PKey: 0x7fff, Resv6: 0x3f, DestQP: QPNMulticast, Resv7: 0x7f}}},
		{"BTH single bits", unhex(t, "04 20 0000  40 000000  00 000000"), func() extension { return new(BTH) },
			&BTH{BTHFields: BTHFields{Opcode: 4, PadCnt: 2, BECN: true}}},
		{"RDETH", unhex(t, "ff 123456"), func() extension { return new(RDETH) }, &RDETH{RDETHFields: RDETHFields{EECN: 0x123456}}},
		{"DETH", unhex(t, "80010000 ff 123456"), func() extension { return new(DETH) },
			&DETH{DETHFields: DETHFields{QKey: QKeyGSI, SrcQP: 0x123456}}},
		{"XRCETH", unhex(t, "ff 123456"), func() extension { return new(XRCETH) }, &XRCETH{XRCETHFields: XRCETHFields{XRCSRQ: 0x123456}}},
		{"RETH", unhex(t, "0102030405060708 090a0b0c 0d0e0f10"), func() extension { return new(RETH) },
			&RETH{RETHFields: RETHFields{VA: 0x0102030405060708, RKey: 0x090a0b0c, DMALen: 0x0d0e0f10}}},
		{"AtomicETH", unhex(t, "0102030405060708 090a0b0c 1112131415161718 2122232425262728"), func() extension { return new(AtomicETH) },
			&AtomicETH{AtomicETHFields: AtomicETHFields{VA: 0x0102030405060708, RKey: 0x090a0b0c, SwapAdd: 0x1112131415161718, Compare: 0x2122232425262728}}},
		{"AETH", unhex(t, "61 fffffe"), func() extension { return new(AETH) }, &AETH{AETHFields: AETHFields{Syndrome: 0x61, MSN: 0xfffffe}}},
		{"AtomicAckETH", unhex(t, "f102030405060708"), func() extension { return new(AtomicAckETH) },
			&AtomicAckETH{AtomicAckETHFields: AtomicAckETHFields{Original: 0xf102030405060708}}},
		{"ImmDt", unhex(t, "deadbeef"), func() extension { return new(ImmDt) }, &ImmDt{ImmDtFields: ImmDtFields{Immediate: 0xdeadbeef}}},
		{"IETH", unhex(t, "001a2b3c"), func() extension { return new(IETH) }, &IETH{IETHFields: IETHFields{RKey: 0x1a2b3c}}},
		{"FETH", unhex(t, "ffffffd2"), func() extension { return new(FETH) }, &FETH{FETHFields: FETHFields{PLT: 2, SEL: 1}}},
		{"CNP", unhex(t, "000102030405060708090a0b0c0d0e0f"), func() extension { return new(CNP) }, &CNP{CNPFields: CNPFields{Reserved: gid(0)}}},
		{"GRH", append(unhex(t, "6ab12345 0028 1b 3f"), append(unhex(t, "101112131415161718191a1b1c1d1e1f"), unhex(t, "404142434445464748494a4b4c4d4e4f")...)...),
			func() extension { return new(GRH) }, &GRH{GRHFields: GRHFields{IPVer: 6, TClass: 0xab, FlowLabel: 0x12345, PayLen: 40,
				NxtHdr: NxtHdrIBA, HopLmt: 0x3f, SGID: gid(0x10), DGID: gid(0x40)}}},
		{"LRH", unhex(t, "f0 ff 1234 f808 5678"), func() extension { return new(LRH) },
			&LRH{LRHFields: LRHFields{VL: 15, SL: 15, LNH: LNHIBAGlobal, DLID: 0x1234, PktLen: 8, SLID: 0x5678}}},
		{"MAD", unhex(t, "01 07 02 83 1234 5678 0102030405060708 0010 ffff a1a2a3a4"), func() extension { return new(MAD) },
			&MAD{MADFields: MADFields{BaseVersion: 1, MgmtClass: MgmtClassCommMgt, ClassVersion: 2, Method: 0x83, Status: 0x1234,
				ClassSpecific: 0x5678, TransactionID: 0x0102030405060708, AttributeID: AttributeREQ, AttributeModifier: 0xa1a2a3a4}}},
		{"ICRC", unhex(t, "01020304"), func() extension { return new(ICRC) }, &ICRC{Value: 0x04030201}},
		{"VCRC", unhex(t, "0102"), func() extension { return new(VCRC) }, &VCRC{Value: 0x0201}},
	}
}

// feedback records what a layer tells gopacket.
type feedback bool

func (f *feedback) SetTruncated() { *f = true }

// TestHeaderFields: each header from its bytes, with something behind it; and
// from every prefix of them.
func TestHeaderFields(t *testing.T) {
	for _, test := range headerTests(t) {
		t.Run(test.name, func(t *testing.T) {
			n := len(test.bytes)
			data := append(append([]byte{}, test.bytes...), 0xee, 0xee)
			got := test.empty()
			require.NoError(t, got.DecodeFromBytes(data, gopacket.NilDecodeFeedback))
			assert.Equal(t, test.bytes, got.LayerContents())
			assert.Equal(t, []byte{0xee, 0xee}, got.LayerPayload())
			assert.Equal(t, got.LayerType(), got.CanDecode())
			assert.Equal(t, strings.Fields(test.name)[0], got.LayerType().String())

			assert.Equal(t, fieldsOf(t, test.want), fieldsOf(t, got))
			for _, before := range []byte{0x00, 0xff} { // a reused struct keeps nothing
				reused := test.empty()
				for i := range data {
					data[i] = before
				}
				_ = reused.DecodeFromBytes(data, nil)
				copy(data, test.bytes)
				data[n], data[n+1] = 0xee, 0xee
				require.NoError(t, reused.DecodeFromBytes(data, nil))
				assert.Equal(t, got, reused)
			}
			for cut := range n {
				var f feedback
				err := test.empty().DecodeFromBytes(test.bytes[:cut], &f)
				require.ErrorIs(t, err, ErrTruncated, "%d", cut)
				require.NotErrorIs(t, err, ErrMalformed)
				assert.True(t, bool(f), "%d", cut)
			}
		})
	}
}

func fieldsOf(t testing.TB, l extension) any {
	t.Helper()
	switch l := l.(type) {
	case *BTH:
		return l.BTHFields
	case *RDETH:
		return l.RDETHFields
	case *DETH:
		return l.DETHFields
	case *XRCETH:
		return l.XRCETHFields
	case *RETH:
		return l.RETHFields
	case *AtomicETH:
		return l.AtomicETHFields
	case *AETH:
		return l.AETHFields
	case *AtomicAckETH:
		return l.AtomicAckETHFields
	case *ImmDt:
		return l.ImmDtFields
	case *IETH:
		return l.IETHFields
	case *FETH:
		return l.FETHFields
	case *CNP:
		return l.CNPFields
	case *GRH:
		return l.GRHFields
	case *LRH:
		return l.LRHFields
	case *MAD:
		return l.MADFields
	case *ICRC:
		return l.Value
	case *VCRC:
		return l.Value
	}
	require.Fail(t, "layer", "%T", l)
	return nil
}
