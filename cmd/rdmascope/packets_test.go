package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
)

const packetsDir = "../../pcaps/testdata/"

// runPackets runs `rdmascope packets` and returns what it printed.
func runPackets(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = run(append([]string{"packets"}, args...), strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

func TestPacketsLines(t *testing.T) {
	code, out, errs := runPackets(t, packetsDir+"rxe_cm_connect_teardown.pcap")
	require.Zero(t, code, errs)
	require.Empty(t, errs)
	lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
	require.Len(t, lines, 122) // capinfos
	assert.Equal(t, "    3 1.104713126    10.77.0.1 → 10.77.0.2    RoCEv2  322 UD Send Only  QP 0x000001 PSN 39 from QP 0x000001 payload 256 AckReq  CM REQ service TCP port 7471", lines[2])
	for _, line := range lines {
		assert.Equal(t, strings.TrimRight(line, " "), line)
	}
}

func TestPacketsTimes(t *testing.T) {
	file := packetsDir + "rxe_cm_connect_teardown.pcap"
	for form, want := range map[string]string{
		"r": "1.104713126", "d": "1.102891529", "dd": "0.000000000", "ad": "2026-11-30 ", "a": ":", "e": "17960",
	} {
		code, out, errs := runPackets(t, "-t", form, "--from", "3", "--to", "3", file)
		require.Zero(t, code, errs)
		assert.Equal(t, 1, strings.Count(out, "\n"))
		if form == "dd" {
			// The first that is printed has none before it: counted from the first packet.
			assert.Contains(t, out, "1.104713126")
			continue
		}
		assert.Contains(t, out, want, form)
	}
}

func TestPacketsSelection(t *testing.T) {
	file := packetsDir + "rxe_exact_single_loss.pcap.gz"
	for _, c := range []struct {
		args  []string
		lines int
		first string
	}{
		{[]string{"-c", "7"}, 7, "    1 "},
		{[]string{"--from", "5", "--to", "9"}, 5, "    5 "},
		{[]string{"--from", "5", "-c", "9"}, 5, "    5 "},
		{[]string{"-Y", "rdma.analysis.nak"}, 1, "  371 "},
		{[]string{"-Y", "frame.number in {3..4, 371}", "--from", "4"}, 2, "    4 "},
		{[]string{"-Y", `finding.rule matches "^rc\\." && finding.severity`}, 1, "  372 "},
		{[]string{"-Y", "tcp"}, 0, ""},
		{[]string{"-r", file, "-c", "1", "-n", "-l"}, 1, "    1 "},
	} {
		args := c.args
		if args[0] != "-r" {
			args = append(append([]string{}, args...), file)
		}
		code, out, errs := runPackets(t, args...)
		require.Zero(t, code, errs)
		assert.Equal(t, c.lines, strings.Count(out, "\n"), "%v\n%s", args, out)
		assert.True(t, strings.HasPrefix(out, c.first), "%v\n%s", args, out)
	}
}

func TestPacketsTree(t *testing.T) {
	code, out, errs := runPackets(t, "-V", "-x", "-Y", "rdma.analysis.nak", packetsDir+"rxe_exact_single_loss.pcap.gz")
	require.Zero(t, code, errs)
	for _, want := range []string{
		"\nAETH: NAK PSN sequence error\n",
		"\n    infiniband.bth.psn                      PSN: 1706906\n",
		"\n        infiniband.aeth.syndrome.error_code NAK code: PSN sequence error (0)\n",
		"\ninfiniband.invariant.crc                    iCRC: 0x62a4a915 (ok)\n",
		"\n0000  52 54 00 77 00 01 52 54 00 77 00 02 08 00 45 00   RT.w..RT.w....E.\n",
		"\n0030  00 12 00 1a 0b 9a 60 00 00 25 62 a4 a9 15         ......`..%b...\n\n",
	} {
		assert.Contains(t, out, want)
	}
}

func TestPacketsFields(t *testing.T) {
	file := packetsDir + "rxe_exact_single_loss.pcap.gz"
	fields := []string{"-T", "fields", "-e", "frame.number", "-e", "ip.addr", "-e", "infiniband.bth.psn", "--from", "2", "--to", "3", file}
	for _, c := range []struct {
		options []string
		want    string
	}{
		{nil, "2\t\t\n3\t10.77.0.1,10.77.0.2\t3\n"},
		{[]string{"-E", "header=y", "-E", "separator=;"}, "frame.number;ip.addr;infiniband.bth.psn\n2;;\n3;10.77.0.1,10.77.0.2;3\n"},
		{[]string{"-E", "separator=/s", "-E", "occurrence=f", "-E", "quote=d"}, "\"2\"  \n\"3\" \"10.77.0.1\" \"3\"\n"},
		{[]string{"-E", "occurrence=l"}, "2\t\t\n3\t10.77.0.2\t3\n"},
		{[]string{"-E", "aggregator=|"}, "2\t\t\n3\t10.77.0.1|10.77.0.2\t3\n"},
	} {
		code, out, errs := runPackets(t, append(c.options, fields...)...)
		require.Zero(t, code, errs)
		assert.Equal(t, c.want, out)
	}
}

func TestPacketsJSON(t *testing.T) {
	for _, file := range []string{"rxe_cm_connect_teardown.pcap", "pfc_storm.pcap.gz", "siw_mpa_reject_app.pcap", "rxe_vlan100.pcap.gz"} {
		code, out, errs := runPackets(t, "-T", "json", "-c", "60", packetsDir+file)
		require.Zero(t, code, errs)
		var list []struct {
			Source struct {
				Layers map[string]any `json:"layers"`
			} `json:"_source"`
		}
		require.NoError(t, json.Unmarshal([]byte(out), &list), file)
		require.NotEmpty(t, list)
		for i, p := range list {
			frame, ok := p.Source.Layers["frame"].(map[string]any)
			require.True(t, ok)
			require.EqualValues(t, json.Number(itoa(i+1)), frame["frame.number"])
		}
	}
	code, out, _ := runPackets(t, "-T", "json", "-Y", "tcp", packetsDir+"pfc_storm.pcap.gz")
	require.Zero(t, code)
	assert.JSONEq(t, "[]", out)
}

func itoa(n int) string { b, _ := json.Marshal(n); return string(b) }

// TestJSONRepeats wants names that occur twice to become lists, and parts of a
// field to lie beside it.
func TestJSONRepeats(t *testing.T) {
	w := &jsonWriter{}
	num := func(name string, v uint64, parts ...wire.Node) wire.Node {
		return wire.Node{Name: name, Value: itoa(int(v)), Raw: v, Numeric: true, Children: parts}
	}
	got := w.object(nil, &wire.Packet{}, []wire.Node{
		{Name: "vlan", Children: []wire.Node{num("vlan.id", 1)}},
		{Name: "x", Value: "a\x1b\"\\\u202e\xff"},
		{Name: "vlan", Children: []wire.Node{num("vlan.id", 2), num("f", 3, num("f.g", 4))}},
		{Label: "Pad", Value: "2 bytes"},
	})
	assert.Equal(t, `{"vlan":[{"vlan.id":"1"},{"vlan.id":"2","f":"3","f_tree":{"f.g":"4"}}],"x":"a\u001b\"\\`+"\u202e"+`\ufffd","Pad":"2 bytes"}`, string(got))
}

func TestPacketsUsage(t *testing.T) {
	file := packetsDir + "rxe_rnr_nak.pcap.gz"
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-Y", "infiniband.bth.pns == 5", file}, "rdmascope: -Y: no field infiniband.bth.pns\n    infiniband.bth.pns == 5\n    ^^^^^^^^^^^^^^^^^^     did you mean infiniband.bth.psn?\n"},
		{[]string{"-T", "fields", "-e", "ip.scr", file}, "did you mean ip.src?"},
		{[]string{"-T", "fields", file}, "name the fields with -e"},
		{[]string{"-e", "ip.src", file}, "belong to -T fields"},
		{[]string{"-T", "pdml", file}, "the formats are"},
		{[]string{"-T", "json", "-V", file}, "belong to -T text"},
		{[]string{"-t", "x", file}, "-t x"},
		{[]string{"--from", "9", "--to", "5", file}, "no such packets"},
		{[]string{"-T", "fields", "-e", "ip.src", "-E", "colour=y", file}, "-E colour=y"},
		{[]string{"-T", "fields", "-e", "ip.src", "-E", "separator=ab", file}, "no such separator"},
		{[]string{"-Y", "rdma.analysis.retransmission", "-"}, "read twice"},
		{[]string{"-Y", "finding.rule", "-"}, "read twice"},
		{nil, "no capture named"},
	} {
		code, out, errs := runPackets(t, c.args...)
		assert.Equal(t, exitUsage, code, "%v", c.args)
		assert.Empty(t, out)
		assert.Contains(t, errs, c.want)
	}
	code, _, errs := runPackets(t, "packets_test.go")
	assert.Equal(t, exitUnreadable, code)
	assert.Contains(t, errs, "not a pcap")
}

func TestPacketsOfACutFile(t *testing.T) {
	whole, err := os.ReadFile(packetsDir + "rxe_cm_connect_teardown.pcap")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "cut.pcap")
	require.NoError(t, os.WriteFile(path, whole[:len(whole)-5], 0o600))
	code, out, errs := runPackets(t, path)
	assert.Zero(t, code)
	assert.Equal(t, 121, strings.Count(out, "\n"))
	assert.Contains(t, errs, "cut short in packet 122")
}

