package pfc

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type vector struct {
	Name     string
	Hex      string
	Expected map[string]uint64

	frame []byte
}

func vectors(t testing.TB) (out []vector) {
	t.Helper()
	raw, err := os.ReadFile("testdata/pfc.json")
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(raw, &out))
	require.NotEmpty(t, out)
	for i := range out {
		out[i].frame, err = hex.DecodeString(out[i].Hex)
		require.NoError(t, err)
	}
	return out
}

// split takes the Ethernet header off.
func split(f []byte) (dst [6]byte, body []byte) { return [6]byte(f), f[14:] }

func TestVectors(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.Name, func(t *testing.T) {
			dst, body := split(v.frame)
			f := Frame{Vector: 0xffff, Pause: 9, Reason: ReasonShort} // left over
			require.NoError(t, f.Decode(dst, body, len(body)))
			assert.Equal(t, ReasonNone, f.Reason)
			got := map[string]uint64{"macc_opcode": uint64(f.Opcode)}
			if f.Opcode == OpcodePFC {
				got["cev"] = uint64(f.Vector)
				for i, q := range f.Time {
					got[fmt.Sprintf("q%d", i)] = uint64(q)
				}
			} else {
				got["pause_time"] = uint64(f.Pause)
			}
			assert.Equal(t, v.Expected, got)
			checkLayers(t, &f, body)
		})
	}
}

// checkLayers: the gopacket layers say the same.
func checkLayers(t *testing.T, f *Frame, body []byte) {
	p := gopacket.NewPacket(body, LayerTypeMACControl, gopacket.Default)
	require.Nil(t, p.ErrorLayer())
	assert.Equal(t, f.Opcode, p.Layer(LayerTypeMACControl).(*MACControl).Opcode)
	if f.Opcode == OpcodePFC {
		l := p.Layer(LayerTypePFC).(*PFC)
		assert.Equal(t, *f, l.Frame)
		assert.Equal(t, body[2:20], l.LayerContents())
		assert.Equal(t, body[20:], l.LayerPayload())
		return
	}
	assert.Equal(t, f.Pause, p.Layer(LayerTypePAUSE).(*PAUSE).Time)
}

// field by field
var pfcBytes = []byte{
	0x01, 0x01, // opcode
	0x00, 0xa5, // vector: 0, 2, 5, 7
	0x00, 0x00, 0x11, 0x12, 0x21, 0x22, 0x31, 0x32, 0x41, 0x42, 0x00, 0x00, 0x61, 0x62, 0xff, 0xff,
}

func TestPFCFields(t *testing.T) {
	var f Frame
	require.NoError(t, f.Decode(Destination, pfcBytes, len(pfcBytes)))
	assert.Equal(t, Frame{Opcode: OpcodePFC, Vector: 0xa5,
		Time: [8]Quanta{0, 0x1112, 0x2122, 0x3132, 0x4142, 0, 0x6162, 0xffff}}, f)
	for i, want := range []string{"XON", "", "XOFF", "", "", "XON", "", "XOFF"} {
		assert.Equal(t, want != "", f.Enabled(i), i)
		assert.Equal(t, want == "XON", f.XON(i), i)
		assert.Equal(t, want == "XOFF", f.XOFF(i), i)
	}
	for _, i := range []int{-1, 8, 100, math.MinInt} {
		assert.False(t, f.Enabled(i) || f.XON(i) || f.XOFF(i))
	}
	p, ok := f.LowestEnabled()
	assert.True(t, ok)
	assert.Equal(t, 0, p)
	f.Vector = 0xff80
	p, ok = f.LowestEnabled()
	assert.True(t, ok)
	assert.Equal(t, 7, p)
	f.Vector = 0xff00
	_, ok = f.LowestEnabled()
	assert.False(t, ok)
	f = Frame{Opcode: OpcodePAUSE, Vector: 1}
	_, ok = f.LowestEnabled()
	assert.False(t, ok)
	assert.False(t, f.Enabled(0))
}

