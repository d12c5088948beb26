package synth

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"testing"
	"time"

	"github.com/google/gopacket"
	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// small is a capture with all that a short connection does.
func small() *Scenario {
	s := &Scenario{}
	c := NewConn(s, pathA, [2]uint32{0x123, 0x456}, [2]uint32{0xfffffe, 5}, 1_700_000_000_123_456_789)
	c.Connect(4420, nil)
	c.Send(SideA, Pattern(1, 3000))
	c.Write(SideB, 0x1000, 7, Pattern(2, 5))
	c.Read(SideA, 0x2000, 7, Pattern(3, 2048))
	c.FetchAdd(SideA, 0x3000, 7, 1, 41)
	c.CompareSwap(SideA, 0x3000, 7, 1, 42, 42)
	c.Disconnect(SideA)
	return s
}

type packetReader interface {
	ReadPacketData() ([]byte, gopacket.CaptureInfo, error)
}

// same holds what a reader delivers against the scenario, to the resolution.
func same(t *testing.T, s *Scenario, r packetReader, resolution time.Duration, snap int) {
	t.Helper()
	for i := range s.Frames {
		f := &s.Frames[i]
		data, info, err := r.ReadPacketData()
		require.NoError(t, err, "frame %d", i)
		n := min(len(f.Data), snap)
		require.Equal(t, f.Data[:n], data)
		require.Equal(t, n, info.CaptureLength)
		require.Equal(t, f.WireLen(), info.Length)
		if resolution > 0 {
			require.Equal(t, time.Unix(0, f.Time).Truncate(resolution).UnixNano(), info.Timestamp.UnixNano(), "frame %d", i)
		}
	}
	_, _, err := r.ReadPacketData()
	require.ErrorIs(t, err, io.EOF)
}

func TestWritePcap(t *testing.T) {
	s := small()
	s.Cut(3, 70)
	for _, order := range []ByteOrder{binary.LittleEndian, binary.BigEndian} {
		for _, nanos := range []bool{false, true} {
			for _, snap := range []uint32{0, 96} {
				t.Run(fmt.Sprint(order, nanos, snap), func(t *testing.T) {
					var b bytes.Buffer
					require.NoError(t, s.WritePcap(&b, PcapOptions{Order: order, Nanos: nanos, SnapLen: snap}))
					r, err := pcapgo.NewReader(&b)
					require.NoError(t, err)
					assert.EqualValues(t, LinkEthernet, r.LinkType())
					resolution := time.Microsecond
					if nanos {
						resolution = time.Nanosecond
					}
					if snap == 0 {
						snap = r.Snaplen()
					}
					same(t, s, r, resolution, int(snap))
				})
			}
		}
	}
}

func TestWritePcapVariants(t *testing.T) {
	s := &Scenario{}
	s.Add(1_500_000_000, make([]byte, 60))
	var b bytes.Buffer
	require.NoError(t, s.WritePcap(&b, PcapOptions{FCS: 4}))
	assert.Equal(t, []byte{1, 0, 0, 0x24}, b.Bytes()[20:24], "FCS of two 16-bit units, and the bit that says so")
	b.Reset()
	require.NoError(t, s.WritePcap(&b, PcapOptions{Magic: magicModified}))
	assert.Len(t, b.Bytes(), 24+16+8+60)
	s.Cut(0, 50)
	b.Reset()
	require.NoError(t, s.WritePcap(&b, PcapOptions{SwapLengths: true, Major: 2, Minor: 2}))
	assert.Equal(t, []byte{60, 0, 0, 0, 50, 0, 0, 0}, b.Bytes()[24+8:24+16])
	b.Reset()
	require.NoError(t, s.WriteERF(&b, ERFEthernet))
	assert.Len(t, b.Bytes(), 72) // 16 + 2 + 50, padded to 8
	assert.Equal(t, []byte{0, 72, 0, 0, 0, 60}, b.Bytes()[10:16])
	assert.Equal(t, []byte{0, 0, 0, 0x80, 1, 0, 0, 0}, b.Bytes()[:8])
}

