package filter_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// TestMath: the packet is a NAK from 10.77.0.2 to 10.77.0.1 of 62 octets.
func TestMath(t *testing.T) {
	p := nak(t)
	for expr, want := range map[string]bool{
		"frame.len == 62":                                           true,
		"62 == frame.len":                                           true,
		"5 < frame.len && 100 > frame.len":                          true,
		"5 > frame.len":                                             false,
		"62 != frame.len":                                           false,
		"52:54:00:77:00:02 == eth.src":                              true,
		"\"RC Acknowledge\" == rdma.opcode":                         true,
		"frame.len == 60 + 2":                                       true,
		"frame.len == 2 * {30 + 1}":                                 true,
		"(frame.len + 2) * 2 == 128":                                true,
		"(frame.len) == 62":                                         true,
		"((frame.len + 2) * 2 == 128) and ip":                       true,
		"(frame.len == 62 and ip)":                                  true,
		"frame.len - 1 == 61":                                       true,
		"frame.len -1 == 61":                                        true,
		"frame.len+1==63":                                           true,
		"frame.len - 2 - 3 == 57":                                   true,
		"frame.len - 2 * 3 == 56":                                   true,
		"-frame.len == -62":                                         true,
		"--frame.len == 62":                                         true,
		"frame.len - 100 == -38":                                    true,
		"frame.len * -1 == -62":                                     true,
		"{frame.len - 100} / 7 == -5":                               true,
		"{frame.len - 100} % 7 == -3":                               true,
		"{frame.len - 100} & 0xff == 0xda":                          true,
		"frame.len & 60 + 1 == 60":                                  true, // + binds more than &
		"frame.len + 1 > 18446744073709551615":                      false,
		"frame.len + 1 < 18446744073709551615":                      true,
		"frame.len + 1 > -1":                                        true,
		"frame.len + 1 in {1..5, 60..70}":                           true,
		"frame.len - 70 in {-10..-5}":                               true,
		"frame.len + 1 not in {63}":                                 false,
		"udp.port + 1 in {4792}":                                    true,
		"frame.len + 18446744073709551615 > 0":                      false, // too big for 64 bits: no value
		"frame.len * 18446744073709551615":                          false,
		"frame.len / {frame.len - frame.len}":                       false, // nor has this one
		"!(frame.len / {ip.len - ip.len} == 1)":                     true,
		"frame.len / {udp.port - 4791} == 0":                        true, // one of two ports has
		"all frame.len / {udp.port - 4791} == 0":                    true,
		"frame.len & frame.len - 2":                                 true,
		"frame.len & frame.len - frame.len":                         false,
		"tcp.port + 1 > 0":                                          false, // absent
		"!(tcp.port + 1 > 0)":                                       true,
		"tcp.port + frame.len != 0":                                 false,
		"frame.len + 1":                                             true,
		"tcp.port + 1":                                              false,
		"udp.port + 1 == 4792":                                      true,
		"udp.port + 1 != 4792":                                      false, // one is
		"udp.port + 1 !== 4792":                                     true,
		"udp.port + 1 === 4792":                                     false,
		"all udp.port + 1 >= 4792":                                  true,
		"any {udp.port + 1} > 4792":                                 true,
		"all udp.port - udp.port == 0":                              false, // each with each
		"frame.time_relative + 1.5 == 1.5":                          true,
		"frame.time_epoch - frame.time_epoch == 0":                  true,
		"-frame.time_relative <= 0":                                 true,
		"count(udp.port) == 2":                                      true,
		"count(tcp.port) == 0":                                      false, // as in Wireshark
		"max(udp.port) > 4791 && min(udp.port) == 4791":             true,
		"max(tcp.port, udp.port) == max(udp.port)":                  true,
		"max(frame.len, 1000) == 1000":                              true,
		"min(frame.len, 1000, udp.length + 1) == udp.length+1":      true,
		"max(tcp.port, 5) == 5":                                     true, // as in Wireshark
		"max(ip.src, ip.dst) == 10.77.0.2":                          true,
		"max(ip.addr) == 10.77.0.0/24":                              true,
		"min(ip.addr) in {10.77.0.1, 1.2.3.4..1.2.3.9}":             true,
		"max(frame.time) > \"2001-01-01\"":                          true,
		"abs(frame.len - 100) == 38":                                true,
		"abs(-1 - frame.len) == 63":                                 true,
		"len(frame) == frame.len":                                   true,
		"len(ip) == 20 && len(infiniband.aeth) == 4":                true,
		"len(rdma.opcode) == 14":                                    true,
		"len(tcp) == 20":                                            false,
		"len(ip.src) + len(eth.src) == 10":                          true,
		"len(upper(string(frame.len))) == 2":                        true,
		"upper(rdma.opcode) == \"RC ACKNOWLEDGE\"":                  true,
		"lower(rdma.opcode) contains ack":                           true,
		"upper(rdma.opcode) matches \"^rc acknow\"":                 true,
		"upper(rdma.opcode) in {\"x\", \"RC ACKNOWLEDGE\"}":         true,
		"rdma.opcode[0:2] == \"RC\"":                                true,
		"rdma.opcode[-1] == e":                                      true,
		"string(ip.src) == \"10.77.0.2\"":                           true,
		"string(ip.addr) != \"10.77.0.1\"":                          false,
		"string(eth.src)[0,1] == \"52\"":                            true,
		"string(frame.len - 100) == \"-38\"":                        true,
		"eth.src[0:3] == 52:54:00":                                  true,
		"eth.src[0:3] == 525400":                                    true,
		"eth.src[0:3] == \"RT\\x00\"":                               true,
		"eth.src[0] == 0x52 and eth.src[5] == 2":                    true,
		"52:54 == eth.src[:2]":                                      true,
		"eth.src[-1,-2] == 02:00":                                   true,
		"eth.src[ 1 - 2 , 4: ] == 54:00:00:02":                      true,
		"eth.src[-2--1] == 00:02":                                   true,
		"eth.src[6] || eth.src[5:2] || eth.src[-7] || eth.src[0-6]": false,
		"eth.src[0:7] != 00":                                        false,
		"eth.src[0:3] in {52:54:01, 52:54:00}":                      true,
		"eth.src[0:3] in {52:54:01}":                                false,
		"eth.src[0:5] == eth.dst[0:5]":                              true,
		"eth.addr[5] == 01 && eth.addr[5] == 02":                    true,
		"ip.src == frame[26:4]":                                     true,
		"frame[26:4] == ip.src":                                     true,
		"frame[26:4] == ip.dst":                                     false,
		"frame contains ip.src[0:4]":                                true,
		"ip.src[0:2] == 0a:4d":                                      true,
		"ip[12:4] == ip.src":                                        true,
		"infiniband.bth[0] == 11":                                   true,
		"ip contains ip.src":                                        true,
		"udp contains ip.src":                                       false,
		"frame contains udp":                                        true,
		"udp contains 12:b7":                                        true,
		"udp contains 45:00":                                        false,
		"frame[0:2] & 0f:00 == 02:00":                               true,
		"frame[0:2] & 00:00":                                        false,
		"frame[0:3][1:2] == 54:00":                                  true,
		"frame[0:2] > 52:53":                                        true,
		"eth.src[0:3] == 52:54:00 xor frame.len+1==5":               true,
	} {
		assert.Equal(t, want, match(t, expr, p), expr)
	}
}

