package figure

import (
	"math"
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/analysis"
)

func TestDuration(t *testing.T) {
	for ns, want := range map[int64]string{
		0: "0 ns", 1: "1 ns", 812: "812 ns", 999: "999 ns", 1000: "1 µs", 1004: "1 µs", 1005: "1.01 µs",
		9_100: "9.1 µs", 23_000: "23 µs", 23_449: "23.4 µs", 23_450: "23.5 µs",
		999_499: "999 µs", 999_500: "1 ms", 481_000_000: "481 ms", 6_240_000_000: "6.24 s", 9_995_000_000: "10 s", 9_994_999_999: "9.99 s",
		119_999_999_999: "120 s", 120_000_000_000: "2 min 00 s", 725_000_000_000: "12 min 05 s",
		3_600_000_000_000: "1 h 00 min", 93_784_000_000_000: "26 h 03 min", -9_100: "-9.1 µs",
	} {
		assert.Equal(t, want, Duration(ns), ns)
	}
	assert.Equal(t, "2,562,047 h 47 min", Duration(math.MaxInt64))
	assert.Equal(t, "-2,562,047 h 47 min", Duration(math.MinInt64))
}

func TestByteSizeAndRate(t *testing.T) {
	assert.Equal(t, "0 B", Bytes(0))
	assert.Equal(t, "999 B", Bytes(999))
	assert.Equal(t, "1 kB", Bytes(1000))
	assert.Equal(t, "10.7 GB", Bytes(10_737_418_240))
	assert.Equal(t, "1 MB", Bytes(999_950))
	assert.Equal(t, "9,223 PB", Bytes(math.MaxInt64))
	assert.Equal(t, "-9,223 PB", Bytes(math.MinInt64))
	assert.Equal(t, "100 Gb/s", BitRate(100e9))
	assert.Equal(t, "2.5 Gb/s", BitRate(2_500_000_000))
}

func TestCount(t *testing.T) {
	for v, want := range map[int64]string{0: "0", 7: "7", 999: "999", 1000: "1,000", 81_234_567: "81,234,567", -1234: "-1,234", 100_000: "100,000"} {
		assert.Equal(t, want, Count(v))
	}
	assert.Equal(t, "–", OrUnknown(nil, Count))
	assert.Equal(t, "0", OrUnknown(analysis.Int(0), Count))
}

func TestPercent(t *testing.T) {
	for _, tc := range []struct {
		r    float64
		want string
	}{
		{0, "0 %"}, {1, "100 %"}, {0.93, "93 %"}, {0.072, "7.2 %"}, {0.0041, "0.41 %"}, {0.005, "0.5 %"},
		{1e-9, "<0.01 %"}, {0.99999, ">99.9 %"}, {0.9951, "99.5 %"}, {0.4049, "40 %"}, {0.1, "10 %"},
	} {
		assert.Equal(t, tc.want, Percent(tc.r))
	}
	assert.Equal(t, "–", Percent(math.NaN()))
}

func TestNamed(t *testing.T) {
	assert.Equal(t, "93 %", Named("paused_ratio", 0.93))
	assert.Equal(t, "100 ms", Named("window_ms", 100))
	assert.Equal(t, "9.1 µs", Named("recovery_ns", 9100))
	assert.Equal(t, "4,814", Named("pause_frames", 4814))
	assert.Equal(t, "1.5", Named("amplification", 1.5))
}

func TestQPN(t *testing.T) {
	assert.Equal(t, "0x01a2f3", QPN(analysis.Int(0x1a2f3)))
	assert.Equal(t, "–", QPN(nil))
}