func TestWritePcapng(t *testing.T) {
	s := small()
	for i := range s.Frames {
		s.Frames[i].Iface = i % 2
		s.Frames[i].Dir = uint8(i % 3)
	}
	two := func(resol uint8) []NGInterface {
		return []NGInterface{
			{TSResol: resol, Name: "tap0", Description: "left", SpeedBps: 25e9, Statistics: true, Received: 100, Dropped: 3},
			{TSResol: resol, Name: "tap1", SnapLen: 2000},
		}
	}
	for name, c := range map[string]struct {
		o          PcapngOptions
		resolution time.Duration
	}{
		"default":      {PcapngOptions{}, time.Nanosecond},
		"big-endian":   {PcapngOptions{Order: binary.BigEndian}, time.Nanosecond},
		"microseconds": {PcapngOptions{Interfaces: two(6)}, time.Microsecond},
		"no option":    {PcapngOptions{Interfaces: two(0)}, time.Microsecond},
		"milliseconds": {PcapngOptions{Interfaces: two(3)}, time.Millisecond},
		"2^-30":        {PcapngOptions{Interfaces: two(0x80 | 30)}, 0}, // pcapgo's own rounding
		"sections":     {PcapngOptions{Interfaces: two(9), Section: 5}, time.Nanosecond},
		"length":       {PcapngOptions{Interfaces: two(9), Section: 5, Length: true}, time.Nanosecond},
		"alternating":  {PcapngOptions{Interfaces: two(9), Section: 5, Alternate: true}, time.Nanosecond},
		"unknown":      {PcapngOptions{Interfaces: two(9), Custom: true}, time.Nanosecond},
		"obsolete":     {PcapngOptions{Interfaces: two(9), Block: NGObsolete}, time.Nanosecond},
	} {
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			require.NoError(t, s.WritePcapng(&b, c.o))
			r, err := pcapgo.NewNgReader(&b, pcapgo.NgReaderOptions{WantMixedLinkType: true})
			require.NoError(t, err)
			same(t, s, r, c.resolution, 1<<20)
			if c.o.Interfaces != nil {
				i, err := r.Interface(0)
				require.NoError(t, err)
				assert.Equal(t, "tap0", i.Name)
				assert.Equal(t, "left", i.Description)
				assert.EqualValues(t, 100, i.Statistics.PacketsReceived)
				assert.EqualValues(t, 3, i.Statistics.PacketsDropped)
			}
		})
	}
	t.Run("simple", func(t *testing.T) {
		plain := small()
		var b bytes.Buffer
		require.NoError(t, plain.WritePcapng(&b, PcapngOptions{Block: NGSimple}))
		r, err := pcapgo.NewNgReader(&b, pcapgo.DefaultNgReaderOptions)
		require.NoError(t, err)
		same(t, plain, r, 0, 1<<20)
	})
}

func TestScenarioEdits(t *testing.T) {
	s := &Scenario{}
	for i := range 5 {
		s.Add(int64(i*10), []byte{byte(i), 0xff})
	}
	order := func() (o string) {
		for _, f := range s.Frames {
			o += fmt.Sprint(f.Data[0])
		}
		return o
	}
	s.Drop(1)
	assert.Equal(t, "0234", order())
	s.Duplicate(0, 3)
	assert.Equal(t, "00234", order())
	assert.Equal(t, int64(3), s.Frames[1].Time)
	s.Delay(1, 25)
	assert.Equal(t, "02034", order())
	s.SwapData(0, 4)
	assert.Equal(t, "42030", order())
	s.Cut(0, 1)
	assert.Equal(t, []byte{4}, s.Frames[0].Data)
	assert.Equal(t, 2, s.Frames[0].WireLen())
	old := s.Frames[1].Data
	s.Corrupt(1, 9)
	assert.Equal(t, []byte{2, 0xfd}, s.Frames[1].Data)
	assert.Equal(t, []byte{2, 0xff}, old)
	assert.Len(t, s.Doubled(1, nil).Frames, 10)
	assert.Len(t, s.Without(func(i int, _ *Frame) bool { return i < 2 }).Frames, 3)
	assert.Len(t, s.Snapped(1).Frames[1].Data, 1)
	assert.Len(t, s.Frames[1].Data, 2, "the original is whole")
}