// TestMathOfBigNumbers: addresses of a kernel have the highest bit.
func TestMathOfBigNumbers(t *testing.T) {
	p := one(t, testdata("rxe_exact_read_resp_every40.pcap.gz"), func(p *wire.Packet) bool {
		return p.Has(wire.FlagBTH) && p.RoCE.Present.Has(roce.HeaderRETH)
	})
	p.RoCE.RETH.VA, p.RoCE.RETH.DMALen = 0xffff_8880_0000_0000, 4096
	for expr, want := range map[string]bool{
		"infiniband.reth.va + infiniband.reth.dmalen == 0xffff888000001000":    true,
		"infiniband.reth.va - 0xffff888000000001 == -1":                        true,
		"infiniband.reth.va - 0xffffffffffffffff < 0":                          true,
		"infiniband.reth.va + infiniband.reth.va > 0":                          false,
		"-infiniband.reth.va - 0x777fffffffff == -0xffffffffffffffff":          true,
		"-infiniband.reth.va - 0x77800000_0000 == 0":                           false,
		"infiniband.reth.va / 4096 * 4096 == infiniband.reth.va":               true,
		"infiniband.reth.va & 0x8000000000000000 + 0":                          true,
		"abs(-infiniband.reth.va) == infiniband.reth.va":                       true,
		"string(infiniband.reth.va) == \"18446612682070032384\"":               true,
		"max(infiniband.reth.va, infiniband.reth.dmalen) > 0xffff000000000000": true,
	} {
		assert.Equal(t, want, match(t, expr, p), expr)
	}
}

