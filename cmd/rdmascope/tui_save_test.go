package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// indexed reads a capture to its end, as the browser does.
func indexed(t *testing.T, path string) *indexedPackets {
	t.Helper()
	files, err := pcaps.OpenIndexed([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = files.Close() })
	require.NoError(t, files.ReadAll(nil))
	require.Empty(t, files.Reason())
	return &indexedPackets{files: files, stamped: analysis.NewStamped(files, wire.Config{}, analysis.ClockCapture)}
}

// everyPacket is what a capture holds: record and frame of each packet.
func everyPacket(t *testing.T, path string) (out []string) {
	t.Helper()
	f, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	for {
		buf, recs, err := f.ReadBlock(nil, nil)
		if errors.Is(err, io.EOF) {
			return out
		}
		require.NoError(t, err)
		faces := f.Interfaces()
		for _, r := range recs {
			out = append(out, fmt.Sprintf("%d %d %d %s %d %x", r.Time, r.Wire, r.Link, faces[r.Iface].Name, r.Dir, buf[r.Off:r.Off+r.Cap]))
		}
	}
}

// TestSavedPacketsAreExact: what is saved is what was chosen, octet by octet,
// with its times, lengths and interfaces.
func TestSavedPacketsAreExact(t *testing.T) {
	for _, name := range []string{"rxe_exact_write_every50.pcap.gz", "pfc_propagation.pcapng.gz", "rxe_two_points_pcapng.pcapng.gz",
		"rxe_snaplen128_write_64k.pcap.gz", "rxe_sll2_any_guest.pcap.gz", "siw_exact_every40.pcap.gz"} {
		t.Run(captureName(name), func(t *testing.T) {
			all := everyPacket(t, testdata(name))
			var numbers []int64
			var want []string
			for n := 1; n <= len(all); n += 7 {
				numbers, want = append(numbers, int64(n)), append(want, all[n-1])
			}
			path := filepath.Join(t.TempDir(), "saved.pcapng")
			n, err := indexed(t, testdata(name)).Save(t.Context(), path, numbers)
			require.NoError(t, err)
			assert.Equal(t, int64(len(numbers)), n)
			assert.Equal(t, want, everyPacket(t, path))

			s := analysed(t, path)
			assert.Equal(t, n, s.Capture.Packets)
			assert.True(t, s.Inputs[0].Complete, "it ends where it ends")
			sameInTshark(t, path, testdata(name), numbers)
		})
	}
}

func analysed(t *testing.T, path string) *analysis.Snapshot {
	t.Helper()
	f, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer func() { _ = f.Close() }()
	s, err := analysis.Analyze(t.Context(), f, analysis.Options{})
	require.NoError(t, err)
	return s
}

// sameInTshark lets tshark read both and compares what it tells of the packets.
func sameInTshark(t *testing.T, saved, from string, numbers []int64) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Log("tshark is not installed: not compared")
		return
	}
	fields := func(path string) []string {
		out, err := exec.Command("tshark", "-r", path, "-T", "fields", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "frame.cap_len",
			"-e", "_ws.col.Info", "-o", "tcp.analyze_sequence_numbers:FALSE", "-o", "tcp.desegment_tcp_streams:FALSE",
			"-E", "separator=|", "-e", "frame.comment").Output()
		require.NoError(t, err)
		return strings.Split(strings.TrimRight(string(out), "\n"), "\n")
	}
	all, got := fields(from), fields(saved)
	require.Len(t, got, len(numbers))
	for i, n := range numbers {
		// Its first four fields are the original's; what tshark makes of the
		// packets before it may differ in Info.
		want := strings.SplitN(all[n-1], "|", 4)[:3]
		assert.Equal(t, want, strings.SplitN(got[i], "|", 4)[:3], "packet %d", n)
		assert.True(t, strings.HasSuffix(got[i], fmt.Sprintf("|packet %d", n)), got[i])
	}
}

// TestSaveFails: each failure is one line without the path, which the browser
// puts before it, and leaves nothing that looks like a capture.
func TestSaveFails(t *testing.T) {
	p := indexed(t, testdata("rxe_rping.pcap.gz"))
	dir := t.TempDir()
	there := filepath.Join(dir, "there.pcapng")
	require.NoError(t, os.WriteFile(there, []byte("mine"), 0o600))
	for path, want := range map[string]string{
		there:                              "exists already: not overwritten",
		filepath.Join(dir, "nowhere", "x"): "no such file or directory",
		filepath.Join(there, "x.pcapng"):   "not a directory",
		filepath.Join(dir, strings.Repeat("x", 300)): "file name too long",
	} {
		_, err := p.Save(t.Context(), path, []int64{1})
		require.Error(t, err)
		assert.Equal(t, want, err.Error())
	}
	data, err := os.ReadFile(there)
	require.NoError(t, err)
	assert.Equal(t, "mine", string(data))

	half := filepath.Join(dir, "half.pcapng")
	_, err = p.Save(t.Context(), half, []int64{1, 2, 1 << 40})
	require.Error(t, err)
	assert.NoFileExists(t, half, "half of what was asked for")
}
