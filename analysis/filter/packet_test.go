package filter_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

func match(t testing.TB, expr string, p *wire.Packet) bool {
	t.Helper()
	f, err := filter.CompilePacket(expr)
	require.NoError(t, err, expr)
	return f.Match(p)
}

// nak is a NAK of a real capture: 10.77.0.2 → 10.77.0.1.
func nak(t testing.TB) *wire.Packet {
	return one(t, testdata("rxe_exact_single_loss.pcap.gz"), func(p *wire.Packet) bool {
		return p.Has(wire.FlagBTH) && p.RoCE.Present.Has(roce.HeaderAETH) && p.RoCE.AETH.Syndrome.Kind() == roce.SyndromeNAK
	})
}

func TestLanguage(t *testing.T) {
	p := nak(t)
	for expr, want := range map[string]bool{
		"":                                 true,
		"  ":                               true,
		"infiniband":                       true,
		"tcp":                              false,
		"!tcp":                             true,
		"not tcp and udp":                  true,
		"not (tcp or udp)":                 false,
		"tcp or udp and arp":               false,
		"udp or tcp and arp":               true,
		"udp xor tcp":                      true,
		"udp ^^ ip":                        false,
		"udp || tcp && arp":                true,
		"infiniband.bth.opcode == 17":      true,
		"infiniband.bth.opcode==0x11":      true,
		"infiniband.bth.opcode eq 0b10001": true,
		"infiniband.bth.opcode == 021":     true,
		"infiniband.bth.opcode != 17":      false,
		"infiniband.reth.dmalen != 1":      false, // absent
		"!(infiniband.reth.dmalen == 1)":   true,
		"infiniband.bth.opcode > 16 && infiniband.bth.opcode < 18 && infiniband.bth.opcode >= 17 && infiniband.bth.opcode le 17": true,
		"infiniband.bth.opcode > 17":                        false,
		"infiniband.bth.opcode < 0":                         false,
		"frame.len < 0 || frame.len > 18446744073709551615": false,
		"infiniband.bth.opcode in {1, 16..18}":              true,
		"infiniband.bth.opcode in {1,2,18..0xff}":           false,
		"infiniband.bth.opcode not in {1, 2}":               true,
		"infiniband.aeth.syndrome & 0x60":                   true,
		"infiniband.aeth.syndrome & 0x60 == 0x60":           true,
		"infiniband.aeth.syndrome & 0x80":                   false,
		"infiniband.aeth.syndrome bitwise_and 0x1f == 0":    true,
		"infiniband.aeth.syndrome.error_code == 0":          true,
		"infiniband.aeth.syndrome.timer":                    false,
		"rdma.analysis.nak":                                 true,
		"rdma.analysis.nak == 1 && !rdma.analysis.rnr":      true,
		"ip.src == 10.77.0.2":                               true,
		"ip.src == 10.77.0.0/24":                            true,
		"ip.src == 10.77.1.0/24":                            false,
		"ip.src == 0.0.0.0/0":                               true,
		"ip.src in {10.0.0.0/8, 1.2.3.4}":                   true,
		"ip.src in {10.77.0.1..10.77.0.9}":                  true,
		"ip.src in {1.2.3.4,10.77.0.1 .. 10.77.0.9}":        true,
		"ip.src in {10.77.0.1.. 10.77.0.9, 1.2.3.4}":        true,
		"ip.addr == 10.77.0.1 && ip.addr == 10.77.0.2":      true,
		"ip.addr != 10.77.0.1":                              false,
		"ip.addr !== 10.77.0.1":                             true,
		"ip.addr ~= 10.77.0.1":                              true,
		"ip.addr === 10.77.0.1":                             false,
		"ip.addr === 10.77.0.0/16":                          true,
		"any ip.addr != 10.77.0.1":                          true,
		"all ip.addr == 10.77.0.0/16":                       true,
		"ip.src < 10.77.0.3 && ip.src > 10.77.0.1":          true,
		"ip.src == ip.dst":                                  false,
		"ip.src != ip.dst":                                  true,
		"udp.srcport == udp.dstport":                        false,
		"udp.port == 4791":                                  true,
		"ipv6.addr == ::/0":                                 false,
		"eth.src == 52:54:00:77:00:02":                      true,
		"eth.src == 52-54-00-77-00-02":                      true,
		"eth.addr == 5254.0077.0001":                        true,
		"frame contains \"\\x11\"":                          true,
		"frame contains 52:54:00:77":                        true,
		"frame contains 0xdeadbeefdead":                     false,
		"frame matches \"^\\x52T\"":                         true,
		"rdma.opcode == \"RC Acknowledge\"":                 true,
		"rdma.opcode matches 'acknow'":                      true,
		"rdma.opcode contains Ack":                          true,
		"rdma.opcode contains ack":                          false,
		"rdma.kind in {rocev2, rocev1}":                     true,
		"_ws.col.info contains \"PSN\"":                     true,
		"frame.time > \"2001-01-01 00:00\"":                 true,
		"frame.time_epoch > 0.5":                            true,
		"frame.time_relative == 0":                          true,
		"frame.number > 1 and frame.cap_len == frame.len":   true,
		"rdma.analysis.retransmission":                      false,
		"infiniband.cm.req.serviceid":                       false,
		"infiniband.bth.a == False":                         true,
	} {
		assert.Equal(t, want, match(t, expr, p), expr)
	}
}