// Every prefix: cut when the frame was longer on the wire, malformed when not.
func TestPrefixes(t *testing.T) {
	pause := []byte{0x00, 0x01, 0x12, 0x34}
	for _, b := range [][]byte{pfcBytes, pause} {
		for n := range len(b) {
			var f Frame
			assert.ErrorIs(t, f.Decode(Destination, b[:n], len(b)), ErrTruncated, n)
			assert.Equal(t, ReasonNone, f.Reason)
			err := f.Decode(Destination, b[:n], n)
			assert.ErrorIs(t, err, ErrMalformed, n)
			assert.NotErrorIs(t, err, ErrTruncated)
			assert.Equal(t, ReasonShort, f.Reason)
			if len(b) == 20 {
				assert.Equal(t, n >= 4, f.Vector != 0)
				assert.Equal(t, n >= 8, f.Time[1] == 0x1112, "what is there is decoded")
			}
		}
		var f Frame
		require.NoError(t, f.Decode(Destination, append(b[:len(b):len(b)], 9, 9), len(b)), "trailers")
		require.NoError(t, f.Decode(Destination, b, 46), "cut behind the last field")
	}
}

func TestMalformed(t *testing.T) {
	other := [6]byte{0x01, 0x80, 0xc2, 0, 0, 2}
	change := func(at int, v byte) []byte {
		b := append([]byte{}, pfcBytes...)
		b[at] = v
		return b
	}
	for _, test := range []struct {
		name   string
		dst    [6]byte
		b      []byte
		wire   int
		reason Reason
	}{
		{"destination", other, pfcBytes, 20, ReasonDestination},
		{"broadcast", [6]byte{255, 255, 255, 255, 255, 255}, pfcBytes, 20, ReasonDestination},
		{"PAUSE to a station", [6]byte{2}, []byte{0, 1, 0, 0}, 46, ReasonDestination},
		{"vector", Destination, change(2, 1), 20, ReasonVector},
		{"vector 0x80", Destination, change(2, 0x80), 20, ReasonVector},
		{"33 bytes", Destination, pfcBytes, 19, ReasonShort},
		{"PAUSE of 17 bytes", Destination, []byte{0, 1, 0, 0}, 3, ReasonShort},
		{"short comes first", other, change(2, 1), 19, ReasonShort},
		{"known though cut", other, pfcBytes[:10], 20, ReasonDestination},
		{"nothing", Destination, nil, 0, ReasonShort},
		{"negative", Destination, pfcBytes, -5, ReasonShort},
		{"empty vector is none", Destination, change(3, 0), 20, ReasonNone},
	} {
		var f Frame
		err := f.Decode(test.dst, test.b, test.wire)
		assert.Equal(t, test.reason, f.Reason, test.name)
		if test.reason == ReasonNone {
			assert.NoError(t, err, test.name)
			continue
		}
		require.ErrorIs(t, err, ErrMalformed, test.name)
		assert.Equal(t, "pfc: "+test.reason.String(), err.Error())
	}
	var f Frame
	err := f.Decode(Destination, []byte{0, 2, 0, 0}, 46)
	assert.ErrorIs(t, err, ErrOpcode)
	assert.Equal(t, Opcode(2), f.Opcode)
	assert.Equal(t, "Unknown (0x0002)", f.Opcode.String())
	assert.Equal(t, "PFC", OpcodePFC.String())
	assert.Equal(t, "PAUSE", OpcodePAUSE.String())
	assert.Equal(t, "well-formed", ReasonNone.String())
	assert.Equal(t, "invalid", Reason(9).String())
}

func TestLayerErrors(t *testing.T) {
	for _, l := range []struct {
		layer layer
		n     int
	}{{new(MACControl), 2}, {new(PFC), 18}, {new(PAUSE), 2}} {
		data := make([]byte, 30)
		for n := range l.n {
			assert.ErrorIs(t, l.layer.DecodeFromBytes(data[:n], gopacket.NilDecodeFeedback), ErrTruncated)
			assert.ErrorIs(t, l.layer.DecodeFromBytes(data[:n], nil), ErrTruncated)
		}
		require.NoError(t, l.layer.DecodeFromBytes(data, nil))
		assert.Equal(t, l.layer.LayerType(), l.layer.CanDecode())
		assert.Equal(t, gopacket.LayerTypePayload, l.layer.NextLayerType())
	}
	var p PFC
	data := make([]byte, 18)
	data[0] = 1
	assert.ErrorIs(t, p.DecodeFromBytes(data, nil), ErrMalformed)
	assert.Equal(t, ReasonVector, p.Reason)
	pkt := gopacket.NewPacket([]byte{1, 1, 0}, LayerTypeMACControl, gopacket.Default)
	require.NotNil(t, pkt.ErrorLayer())
	assert.ErrorIs(t, pkt.ErrorLayer().Error(), ErrTruncated)
	assert.True(t, pkt.Metadata().Truncated)
}

