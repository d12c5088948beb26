package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps/synth"
)

// tappedFile is a capture of the repository as a Metamako tap would have it:
// stamped a second before the file's time.
func tappedFile(t *testing.T) (path string) {
	t.Helper()
	s, err := synth.LoadPcap(testdata("rxe_cm_reject_app.pcap"))
	require.NoError(t, err)
	var now int64
	wrap := synth.Metamako(synth.Trailer{Device: 7, Port: 3, Flags: 1,
		Now: func() (uint32, uint32) { return uint32(now / 1e9), uint32(now % 1e9) }})
	for i := range s.Frames {
		now = s.Frames[i].Time - 1e9
		s.Frames[i].Data = wrap(s.Frames[i].Data)
	}
	var b bytes.Buffer
	require.NoError(t, s.WritePcap(&b, synth.PcapOptions{Nanos: true}))
	path = filepath.Join(t.TempDir(), "tapped.pcap")
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))
	return path
}

// clockOf analyses with args and returns whose times were used.
func clockOf(t *testing.T, args ...string) string {
	t.Helper()
	r := runArgs(append([]string{"analyze", "-o", "json"}, args...)...)
	require.Zero(t, r.code, r.errors)
	var s analysis.Snapshot
	require.NoError(t, json.Unmarshal([]byte(r.out), &s))
	return string(s.Capture.Clock)
}

func TestTimestamps(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path := tappedFile(t)
	config := filepath.Join(t.TempDir(), "c.toml")
	require.NoError(t, os.WriteFile(config, []byte("timestamps = \"capture\"\n"), 0o644))

	assert.Equal(t, "trailer", clockOf(t, path), "auto by default")
	assert.Equal(t, "capture", clockOf(t, "--timestamps", "capture", path))
	assert.Equal(t, "capture", clockOf(t, "--config", config, path))
	assert.Equal(t, "trailer", clockOf(t, "--config", config, "--timestamps", "trailer", path), "the flag wins")
	assert.Equal(t, "trailer", clockOf(t, "-Y", "infiniband", path), "also under a filter")
	t.Setenv("RDMASCOPE_TIMESTAMPS", "trailer")
	assert.Equal(t, "trailer", clockOf(t, "--config", config, path), "the environment wins over the file")
	assert.Contains(t, runArgs("config", "show").out, "trailer      RDMASCOPE_TIMESTAMPS")
	t.Setenv("RDMASCOPE_TIMESTAMPS", "")

	for _, args := range [][]string{{"analyze", "--timestamps", "tap", path}, {"packets", "--timestamps", "tap", path}, {"tui", "--timestamps", "tap", path},
		{"live", "--timestamps", "tap", "-r", path}} {
		r := runArgs(args...)
		assert.Equal(t, exitUsage, r.code, args)
		assert.Contains(t, r.errors, "auto, capture or trailer", args)
	}
}

// TestTimestampsInPackets: single packets have the times of the analysis.
func TestTimestampsInPackets(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	path := tappedFile(t)
	times := func(mode string) []string {
		r := runArgs("packets", "--timestamps", mode, "-T", "fields", "-e", "frame.time_epoch", path)
		require.Zero(t, r.code, r.errors)
		return strings.Fields(r.out)
	}
	capture, trailer := times("capture"), times("trailer")
	require.Equal(t, len(capture), len(trailer))
	for i := range capture {
		assert.NotEqual(t, capture[i], trailer[i])
	}
	assert.Equal(t, trailer, times("auto"))
	text := func(args ...string) string { return strings.Join(strings.Fields(runArgs(args...).out), " ") }
	assert.Contains(t, text("analyze", path), "the times stamped on the frames by a tap or a mirror")
	assert.Contains(t, text("analyze", "--timestamps", "capture", path), "carry a tap's time stamp, which was not used: --timestamps trailer takes it")
}

// TestMergedInPackets: each packet of a merged frame is printed, with the number
// of the frame, and found by -Y.
func TestMergedInPackets(t *testing.T) {
	path := filepath.Join(t.TempDir(), "gro.pcap")
	s, err := synth.LoadPcap(testdata("rxe_cm_reject_app.pcap"))
	require.NoError(t, err)
	first := s.Without(func(_ int, f *synth.Frame) bool { return len(f.Data) < 60 || f.Data[12] != 8 || f.Data[23] != 17 }).Frames[0]
	run := &synth.Scenario{}
	for i := range 3 {
		f := first
		f.Data, _ = synth.Rewrite(f.Data, synth.LinkEthernet, func(h *synth.Headers) { h.IP[4], h.IP[5] = 0, byte(i); h.SetPSN(uint32(100 + i)) })
		run.Frames = append(run.Frames, f)
	}
	var b bytes.Buffer
	require.NoError(t, run.Received(9).WritePcap(&b, synth.PcapOptions{Nanos: true}))
	require.NoError(t, os.WriteFile(path, b.Bytes(), 0o644))

	r := runArgs("packets", "-T", "fields", "-e", "frame.number", "-e", "infiniband.bth.psn", path)
	require.Zero(t, r.code, r.errors)
	assert.Equal(t, "1\t100\n1\t101\n1\t102\n", r.out)
	assert.Contains(t, runArgs("packets", path).out, "[merged by receive offload: 3 packets]")
	r = runArgs("packets", "-Y", "infiniband.bth.psn == 102", "-T", "fields", "-e", "infiniband.bth.psn", path)
	assert.Equal(t, "102\n", r.out)
	assert.Contains(t, runArgs("analyze", path).out, "ethtool -K IFACE gro off lro off")
	assert.Contains(t, runArgs("analyze", "-Y", "infiniband.bth.psn == 102", "-o", "json", path).out, `"merged_packets": 3`)
}