func TestDatagramsAndTree(t *testing.T) {
	req := one(t, testdata("rxe_cm_connect_teardown.pcap"), func(p *wire.Packet) bool { return p.Has(wire.FlagBTH) && p.RoCE.CarriesMAD() })
	assert.True(t, match(t, "infiniband.cm.req && infiniband.cm.req.retrcount <= 7 && infiniband.deth.srcqp == 1 && infiniband.mad.mgmtclass == 7", req))
	assert.False(t, match(t, "infiniband.cm.rep", req))
	assert.True(t, match(t, "infiniband.cm.req.ip_cm.private", req))
}

func TestMarksAndFindings(t *testing.T) {
	p := nak(t)
	f, err := filter.CompilePacket("rdma.analysis.retransmission && !rdma.analysis.out_of_order && finding.rule == rc.loss && finding.severity == critical")
	require.NoError(t, err)
	assert.True(t, f.NeedsMarks())
	assert.True(t, f.NeedsFindings())
	assert.False(t, f.Match(p))
	var set filter.MarkSet
	set.Add(p.Number, analysis.MarkRetransmission)
	f.SetMarks(&set)
	assert.False(t, f.Match(p))
	f.SetFindings([]analysis.Finding{{Rule: "rc.loss", Severity: "critical", Packets: []int64{1, p.Number}}})
	assert.True(t, f.Match(p))
	assert.True(t, f.Clone().Match(p))
	p.Number++
	assert.False(t, f.Match(p))
	plain, err := filter.CompilePacket("ip")
	require.NoError(t, err)
	assert.False(t, plain.NeedsMarks() || plain.NeedsFindings())
}

func TestMarkSet(t *testing.T) {
	var s filter.MarkSet
	for _, n := range []int64{1, 2, 63, 64, 65, 1 << 20, 10_000_000} {
		s.Add(n, analysis.MarkRetransmission)
	}
	s.Add(64, analysis.MarkOutOfOrder)
	s.Add(-5, analysis.MarkOutOfOrder)
	assert.Equal(t, analysis.MarkRetransmission|analysis.MarkOutOfOrder, s.Marks(64))
	assert.Equal(t, analysis.MarkRetransmission, s.Marks(10_000_000))
	assert.Zero(t, s.Marks(3))
	assert.Zero(t, s.Marks(-5))
	assert.Zero(t, s.Marks(1<<60))
	next, ok := s.Next(65, analysis.MarkRetransmission)
	assert.True(t, ok)
	assert.EqualValues(t, 1<<20, next)
	_, ok = s.Next(10_000_000, analysis.MarkRetransmission)
	assert.False(t, ok)
}

