package report

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/analysis/snapshottest"
	"rdmascope/decode/roce"
)

var update = flag.Bool("update", false, "write the golden files anew")

func render(t testing.TB, s *analysis.Snapshot, o Options) string {
	var b bytes.Buffer
	require.NoError(t, Text(&b, s, o))
	return b.String()
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "run with -update, then read what it wrote")
	require.Equal(t, string(want), got)
}

func TestTextGolden(t *testing.T) {
	for name, s := range samples() {
		for _, width := range []int{80, 100} {
			for _, color := range []bool{false, true} {
				o := Options{Width: width, Color: color, Top: 3}
				file := fmt.Sprintf("%s.%d.txt", name, width)
				if color {
					if name != "findings" || width != 100 {
						continue
					}
					file = fmt.Sprintf("%s.%d.ansi", name, width)
				}
				t.Run(file, func(t *testing.T) { golden(t, file, render(t, s, o)) })
			}
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

// Colours must carry nothing: without them the same words remain.
func TestTextColourAddsOnlyColour(t *testing.T) {
	for name, s := range samples() {
		bare := render(t, s, Options{})
		coloured := render(t, s, Options{Color: true})
		assert.NotEqual(t, bare, coloured, name)
		assert.Equal(t, bare, escapes.ReplaceAllString(coloured, ""), name)
	}
}

// Only what must survive copy and paste may be longer than the page.
func TestTextFitsWidth(t *testing.T) {
	for name, s := range samples() {
		for width := 80; width <= 140; width += 3 {
			for _, line := range strings.Split(render(t, s, Options{Width: width}), "\n") {
				if strings.Contains(line, "-Y '") {
					continue
				}
				assert.LessOrEqual(t, columns(line), width, "%s: %s", name, line)
			}
		}
	}
}

func TestTextLetsNoControlByteThrough(t *testing.T) {
	for name, s := range samples() {
		out := render(t, s, Options{})
		require.True(t, utf8.ValidString(out), name)
		for _, r := range out {
			require.True(t, r == '\n' || unicode.IsPrint(r), "%s: %U", name, r)
		}
		for _, line := range strings.Split(out, "\n") {
			require.Equal(t, strings.TrimRight(line, " "), line, "blanks at the end")
		}
	}
}

func TestTextIsTheSameEachTime(t *testing.T) {
	for name := range samples() {
		first := render(t, samples()[name], Options{})
		for range 20 {
			require.Equal(t, first, render(t, samples()[name], Options{}), name)
		}
	}
}

// What was not measured never reads as 0, and says why.
func TestTextUnknownIsNotZero(t *testing.T) {
	out := render(t, snapshottest.Cut(), Options{})
	assert.Contains(t, out, "– NAK, RNR: no reverse traffic captured")
	assert.Contains(t, out, "– NAKs           no reverse traffic captured")
	assert.Contains(t, out, "– RESENT, LOST: not measured by this version")
	assert.Contains(t, out, "– no sample: not paired")
	assert.Contains(t, out, "PFC not observable in this capture")
	assert.Contains(t, out, "CUT SHORT: cut short in packet 12,001.")
	assert.NotRegexp(t, `NAKs +none`, out)
}

func TestTextNamesTheCauseOfAnEmptyCapture(t *testing.T) {
	out := strings.Join(strings.Fields(render(t, snapshottest.NoRDMA(), Options{})), " ")
	for _, want := range []string{"Nothing can be said about RDMA on this network", "TCP 855,075 (71 %), UDP port 4789 349,255 (29 %)",
		"port 18515", "Kernel bypass", "not mirrored", "--roce-port", "Encapsulated"} {
		assert.Contains(t, out, want)
	}
	assert.NotContains(t, out, "CHECKED", "nothing was checked")

	out = render(t, snapshottest.Empty(), Options{})
	assert.Contains(t, out, "The capture holds no packet.")
	assert.Contains(t, out, "not one packet")
}

func TestTextCommandsAreQuoted(t *testing.T) {
	assert.Equal(t, "rack7.pcapng", shellQuote("rack7.pcapng"))
	assert.Equal(t, `'a b'`, shellQuote("a b"))
	assert.Equal(t, `'it'\''s $(x)'`, shellQuote("it's $(x)"))
	assert.Equal(t, `'-r'`, shellQuote("-r"))
	assert.Equal(t, `''`, shellQuote(""))
	assert.Contains(t, render(t, snapshottest.Hostile(), Options{Width: 200}), `tshark -r '$(reboot)'\''`)
}

func TestTextTop(t *testing.T) {
	s := base(100)
	for i := range 30 {
		s.Connections = append(s.Connections, pair(fmt.Sprintf("c%02d", i), "10.0.0.1", "10.0.0.2", int64(i), int64(i+100)))
	}
	s.Connections[17].Flows[0].Naks.RemoteAccessError = 1
	s.ConnectionsTotal = 30
	out := render(t, s, Options{Top: 3})
	assert.Contains(t, out, "3 of 30 connections; all: --top 0")
	assert.Equal(t, 3, strings.Count(out, "↔0x"))
	assert.Regexp(t, `(?m)^ +1 +10\.0\.0\.1→10\.0\.0\.2  0x000011`, out, "the one in error comes first")
	assert.Equal(t, 30, strings.Count(render(t, s, Options{}), "↔0x"))
}

// Every field set, to absurd values: nothing may panic or leak.
func TestTextOfEverything(t *testing.T) {
	s := filled(t)
	for _, transport := range []string{"rocev2", "iwarp"} {
		s.Connections[0].Transport = transport
		for _, width := range []int{0, 1, 80, 100, 1000} {
			assert.Contains(t, render(t, s, Options{Width: width}), "CONNECTIONS, WORST FIRST")
		}
	}
	render(t, &analysis.Snapshot{}, Options{})
}

func TestRNRTimersAgreeWithTheDecoder(t *testing.T) {
	for code, ns := range rnrTimer {
		assert.EqualValues(t, roce.RNRTimer(uint8(code)), ns, code)
	}
	assert.Equal(t, "2 × 655 ms, 1 × code 99", rnrTimers(analysis.ByNumber{0: 2, 99: 1}))
}

func TestUseColor(t *testing.T) {
	env := func(kv ...string) func(string) string {
		return func(k string) string {
			if len(kv) == 2 && kv[0] == k {
				return kv[1]
			}
			return ""
		}
	}
	assert.True(t, UseColor("auto", true, env()))
	assert.False(t, UseColor("auto", false, env()))
	assert.False(t, UseColor("auto", true, env("NO_COLOR", "1")))
	assert.False(t, UseColor("auto", true, env("TERM", "dumb")))
	assert.True(t, UseColor("always", false, env("NO_COLOR", "1")), "the flag is the stronger wish")
	assert.False(t, UseColor("never", true, env()))
}

// TestLetGo: what an endless run lists no more is told, and that it counts.
func TestLetGo(t *testing.T) {
	assert.Equal(t, check{good, "let go", "3 connections without trouble listed no more: idle for long; what they counted is kept"}, letGo(&analysis.AgedOut{Connections: 3}))
	assert.Equal(t, check{notice, "let go", "7 connections listed no more, 5 of them for want of room (--max-connections); what they counted is kept"},
		letGo(&analysis.AgedOut{Connections: 7, Evicted: 5}))
}
