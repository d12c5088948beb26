package roce

import (
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
)

func TestSyndrome(t *testing.T) {
	credits := []int{0, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 1536, 2048,
		3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768}
	ms := []float64{655.36, 0.01, 0.02, 0.03, 0.04, 0.06, 0.08, 0.12, 0.16, 0.24, 0.32, 0.48, 0.64, 0.96, 1.28, 1.92,
		2.56, 3.84, 5.12, 7.68, 10.24, 15.36, 20.48, 30.72, 40.96, 61.44, 81.92, 122.88, 163.84, 245.76, 327.68, 491.52}
	for i := range 256 {
		s, code := Syndrome(i), i&0x1f
		kind := []SyndromeKind{SyndromeACK, SyndromeRNRNAK, SyndromeReserved, SyndromeNAK,
			SyndromeReserved, SyndromeReserved, SyndromeReserved, SyndromeReserved}[i>>5]
		assert.Equal(t, kind, s.Kind(), "%02x", i)
		assert.EqualValues(t, code, s.Code())
		assert.EqualValues(t, code, s.NAKCode())
		n, ok := s.Credits()
		assert.Equal(t, kind == SyndromeACK && code != 31, ok, "%02x", i)
		if ok {
			assert.Equal(t, credits[code], n)
		} else {
			assert.Zero(t, n)
		}
		want := time.Duration(ms[code]*100+0.5) * 10 * time.Microsecond
		assert.Equal(t, want, s.RNRTimer(), "%02x", i)
	}
	assert.Equal(t, 655360*time.Microsecond, RNRTimer(0))
	assert.Equal(t, 61440*time.Microsecond, RNRTimer(25))
	for s, want := range map[Syndrome]string{
		0x00: "ACK", 0x1f: "ACK", 0x2e: "RNR NAK 1.28ms", 0x20: "RNR NAK 655.36ms", 0x40: "reserved syndrome 0x40",
		0x60: "NAK PSN sequence error", 0x61: "NAK invalid request", 0x62: "NAK remote access error",
		0x63: "NAK remote operational error", 0x64: "NAK invalid RD request", 0x65: "NAK reserved NAK code 5",
		0x80: "reserved syndrome 0x80", 0xff: "reserved syndrome 0xff",
	} {
		assert.Equal(t, want, s.String())
	}
	assert.Equal(t, "RNR NAK", SyndromeRNRNAK.String())
	assert.Equal(t, "reserved", SyndromeReserved.String())
	assert.Equal(t, "reserved", SyndromeKind(200).String())
	assert.False(t, NAKSequenceError.Fatal())
	assert.True(t, NAKRemoteAccessError.Fatal())
}