// TestErrors wants each fault to point at its place and, where there is one, to
// propose the name.
func TestErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"infiniband.bth.pns == 5":           "no field infiniband.bth.pns|^^^^^^^^^^^^^^^^^^     did you mean infiniband.bth.psn?",
		"ip && infiniband.bht.psn":          "no field infiniband.bht.psn|      ^^^^^^^^^^^^^^^^^^     did you mean infiniband.bth.psn?",
		"ip &&":                             "the filter ends too early|     ^",
		"ip.src ==":                         "the filter ends too early|         ^",
		"(ip":                               "the parenthesis is never closed|^",
		"ip)":                               ") was unexpected here|  ^",
		"ip udp":                            "udp was unexpected here|   ^^^",
		"ip AND udp":                        "AND was unexpected here|   ^^^     operators are written small: and",
		"ip = 5":                            "no operator =|   ^     write == to compare",
		"ip.src = 1.2.3.4":                  "no operator =|       ^",
		"ip | udp":                          "no operator ||   ^",
		"5 == 5":                            "there is no field to compare with|^",
		"frame.len == -1":                   `"-1" is not an unsigned number|             ^^`,
		"frame.len == x":                    `"x" is not an unsigned number|             ^`,
		"frame.len == \"5\"":                `frame.len is a number: "5" is text|             ^^^`,
		"frame.len == 99999999999999999999": "is too big a number",
		"ip.src == example.org":             `"example.org" is not an IPv4 address (names are not resolved)|          ^^^^^^^^^^^`,
		"ip.src == 1.2.3.4/33":              "/33 is no prefix length: 0 to 32",
		"ip.src == fe80::1":                 "is not an IPv4 address",
		"ip.src == ip.dts":                  "did you mean ip.dst?",
		"ip.src == eth.src":                 "ip.src is of type IPv4 address, eth.src of type MAC address|          ^^^^^^^",
		"udp.port in 5":                     "5 is no set|            ^     write in {a, b..c}",
		"udp.port in {5 6}":                 "6 was unexpected here|               ^",
		"udp.port in {}":                    "} was unexpected here",
		"udp.port in {5,":                   "the filter ends too early",
		"udp.port in {9..5}":                "the range is empty: it goes backwards|             ^^^^",
		"udp.port in {9..x}":                "|                ^",
		"udp.port in {9 .. x}":              "|                  ^",
		"udp.port in {9 .. 10 11}":          "11 was unexpected here",
		"ip.src matches \"a\"":              "matches needs text or octets, ip.src is of type IPv4 address|       ^^^^^^^",
		"frame matches \"(\"":               "not a regular expression",
		"frame matches abc":                 "matches needs a pattern in quotes",
		"frame contains xyz":                "xyz are no octets",
		"infiniband == 5":                   "infiniband is a header: it is there or it isn't|           ^^",
		"ip.src & 5":                        "& needs an unsigned number, ip.src is of type IPv4 address|       ^",
		"udp.port & 0":                      "no bit of 0 is ever set",
		"rdma.opcode == \"x":                "the text has no end|               ^^",
		"rdma.opcode == \"\\q\"":            "no such escape in a text|                ^^",
		"tcp.seq > 5":                       "it is relative in Wireshark: use tcp.seq_raw",
		"flow.packets > 5":                  "no field flow.packets|^^^^^^^^^^^^     it is a field of flows, not of packets",
		"infiniband.bth.opcode == \"RC Acknowledge\"": "use rdma.opcode",
		"frame.time > \"yesterday\"":                  "is not a time such as",
		"ipß && \x1b[31mx":                            "no field ipß",
		"eth.src == 525400":                           "is not an Ethernet address",
	} {
		_, err := filter.CompilePacket(expr)
		var fault *filter.Error
		if !assert.True(t, errors.As(err, &fault), "%s: %v", expr, err) {
			continue
		}
		lines := strings.Split(err.Error(), "\n")
		if !assert.Len(t, lines, 3, expr) {
			continue
		}
		msg, caret, _ := strings.Cut(want, "|")
		if strings.HasSuffix(msg, "operator ") { // the sign itself
			msg, caret = msg+"|", strings.TrimPrefix(caret, "|")
		}
		assert.Contains(t, lines[0]+"\x00"+lines[2], msg, expr)
		assert.True(t, strings.HasPrefix(strings.TrimPrefix(lines[2], "    "), caret), "%s:\n%s", expr, err)
		assert.NotContains(t, err.Error(), "\x1b")
	}
	_, err := filter.CompilePacket(strings.Repeat("(", 10000) + "ip")
	assert.ErrorContains(t, err, "nested too deep")
	_, err = filter.CompilePacket(strings.Repeat("!", 10000) + "ip")
	assert.ErrorContains(t, err, "nested too deep")
	_, err = filter.CompilePacket(strings.Repeat("ip && ", 1<<20) + "ip")
	assert.ErrorContains(t, err, "longer than")
}