func TestFlowMath(t *testing.T) {
	snap := snapshot(t, "rxe_exact_single_loss.pcap.gz")
	all := flows(t, snap, "")
	assert.Equal(t, all, flows(t, snap, "flow.packets * 2 > flow.packets"))
	assert.Equal(t, 1, flows(t, snap, "flow.retransmitted_packets * 100000 > flow.packets"))
	assert.Equal(t, 1, flows(t, snap, "flow.retransmitted_packets > flow.packets * 0.000001"))
	assert.Equal(t, 0, flows(t, snap, "flow.retransmitted_packets > flow.packets / 2"))
	assert.Equal(t, 1, flows(t, snap, "flow.retransmitted_ratio * 2 > 0 && flow.retransmitted_ratio + 1 >= 1.000001"))
	assert.Equal(t, all, flows(t, snap, "max(flow.latency_p99_ns, 1) >= 1 || flow.packets + 1 > 0"))
	assert.Equal(t, all, flows(t, snap, `string(flow.src_ip)[0:6] == "10.77."`))
	assert.Equal(t, all, flows(t, snap, `upper(flow.transport) == "ROCEV2" && len(flow.service) == 2`))
	assert.Equal(t, 0, flows(t, snap, "flow.tcp.rtt.p99_ns + 1 > 0"), "absent")
	assert.Equal(t, 0, flows(t, snap, "abs(flow.tcp.rtt.p99_ns) != 0"))
}