// failingWriter fails after some octets, as a pipe whose reader has gone.
type failingWriter struct {
	left int
	err  error
}

func (w *failingWriter) Write(b []byte) (int, error) {
	if len(b) > w.left {
		return 0, w.err
	}
	w.left -= len(b)
	return len(b), nil
}

func TestPacketsToAClosedPipe(t *testing.T) {
	for err, want := range map[error]int{syscall.EPIPE: exitOK, io.ErrClosedPipe: exitOK, syscall.ENOSPC: exitUsage} {
		var errs bytes.Buffer
		args := []string{"packets", "-l", packetsDir + "rxe_rnr_nak.pcap.gz"}
		assert.Equal(t, want, run(args, strings.NewReader(""), &failingWriter{300, err}, &errs), err)
		assert.Equal(t, want == exitOK, errs.Len() == 0, errs.String())
	}
}

// TestCleanText wants nothing of a packet to steer the terminal.
func TestCleanText(t *testing.T) {
	assert.Equal(t, "a.[31mb → é.c..d.e", string(appendClean(nil, "a\x1b[31mb → é\u009bc\x7f\xffd\u202ee")))
}

func TestHexOfAMegabyte(t *testing.T) {
	out := string(appendHex(nil, make([]byte, 0x10010)))
	assert.True(t, strings.HasPrefix(out, "0000  00 "))
	assert.Contains(t, out, "\nfff0  00 ")
	assert.Contains(t, out, "\n010000  00 ")
}

func TestLineAllocatesLittle(t *testing.T) {
	p := &wire.Packet{Number: 12, Flags: wire.FlagNet | wire.FlagPorts, IPVersion: 4, Src: wire.AddrV4(1), Dst: wire.AddrV4(2), SrcPort: 5, DstPort: 6}
	w := &textWriter{}
	var buf []byte
	assert.LessOrEqual(t, testing.AllocsPerRun(100, func() { buf = w.line(buf[:0], p) }), 4.0)
}