// TestLongSet is what a report's evidence looks like.
func TestLongSet(t *testing.T) {
	var b strings.Builder
	b.WriteString("frame.number in {0")
	for n := 10; n < 20000; n += 10 {
		b.WriteString("," + itoa(n) + ".." + itoa(n+3))
	}
	b.WriteString("}")
	f, err := filter.CompilePacket(b.String())
	require.NoError(t, err)
	for n := range int64(20010) {
		p := &wire.Packet{Number: n}
		require.Equal(t, n == 0 || n >= 10 && n < 20000 && n%10 <= 3, f.Match(p), n)
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

func TestMatchAllocatesNothing(t *testing.T) {
	p := nak(t)
	for _, expr := range slices.Concat(benchFilters, benchMath) {
		f, err := filter.CompilePacket(expr)
		require.NoError(t, err)
		f.Match(p)
		assert.Zero(t, testing.AllocsPerRun(200, func() { f.Match(p) }), expr)
	}
}

var benchFilters = []string{
	"infiniband.bth.destqp == 0x11",
	"infiniband.bth.opcode == 17 && infiniband.aeth.syndrome & 0x60",
	"ip.addr == 10.77.0.0/24 && infiniband.bth.psn in {1..5, 0x100..0xffffff} || !udp",
	"infiniband.cm.req.serviceid == 1 || infiniband.grh.sgid == ::1",
}

// benchMath are terms that expr runs. In the third it runs for no packet of
// these: what stands in front of it says no.
var benchMath = []string{
	"udp.length - 8 > infiniband.bth.padcnt + 12",
	"max(udp.srcport, udp.dstport) % 2 == 1",
	"infiniband.bth.psn % 2 == 1 && infiniband.bth.opcode == 4",
	"eth.src[0:3] == 52:54:00",
	"frame[42:2] & ff:00 == 11:00",
	`upper(rdma.opcode) contains "ACK" && string(ip.src) matches "^10"`,
}

func BenchmarkPacketFilter(b *testing.B) {
	p := nak(b)
	for _, expr := range slices.Concat(benchFilters, benchMath) {
		f, err := filter.CompilePacket(expr)
		require.NoError(b, err)
		b.Run(expr, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				f.Match(p)
			}
		})
	}
	b.Run("tree", func(b *testing.B) {
		f, err := filter.CompilePacket("infiniband.invariant.crc == 5")
		require.NoError(b, err)
		for b.Loop() {
			f.Match(p)
		}
	})
}

// TestSource wants the wrapped source to deliver exactly what passes, with the
// numbers of the file.
func TestSource(t *testing.T) {
	const expr = "rdma.analysis.nak || frame.number == 3"
	path := testdata("rxe_exact_write_every50.pcap.gz")
	var want []int64
	packets(t, path, func(p *wire.Packet) {
		if match(t, expr, p) {
			want = append(want, p.Number)
		}
	})
	require.Greater(t, len(want), 2)
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	f, err := filter.CompilePacket(expr)
	require.NoError(t, err)
	s := filter.Source(src, f, wire.Config{})
	var _ analysis.Source = s
	var _ analysis.Source = (*pcaps.Indexed)(nil)
	var got []int64
	n := 0
	require.NoError(t, analysis.Packets(s, wire.Config{}, func(p *wire.Packet) bool {
		got = append(got, s.Numbers()[len(s.Numbers())-1])
		n++
		return true
	}))
	assert.Equal(t, len(want), n)
	assert.Equal(t, want[len(want)-1], got[len(got)-1])
	assert.Equal(t, src.Inputs()[0].Packets, s.Seen())
	assert.Equal(t, src.Interfaces(), s.Interfaces())
	assert.Equal(t, src.Inputs(), s.Inputs())
}