// TestMathErrors wants faults to point at what is wrong.
func TestMathErrors(t *testing.T) {
	for expr, want := range map[string]string{
		"ip.src + 1 == 5":                       "+ does not apply to type IPv4 address|^^^^^^         take a slice, or a prefix length",
		"5 < ip.len + eth.src":                  "+ does not apply to type MAC address|             ^^^^^^^",
		"infiniband.bth.a + 1 == 2":             "+ does not apply to type boolean|^^^^^^^^^^^^^^^^",
		"frame.time + 1 > 5":                    "use frame.time_epoch",
		"frame.time_relative * 2 > 5":           "* does not apply to type seconds",
		"frame.len + 1.5 > 3":                   `"1.5" is not a number|            ^^^`,
		"ip && frame.len + ip.lne > 3":          "no field ip.lne|                  ^^^^^^     did you mean ip.len?",
		"frame.len-1 > 3":                       "no field frame.len-1|^^^^^^^^^^^     write a space in front of -",
		"frame.len + 5-1 > 3":                   `"5-1" is not a number|            ^^^     write a space in front of -`,
		"frame.len / 0 == 1":                    "nothing can be divided by 0|            ^",
		"frame.len % {5 - 5} == 1":              "nothing can be divided by 0|            ^^^^^^^",
		"frame.len + 0xffffffffffffffff * 2":    "the result is too big|            ^^^^^^^^^^^^^^^^^^^^^^",
		"5 + 5 == 10":                           "there is no field to compare with|^^^^^",
		"5 contains frame":                      "contains wants the field on the left",
		"len(frame)":                            "len() has to be compared with something|^^^^^^^^^^",
		"len(frame.len) == 4":                   "len needs text, octets, a header or an address, this is of type unsigned|    ^^^^^^^^^",
		"len() == 5":                            "len needs an argument|^^^",
		"len(ip, udp) == 5":                     "len takes at most 1 argument|        ^^^",
		"lenn(ip) == 5":                         "no function lenn|^^^^     ",
		"frobnicate(ip) == 5":                   "there are abs, count, len, lower, max, min, string, upper",
		"ip.src(5) == 1":                        "no function ip.src|^^^^^^        it is a field",
		"count(frame.len + 1) == 1":             "count needs a field|      ^^^^^^^^^^^^^",
		"upper(ip.src) == \"A\"":                "upper needs text, this is of type IPv4 address|      ^^^^^^",
		"max(5, udp.port) == 1":                 "max needs a field|    ^",
		"max(udp.port, ip.src) == 1":            "max needs arguments of one type: unsigned and IPv4 address|              ^^^^^^",
		"len(arp) == 5":                         "where arp begins and ends is not known|    ^^^",
		"eth.src[0:0] == 52":                    `"0" is no length: 1 or more|        ^^^       write [offset]`,
		"eth.src[3-1] == 52":                    "the slice is empty: it goes backwards|        ^^^",
		"eth.src[] == 5":                        "an offset is missing|        ^",
		"eth.src[1, x] == 5":                    "x is no offset|           ^",
		"eth.src[0:2":                           "the slice is never closed|       ^",
		"frame.len[0] == 1":                     "a slice needs text, octets, a header or an address, this is of type unsigned|^^^^^^^^^",
		"eth.src[0:3] == zz":                    "zz are no octets|                ^^",
		"frame[99999999999]":                    "99999999999 is no offset|      ^^^^^^^^^^^",
		"(frame.len + 1 > 5) + 1":               "> was unexpected here|               ^",
		"{frame.len + 1 == 5":                   "== was unexpected here|               ^^",
		"{frame.len + 1":                        "the brace is never closed|^",
		"frame.len + == 5":                      "== was unexpected here|            ^^",
		"frame.len + 1 contains 5":              "contains needs text or octets, this is of type integer|              ^^^^^^^^     use string()",
		"frame.len + 1 == \"5\"":                "is text, no number|                 ^^^",
		"frame.len & frame == 5":                "& needs operands of one type: unsigned and octets|          ^",
		"frame.len + 1 == eth.src":              "type integer is not compared with type MAC address|              ^^",
		"string(ip.src) matches abc":            "matches needs a pattern in quotes|                       ^^^",
		"frame.len / 2 > ip.lne":                "is not a number|                ^^^^^^     did you mean ip.len?",
		"frame[0:6] == eth.dts":                 "eth.dts are no octets|              ^^^^^^^     did you mean eth.dst?",
		"max(ip.src) == ip.dts":                 "did you mean ip.dst?",
		"ip.addr#1 == 1.2.3.4":                  "layers can't be chosen",
		"@ip.src == 01":                         "take a slice of frame",
		strings.Repeat("{", 9999) + "frame.len": "nested too deep",
		strings.Repeat("-", 9999) + "frame.len": "nested too deep",
		strings.Repeat("(", 9999) + "frame.len" + strings.Repeat(") + 1", 9999):                     "nested too deep",
		strings.Repeat("upper(", 9999) + "rdma.opcode":                                              "nested too deep",
		"frame.len" + strings.Repeat(" + 1", 2000) + " > 5":                                         "too much arithmetic in one filter",
		"frame.len + 1 > 5" + strings.Repeat(" || frame.len + 1 > 5", 300):                          "too much arithmetic in one filter",
		"frame.len" + strings.Repeat(" + ip.len", 20) + " > 5":                                      "one comparison has at most 16 fields",
		"frame" + strings.Repeat("[0:]", 200000) + " == 5":                                          "too much arithmetic in one filter",
		strings.Repeat("frame[0] == 5 || ", 501) + "ip":                                             "too much arithmetic in one filter",
		"max(ip.len" + strings.Repeat(", ip.len", 20) + ") > 5":                                     "max takes at most 16 arguments",
		"frame[0" + strings.Repeat(",0", 99) + "] == 0":                                             "a slice has at most 64 parts",
		strings.Repeat("(", 300000) + "frame.len + 1" + strings.Repeat(")", 300000) + " == 5 && ip": "nested too deep",
	} {
		_, err := filter.CompilePacket(expr)
		var fault *filter.Error
		if !assert.True(t, errors.As(err, &fault), "%.60s: %v", expr, err) {
			continue
		}
		msg, caret, _ := strings.Cut(want, "|")
		assert.Contains(t, err.Error(), msg)
		lines := strings.Split(err.Error(), "\n")
		require.Len(t, lines, 3)
		assert.True(t, strings.HasPrefix(strings.TrimPrefix(lines[2], "    "), caret), "%.60s:\n%.200s", expr, err)
	}
}

// TestMathIsBounded: neither many values nor slices of slices may hold up a
// capture.
func TestMathIsBounded(t *testing.T) {
	f, err := filter.CompileFlow("all " + strings.Repeat("flow.udp_src_ports + ", 7) + "flow.udp_src_ports > 0")
	require.NoError(t, err)
	flow := &analysis.Flow{}
	for i := range int64(1000) { // 1000⁸ sums
		flow.UDPSrcPorts = append(flow.UDPSrcPorts, i+1)
	}
	assert.True(t, f.Match(&analysis.Connection{}, flow))
	whole := "[" + strings.Repeat("0:,", 63) + "0:]"
	g, err := filter.CompilePacket("frame" + strings.Repeat(whole, 50))
	require.NoError(t, err)
	p := nak(t)
	assert.False(t, g.Match(p))
	assert.True(t, match(t, "frame"+whole, p))
}
