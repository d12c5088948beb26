package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

const (
	clean    = "rxe_rping.pcap.gz"             // notices at the most
	lossy    = "rxe_exact_single_loss.pcap.gz" // a critical finding
	plainOne = "rxe_cm_reject_app.pcap"        // not compressed
)

// write makes a file in the test's own folder.
func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	require.NoError(t, os.WriteFile(path, data, 0o600))
	return path
}

func plain(t *testing.T, name string) []byte {
	t.Helper()
	f, err := os.Open(testdata(name))
	require.NoError(t, err)
	defer f.Close()
	if !strings.HasSuffix(name, ".gz") {
		b, err := io.ReadAll(f)
		require.NoError(t, err)
		return b
	}
	z, err := gzip.NewReader(f)
	require.NoError(t, err)
	b, err := io.ReadAll(z)
	require.NoError(t, err)
	return b
}

// withoutRDMA is a pcap of one ARP request.
func withoutRDMA() []byte {
	frame := make([]byte, 60)
	copy(frame, "\xff\xff\xff\xff\xff\xff\x52\x54\x00\x77\x00\x01\x08\x06\x00\x01\x08\x00\x06\x04\x00\x01")
	b := []byte("\xd4\xc3\xb2\xa1\x02\x00\x04\x00\x00\x00\x00\x00\x00\x00\x00\x00\xff\xff\x00\x00\x01\x00\x00\x00")
	b = append(b, "\x01\x00\x00\x00\x00\x00\x00\x00\x3c\x00\x00\x00\x3c\x00\x00\x00"...)
	return append(b, frame...)
}

