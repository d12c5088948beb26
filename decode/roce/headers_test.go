package roce

import (
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// Every prefix of every valid packet: what the capture has is decoded, nothing
// is invented, and a cut packet is never called malformed.
func TestHeadersPrefixes(t *testing.T) {
	for _, v := range allVectors(t) {
		b := scan(t, v).transport
		var whole Headers
		require.NoError(t, whole.Decode(b, len(b)), v.Name)
		for n := range b {
			var h Headers
			err := h.Decode(b[:n], len(b))
			require.True(t, h.Truncated)
			require.Equal(t, whole.Present&h.Present, h.Present)
			if n >= whole.Len {
				require.NoError(t, err, "%s %d", v.Name, n)
				require.Equal(t, whole.Len, h.Len)
				require.Equal(t, whole.PayloadLen, h.PayloadLen)
				require.Equal(t, min(n-whole.Len, whole.PayloadLen), h.PayloadCaptured)
			} else {
				require.ErrorIs(t, err, ErrTruncated, "%s %d", v.Name, n)
				require.LessOrEqual(t, h.Len, n)
				require.Zero(t, h.PayloadLen)
			}
			if n >= BTHLen {
				require.Equal(t, whole.BTH, h.BTH)
			}
			if h.Present.Has(HeaderRETH) {
				require.Equal(t, whole.RETH, h.RETH)
			}
			if h.Present.Has(HeaderAETH) {
				require.Equal(t, whole.AETH, h.AETH)
			}

			// The same bytes with a length that says so: never cut.
			err = h.Decode(b[:n], n)
			require.False(t, h.Truncated)
			require.NotErrorIs(t, err, ErrTruncated)
			if n < whole.Len+int(whole.BTH.PadCnt)+ICRCLen {
				require.Error(t, err)
			} else {
				require.NoError(t, err)
			}
			// More bytes than the length says are padding or trailers.
			var longer Headers
			require.NoError(t, longer.Decode(append(b[:len(b):len(b)], make([]byte, n)...), len(b)))
			require.Equal(t, whole, longer)
		}
	}
}

// All opcodes, pads and lengths, captured and told.
func TestHeadersSweep(t *testing.T) {
	data := make([]byte, 128)
	for i := range data {
		data[i] = byte(i * 37)
	}
	data[4] = 0
	var h Headers
	for o := range 256 {
		info := Opcode(o).Info()
		data[0] = byte(o)
		for pad := range 4 {
			data[1] = byte(pad << 4)
			for wire := range 129 {
				for _, captured := range []int{0, 1, 11, 12, 13, 16, 19, 28, 40, wire / 2, wire - 1, wire, 128} {
					if captured < 0 || captured > 128 {
						continue
					}
					checkSweep(t, &h, data[:captured], wire, info, pad)
				}
			}
		}
	}
}

func checkSweep(t *testing.T, h *Headers, b []byte, wire int, info *OpcodeInfo, pad int) {
	err := h.Decode(b, wire)
	have, need := min(len(b), wire), BTHLen+int(info.ExtLen)
	room := need+ICRCLen <= wire
	var want error
	switch {
	case wire < BTHLen+ICRCLen:
		want = ErrMalformed
	case have < BTHLen:
		want = ErrTruncated
	case !info.Known, info.Service == ServiceRD && !room:
		want = ErrUnknown
	case !room:
		want = ErrMalformed
	case have < need:
		want = ErrTruncated
	case need+pad+ICRCLen > wire:
		want = ErrMalformed
	}
	ok := want == nil && err == nil || want != nil && err != nil && err.(*Error).Is(want)
	ok = ok && h.Truncated == (have < wire) && h.Len <= have && h.Len+h.PayloadCaptured <= have &&
		h.PayloadCaptured <= h.PayloadLen && (err != nil || h.Len+h.PayloadLen+pad+ICRCLen == wire)
	if !ok {
		require.Fail(t, "sweep", "opcode %v pad %d captured %d wire %d: %v, want %v; %+v", h.BTH.Opcode, pad, len(b), wire, err, want, h)
	}
}

func TestHeadersErrors(t *testing.T) {
	ack := named(t, "rocev2", "rc_ack_unlimited").transport
	write := named(t, "rocev2", "rc_write_only_imm").transport
	var h Headers
	assert.Equal(t, error(HeaderAETH.Cut()), h.Decode(ack[:15], len(ack)))
	assert.Equal(t, HeaderSet(1<<HeaderBTH), h.Present)
	assert.Equal(t, error(HeaderAETH.NoRoom()), h.Decode(ack, len(ack)-1))
	assert.Equal(t, error(HeaderImmDt.Cut()), h.Decode(write[:31], len(write)))
	assert.Equal(t, HeaderSet(1<<HeaderBTH|1<<HeaderRETH), h.Present)
	assert.Equal(t, 28, h.Len)
	assert.Equal(t, error(HeaderBTH.Cut()), h.Decode(nil, 16))
	assert.Equal(t, error(HeaderBTH.NoRoom()), h.Decode(nil, 15))
	assert.Equal(t, error(HeaderBTH.NoRoom()), h.Decode(ack, -1))
	assert.Equal(t, error(HeaderBTH.NoRoom()), h.Decode(ack, 0))

	// Malformed by its length, however short the capture cut it.
	assert.Equal(t, error(HeaderImmDt.NoRoom()), h.Decode(write[:14], 34))
	assert.Zero(t, h.PayloadCaptured)

	b := append([]byte{}, ack...)
	b[1] |= 3 << 4
	assert.Equal(t, error(ErrPad), h.Decode(b, len(b)))
	assert.True(t, h.Present.Has(HeaderAETH), "what was decoded before stays")
	b[1] = 1
	assert.Equal(t, error(ErrVersion), h.Decode(b, len(b)))
	assert.EqualValues(t, 1, h.BTH.TVer)
	b[0], b[1] = 0x9f, 0
	assert.Equal(t, error(ErrOpcode), h.Decode(b, len(b)))
	assert.Equal(t, BTHLen, h.Len)
	b[0] = 0x44 // RD/DC Send Only without room for its headers
	assert.Equal(t, error(ErrRD), h.Decode(b, len(b)))

	assert.Equal(t, "AETH: cut by the capture", HeaderAETH.Cut().Error())
	assert.Equal(t, "RETH: no room: the packet's length ends before it", HeaderRETH.NoRoom().Error())
	assert.ErrorIs(t, ErrPad, ErrMalformed)
	assert.ErrorIs(t, ErrOpcode, ErrUnknown)
	assert.NotErrorIs(t, ErrOpcode, ErrMalformed)
}

// An address near the end of the address space is data like any other.
func TestRETHWrap(t *testing.T) {
	const top = ^uint64(0)
	for _, test := range []struct {
		va     uint64
		dmaLen uint32
		wraps  bool
	}{
		{0, 0, false}, {top, 0, false}, {top, 1, false}, {top, 2, true}, {top - 4095, 4096, false},
		{top - 4094, 4096, true}, {top - 0xfffffffe, 0xffffffff, false}, {top - 0xfffffffd, 0xffffffff, true}, {0, 0xffffffff, false},
	} {
		r := RETHFields{VA: test.va, DMALen: test.dmaLen}
		assert.Equal(t, test.wraps, r.Wraps(), "%x+%x", test.va, test.dmaLen)
		n := uint64(test.dmaLen)
		for _, in := range [][2]uint64{{0, 0}, {0, n}, {n, 0}} {
			off, inside := r.Offset(test.va+in[0], in[1])
			assert.True(t, inside)
			assert.Equal(t, in[0], off)
		}
		for _, out := range [][2]uint64{{0, n + 1}, {n, 1}, {n + 1, 0}, {top, 1}, {0, top}, {1, top}} {
			_, inside := r.Offset(test.va+out[0], out[1])
			assert.False(t, inside, "%x+%x: %x", test.va, test.dmaLen, out)
		}
	}
}

func TestReadPackets(t *testing.T) {
	for _, test := range []struct {
		n    uint32
		mtu  int
		want uint32
	}{
		{0, 4096, 1}, {1, 4096, 1}, {4096, 4096, 1}, {4097, 4096, 2}, {12289, 4096, 4}, {1 << 31, 256, 1 << 23},
		{0xffffffff, 256, 1 << 24}, {0xffffffff, 1, 0xffffffff}, {100, 0, 0}, {100, -1, 0},
	} {
		assert.Equal(t, test.want, ReadPackets(test.n, test.mtu), "%d/%d", test.n, test.mtu)
	}
}

func TestFETHNames(t *testing.T) {
	assert.Equal(t, "global visibility", PlacementGlobal.String())
	assert.Equal(t, "persistence", PlacementPersistent.String())
	assert.Equal(t, "global visibility and persistence", Placement(3).String())
	assert.Equal(t, "reserved", Placement(4).String())
	assert.Equal(t, "memory range", SelectivityRange.String())
	assert.Equal(t, "memory region", SelectivityRegion.String())
	assert.Equal(t, "reserved", Selectivity(2).String())
	assert.True(t, (&BTHFields{PKey: 0xffff}).FullMember())
	assert.False(t, (&BTHFields{PKey: 0x7fff}).FullMember())
	assert.False(t, (&CNPFields{Reserved: [16]byte{15: 1}}).Clean())
}