func TestQuanta(t *testing.T) {
	for _, test := range []struct {
		gbps      float64
		quantumPs int64
		allNs     int64 // 65535 quanta, rounded down
	}{
		{0.01, 51_200_000, 3_355_392_000}, {0.1, 5_120_000, 335_539_200}, {1, 512_000, 33_553_920},
		{10, 51_200, 3_355_392}, {25, 20_480, 1_342_156}, {40, 12_800, 838_848}, {50, 10_240, 671_078},
		{100, 5_120, 335_539}, {200, 2_560, 167_769}, {400, 1_280, 83_884}, {800, 640, 41_942}, {1600, 320, 20_971},
	} {
		bps := uint64(test.gbps * 1e9)
		assert.Equal(t, test.quantumPs, Quanta(1).Picoseconds(bps), test.gbps)
		for _, q := range []Quanta{0, 1, 2, 255, 65535} {
			assert.Equal(t, test.quantumPs*int64(q), q.Picoseconds(bps), "exact")
			assert.Equal(t, time.Duration(test.quantumPs*int64(q)/1000), q.Duration(bps))
		}
		assert.EqualValues(t, test.allNs, Quanta(65535).Duration(bps), test.gbps)
	}
	assert.EqualValues(t, 65535*512, Quanta(65535).BitTimes())
	assert.Zero(t, Quanta(65535).Duration(0))
	assert.Zero(t, Quanta(65535).Picoseconds(0))
	assert.EqualValues(t, math.MaxInt64, Quanta(65535).Picoseconds(1), "saturates")
	assert.EqualValues(t, math.MaxInt64, Quanta(65535).Picoseconds(2), "saturates")
	assert.EqualValues(t, 65535*512*int64(1e9), Quanta(65535).Duration(1))
	assert.EqualValues(t, 0, Quanta(1).Picoseconds(math.MaxUint64))
}

func TestNoAllocations(t *testing.T) {
	var f Frame
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		_ = f.Decode(Destination, pfcBytes, 20)
		_ = f.Decode(Destination, pfcBytes[:5], 20)
		_ = f.Decode(Destination, pfcBytes[:5], 5)
		_ = f.Decode([6]byte{}, pfcBytes, 20)
		_ = f.Decode([6]byte{}, pfcBytes[1:], 20)
		_ = Quanta(7).Duration(1e11)
	}))
	layers := []layer{new(MACControl), new(PFC), new(PAUSE)}
	assert.Zero(t, testing.AllocsPerRun(100, func() {
		for _, l := range layers {
			_ = l.DecodeFromBytes(pfcBytes, nil)
			_ = l.DecodeFromBytes(pfcBytes[:1], nil)
		}
	}))
}

func FuzzPFC(f *testing.F) {
	for _, v := range vectors(f) {
		f.Add(v.frame, len(v.frame))
		f.Add(v.frame[:20], len(v.frame))
	}
	f.Fuzz(func(t *testing.T, frame []byte, wireLen int) {
		if len(frame) < 14 || wireLen < 14 {
			return
		}
		dst, body := split(frame)
		var fr Frame
		err := fr.Decode(dst, body, wireLen-14)
		if (fr.Reason != ReasonNone) != (err != nil && err != ErrTruncated && err != ErrOpcode) {
			t.Fatalf("%v with reason %v", err, fr.Reason)
		}
		if err == ErrTruncated && wireLen <= len(frame) {
			t.Fatal("called cut without being cut")
		}
		for i := range Priorities {
			if fr.XON(i) && fr.XOFF(i) || fr.Enabled(i) != (fr.XON(i) || fr.XOFF(i)) {
				t.Fatal("neither XON nor XOFF")
			}
			if d := fr.Time[i].Picoseconds(uint64(wireLen)); d < 0 {
				t.Fatal(d)
			}
		}
		gopacket.NewPacket(body, LayerTypeMACControl, gopacket.DecodeOptions{SkipDecodeRecovery: true})
	})
}

func BenchmarkFrame(b *testing.B) {
	var f Frame
	b.ReportAllocs()
	for b.Loop() {
		_ = f.Decode(Destination, pfcBytes, len(pfcBytes))
	}
}