// TestExitCodes goes over the table of exit codes. Whatever goes wrong is told
// in one line on standard error, and standard output holds results only.
func TestExitCodes(t *testing.T) {
	cut := write(t, "cut.pcap", plain(t, clean)[:30000])
	notes := write(t, "notes.txt", []byte("hi\n"))
	empty := write(t, "empty.pcap", nil)
	header := write(t, "header.pcap", withoutRDMA()[:24])
	arp := write(t, "arp.pcap", withoutRDMA())
	config := write(t, "config.toml", []byte("[rules.\"rc.loss\"]\nno_such_key = 1\n"))
	missing := filepath.Join(t.TempDir(), "missing.pcap")
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		errors string // pattern of standard error, "" for nothing there
		output bool
	}{
		{"analysed", []string{"analyze", testdata(clean)}, 0, "", true},
		{"the file alone", []string{testdata(clean)}, 0, "", true},
		{"-r", []string{"analyze", "-r", testdata(clean)}, 0, "", true},
		{"findings without --fail-on", []string{"analyze", testdata(lossy)}, 0, "", true},
		{"several files", []string{"analyze", testdata(clean), testdata(lossy)}, 0, "", true},
		{"cut short", []string{"analyze", cut}, 0, `^rdmascope: warning: .*cut\.pcap: cut short in packet 122; all before it analysed\n$`, true},
		{"cut short, quiet", []string{"analyze", "-q", cut}, 0, "", true},
		{"no packet in it", []string{"analyze", header}, 0, "", true},
		{"no RDMA in it", []string{"analyze", arp}, 0, "", true},
		{"version", []string{"--version"}, 0, "", true},
		{"help", []string{"--help"}, 0, "", true},
		{"help of a command", []string{"analyze", "--help"}, 0, "", true},
		{"schema", []string{"schema"}, 0, "", true},
		{"completion", []string{"completion", "bash"}, 0, "", true},
		{"explain", []string{"explain", "rc.loss"}, 0, "", true},
		{"config", []string{"config", "show"}, 0, "", true},

		{"critical finding", []string{"analyze", "--fail-on", "critical", testdata(lossy)}, 1, "", true},
		{"finding above the limit", []string{"analyze", "--fail-on", "notice", testdata(lossy)}, 1, "", true},
		{"findings below the limit", []string{"analyze", "--fail-on", "warning", testdata(clean)}, 0, "", true},
		{"warning at the limit", []string{"analyze", "--fail-on", "warning", testdata(plainOne)}, 1, "", true},
		{"warning below the limit", []string{"analyze", "--fail-on", "critical", testdata(plainOne)}, 0, "", true},

		{"nothing asked", nil, 2, "", false},
		{"no file", []string{"analyze"}, 2, "no capture named", false},
		{"unknown flag", []string{"analyze", "--bogus", testdata(clean)}, 2, "unknown flag: --bogus", false},
		{"flag of the wrong kind", []string{"analyze", "--top", "many", testdata(clean)}, 2, "many", false},
		{"negative rows", []string{"analyze", "--top", "-1", testdata(clean)}, 2, "--top -1", false},
		{"unknown format", []string{"analyze", "-o", "yaml", testdata(clean)}, 2, "-o yaml", false},
		{"unknown severity", []string{"analyze", "--fail-on", "bad", testdata(clean)}, 2, "--fail-on bad", false},
		{"unknown colour", []string{"analyze", "--color", "blue", testdata(clean)}, 2, "--color blue", false},
		{"unknown progress", []string{"analyze", "--progress", "loud", testdata(clean)}, 2, "--progress loud", false},
		{"no number of connections", []string{"analyze", "--connections", "0", testdata(clean)}, 2, "--connections 0", false},
		{"no link speed", []string{"analyze", "--link-speed", "fast", testdata(clean)}, 2, "--link-speed fast", false},
		{"no port", []string{"analyze", "--roce-port", "70000", testdata(clean)}, 2, "70000", false},
		{"unknown rule", []string{"explain", "rc.nonsense"}, 2, "rc.nonsense", false},
		{"unknown setting", []string{"analyze", "--config", config, testdata(clean)}, 2, `config\.toml: line 2: .*no_such_key`, false},
		{"output into nowhere", []string{"analyze", "-O", filepath.Join(missing, "x"), testdata(clean)}, 2, "missing.pcap", false},

		{"missing file", []string{"analyze", missing}, 3, `missing\.pcap: no such file`, false},
		{"folder", []string{"analyze", t.TempDir()}, 3, "is a directory", false},
		{"no capture", []string{"analyze", notes}, 3, `notes\.txt: not a pcap or pcapng file \(starts 68 69 0a\)`, false},
		{"empty file", []string{"analyze", empty}, 3, `empty\.pcap: empty`, false},
		{"one of two is no capture", []string{"analyze", testdata(clean), notes}, 3, `notes\.txt`, false},
		{"trouble outranks findings", []string{"analyze", "--fail-on", "notice", testdata(lossy), notes}, 3, `notes\.txt`, false},

		{"cut short, strict", []string{"analyze", "--strict", cut}, 4, "cut short in packet 122", true},
		{"cut short outranks findings", []string{"analyze", "--strict", "--fail-on", "notice", cut}, 4, "cut short", true},
		{"whole, strict", []string{"analyze", "--strict", testdata(clean)}, 0, "", true},

		{"nothing to judge", []string{"analyze", "--fail-on", "critical", arp}, 5, "no RoCE, iWARP or PFC", true},
		{"no packet to judge", []string{"analyze", "--fail-on", "critical", header}, 5, "no RoCE, iWARP or PFC", true},
		{"a pause is something to judge", append(speedFlags("pfc_storm.pcap"), "analyze", "--fail-on", "critical", testdata("pfc_storm.pcap.gz")), 1, "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if len(c.args) > 2 && c.args[0] == "--link-speed" {
				c.args = append(append([]string{}, c.args[2:]...), c.args[:2]...)
			}
			r := runArgs(c.args...)
			assert.Equal(t, c.code, r.code, r.errors)
			assert.Equal(t, c.output, r.out != "", "standard output: %.200s", r.out)
			if c.errors == "" && len(c.args) > 0 {
				assert.Empty(t, r.errors)
			} else {
				assert.Regexp(t, c.errors, r.errors)
			}
			assert.NotContains(t, r.errors, "rdmascope: internal error")
			assert.NotContains(t, r.out, "\x1b", "no colour where there is no terminal")
			if c.code != 0 && r.errors != "" && len(c.args) > 0 {
				for line := range strings.Lines(r.errors) {
					assert.True(t, strings.HasPrefix(line, "rdmascope: ") || strings.HasPrefix(line, "    "), line)
				}
			}
		})
	}
}

// TestStdin: - is standard input, whatever it is compressed with; the report
// is that of the file.
func TestStdin(t *testing.T) {
	want := decoded(t, runArgs("analyze", "-o", "json", testdata(lossy)))
	packed, err := os.ReadFile(testdata(lossy))
	require.NoError(t, err)
	for name, data := range map[string][]byte{"gzip": packed, "plain": plain(t, lossy)} {
		for _, args := range [][]string{{"analyze", "-o", "json", "-"}, {"-", "-o", "json"}, {"analyze", "-o", "json", "-r", "-"}} {
			r := runWith(bytes.NewReader(data), args...)
			require.Zero(t, r.code, r.errors)
			got := decoded(t, r)
			require.Equal(t, "-", got.Inputs[0].Path)
			require.Nil(t, got.Inputs[0].SizeBytes)
			got.Inputs = want.Inputs
			require.Equal(t, want, got, "%s %v", name, args)
		}
	}
	assert.Equal(t, 3, runArgs("analyze", "-").code, "empty standard input")
}

func decoded(t *testing.T, r result) *analysis.Snapshot {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(r.out))
	d.DisallowUnknownFields()
	s := new(analysis.Snapshot)
	require.NoError(t, d.Decode(s))
	_, err := d.Token()
	require.ErrorIs(t, err, io.EOF, "one document")
	return s
}

// TestSeveralFiles: the parts of a capture give what the whole gives.
func TestSeveralFiles(t *testing.T) {
	whole := plain(t, lossy)
	at := 24 // split at a record border near the middle
	for at < len(whole)/2 {
		at += 16 + int(uint32(whole[at+8])|uint32(whole[at+9])<<8)
	}
	first := write(t, "first.pcap", whole[:at])
	second := write(t, "second.pcap", append(append([]byte{}, whole[:24]...), whole[at:]...))
	want := decoded(t, runArgs("analyze", "-o", "json", testdata(lossy)))
	for _, files := range [][]string{{first, second}, {second, first}} {
		got := decoded(t, runArgs(append([]string{"analyze", "-o", "json"}, files...)...))
		require.Len(t, got.Inputs, 2)
		assert.Equal(t, files[0], got.Inputs[0].Path, "in the order given")
		assert.Equal(t, want.Capture.Packets, got.Capture.Packets)
		assert.Equal(t, want.Capture.StartTime, got.Capture.StartTime)
		assert.Equal(t, want.Capture.EndTime, got.Capture.EndTime)
		assert.Zero(t, got.Capture.BackwardTimestamps, "merged by time")
		assert.Equal(t, want.Protocols, got.Protocols)
	}
}

// TestOutputPath: the report arrives by rename, or not at all.
func TestOutputPath(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "report.json")
	require.NoError(t, os.WriteFile(path, []byte("the old one"), 0o600))
	r := runArgs("analyze", "-o", "json", "-O", path, testdata(lossy))
	require.Zero(t, r.code, r.errors)
	require.Empty(t, r.out)
	b, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, runArgs("analyze", "-o", "json", testdata(lossy)).out, string(b))

	r = runArgs("analyze", "-O", path, filepath.Join(dir, "missing.pcap"))
	require.Equal(t, 3, r.code)
	kept, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, b, kept, "a failure leaves the old report")

	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, entries, 1, "no temporary file stays")

	// A folder can't be replaced by a report.
	r = runArgs("analyze", "-O", dir, testdata(plainOne))
	assert.Equal(t, 2, r.code)
	assert.Contains(t, r.errors, dir)
	// Findings are judged all the same.
	r = runArgs("analyze", "--fail-on", "critical", "-O", filepath.Join(dir, "text"), testdata(lossy))
	assert.Equal(t, 1, r.code)
}

// TestColour: colour only where it is asked for, and it adds nothing else.
func TestColour(t *testing.T) {
	escape := regexp.MustCompile("\x1b\\[[0-9;]*m")
	bare := runArgs("analyze", testdata(lossy)).out
	assert.NotRegexp(t, escape, bare)
	coloured := runArgs("analyze", "--color", "always", testdata(lossy)).out
	assert.Regexp(t, escape, coloured)
	assert.Equal(t, bare, escape.ReplaceAllString(coloured, ""))
	t.Setenv("NO_COLOR", "1")
	assert.Equal(t, bare, runArgs("analyze", "--color", "auto", testdata(lossy)).out)
	assert.Equal(t, coloured, runArgs("analyze", "--color", "always", testdata(lossy)).out, "a flag outranks the environment")
	assert.NotRegexp(t, escape, runArgs("analyze", "--color", "always", "-o", "json", testdata(lossy)).out)
}

// TestTop and --connections bound what is listed, and what is left out is told.
func TestTop(t *testing.T) {
	many := testdata("rxe_cm_connect_teardown.pcap") // eight connections
	rows := func(args ...string) int {
		_, table, found := strings.Cut(runArgs(append(args, many)...).out, "CONNECTIONS, WORST FIRST")
		require.True(t, found)
		table, _, _ = strings.Cut(table, "\n\n")
		return strings.Count(table, "10.77.0.1→10.77.0.2")
	}
	assert.Equal(t, 3, rows("analyze", "--top", "3"))
	assert.Equal(t, 8, rows("analyze", "--top", "0"))

	all := decoded(t, runArgs("analyze", "-o", "json", "--connections", "all", many))
	assert.EqualValues(t, 8, all.ConnectionsTotal)
	assert.Len(t, all.Connections, 8)
	some := decoded(t, runArgs("analyze", "-o", "json", "--connections", "3", many))
	assert.EqualValues(t, 8, some.ConnectionsTotal)
	assert.EqualValues(t, 5, some.ConnectionsOmitted)
	assert.Len(t, some.Connections, 3)
}

// TestNoRDMA: a capture without RDMA is never called clean; the report says
// what is in it and what may be the reason.
func TestNoRDMA(t *testing.T) {
	r := runArgs("analyze", write(t, "arp.pcap", withoutRDMA()))
	require.Zero(t, r.code)
	assert.NotContains(t, r.out, "no findings")
	assert.Contains(t, r.out, "no RDMA")
	assert.Contains(t, r.out, "ARP")
	for _, cause := range []string{"bypass", "mirror", "--roce-port"} {
		assert.Contains(t, r.out, cause)
	}
}

// TestRoCEPort: RoCE on another port is found when it is named.
func TestRoCEPort(t *testing.T) {
	data := plain(t, plainOne)
	const from, to = 4791, 14791
	moved := bytes.ReplaceAll(data, []byte{from >> 8, from & 0xff}, []byte{to >> 8, to & 0xff})
	path := write(t, "moved.pcap", moved)
	assert.Zero(t, decoded(t, runArgs("analyze", "-o", "json", path)).Protocols.CM.Packets)
	assert.EqualValues(t, 2, decoded(t, runArgs("analyze", "-o", "json", "--roce-port", "14791", path)).Protocols.CM.Packets)
}

// TestWorkersFlag: the report doesn't depend on the number of goroutines.
func TestWorkersFlag(t *testing.T) {
	for _, output := range []string{"text", "json"} {
		one := runArgs("analyze", "-o", output, "--workers", "1", testdata(lossy)).out
		assert.Equal(t, one, runArgs("analyze", "-o", output, "--workers", "7", testdata(lossy)).out)
	}
}
