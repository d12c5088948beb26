package filter_test

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
	"rdmascope/pcaps"
)

func snapshot(t testing.TB, name string) *analysis.Snapshot {
	t.Helper()
	src, err := pcaps.Open([]string{testdata(name)}, pcaps.Options{})
	require.NoError(t, err)
	defer func() { require.NoError(t, src.Close()) }()
	snap, err := analysis.Analyze(context.Background(), src, analysis.Options{Workers: 1})
	require.NoError(t, err)
	return snap
}

// flows counts those of a snapshot that a filter lets pass.
func flows(t testing.TB, snap *analysis.Snapshot, expr string) (n int) {
	t.Helper()
	f, err := filter.CompileFlow(expr)
	require.NoError(t, err, expr)
	f.SetFindings(snap.Findings)
	for i := range snap.Connections {
		c := &snap.Connections[i]
		for j := range c.Flows {
			if f.Match(c, &c.Flows[j]) {
				n++
			}
		}
	}
	return n
}

func TestFlowsOfACapture(t *testing.T) {
	snap := snapshot(t, "rxe_exact_single_loss.pcap.gz")
	all := flows(t, snap, "")
	require.Positive(t, all)
	assert.Equal(t, all, flows(t, snap, "flow.packets > 0"))
	assert.Equal(t, all, flows(t, snap, "flow.ip == 10.77.0.0/16 && ip.addr == 10.77.0.1"))
	assert.Equal(t, 0, flows(t, snap, "ip.src == 192.0.2.1 || flow.ip == 192.0.2.0/24"))
	assert.Equal(t, 1, flows(t, snap, "flow.retransmitted_packets > 0"))
	assert.Equal(t, 1, flows(t, snap, "flow.episodes.total >= 1 and not flow.retransmitted_ratio == 0"))
	assert.Equal(t, all, flows(t, snap, `flow.transport == "rocev2" && flow.service in {"rc", "uc"}`))
	assert.Equal(t, all, flows(t, snap, `flow.opcodes contains "RC"`))
	assert.Equal(t, 1, flows(t, snap, `finding.rule matches "^rc\\." && flow.naks > 0`))
	assert.Equal(t, 0, flows(t, snap, "flow.tcp.rtt.p99_ns"), "no iWARP here")
	assert.Equal(t, 0, flows(t, snap, "flow.src_port != 5"), "absent: not even unequal")
	assert.Positive(t, flows(t, snap, "flow.latency_p99_ns > 1"))
	assert.Equal(t, all, flows(t, snap, `flow.first_time > "2001-01-01" && flow.first_time < "2100-01-01"`))
}

func TestFlowValues(t *testing.T) {
	ratio := analysis.Decimal(0.25)
	c := &analysis.Connection{ID: "c1", Transport: "infiniband",
		A: analysis.Endpoint{IP: "lid:17", QPN: analysis.Int(0x11), MAC: "52:54:00:77:00:01"}, B: analysis.Endpoint{QPN: analysis.Int(0x12)},
		Closed: &analysis.Closed{How: "dreq", When: 5e9}}
	f := &analysis.Flow{SrcIP: "lid:17", DstIP: "fe80::1", DestQP: analysis.Int(0x12), VLANIDs: analysis.List[int64]{100, 200},
		DSCP: analysis.ByNumber{26: 5, 48: 1}, RecoveryTimeNS: analysis.Int(-3), Amplification: &ratio,
		Livelock: analysis.Bool(true), Opcodes: analysis.Counts{"RC Acknowledge": 3}}
	for expr, want := range map[string]bool{
		"flow.src_ip == lid:17":                       true,
		"flow.src_ip == lid:18":                       false,
		"flow.ip == fe80::/10 && ipv6.dst == fe80::1": true,
		"ip.dst":                                                   false,
		"infiniband.grh.dgid == fe80::1":                           true,
		"flow.qp == 0x11 && flow.qp == 0x12":                       true,
		"infiniband.bth.destqp == 0x11":                            false,
		"flow.vlan_ids == 200 && vlan.id in {50..100}":             true,
		"flow.vlan_ids != 200":                                     false,
		"flow.vlan_ids !== 200":                                    true,
		"all flow.vlan_ids >= 100":                                 true,
		"all flow.vlan_ids > 100":                                  false,
		"flow.dscp == 48 && not flow.dscp == 0":                    true,
		"flow.recovery_time_ns < 0":                                true,
		"flow.recovery_time_ns == -3":                              true,
		"flow.recovery_time_ns > -3":                               false,
		"flow.amplification_ratio == 0.25":                         true,
		"flow.amplification_ratio >= 0.26":                         false,
		"flow.amplification_ratio > -1.5":                          true,
		"flow.livelock == 1":                                       true,
		"flow.livelock == false":                                   false,
		"flow.retries_exhausted":                                   false,
		"eth.addr == 52:54:00:77:00:01":                            true,
		"flow.a.mac == 5254.0077.0002":                             false,
		`flow.closed.how == "dreq"`:                                true,
		`flow.closed.how == dreq`:                                  true,
		`flow.closed.when == "1970-01-01 00:00:05"`:                true,
		`flow.closed.how in {"fin", "rst"}`:                        false,
		`flow.opcodes == "RC Acknowledge"`:                         true,
		`flow.opcodes matches "acknow"`:                            true,
		"flow.dest_qp == flow.b.qpn":                               true,
		"flow.dest_qp == flow.a.qpn":                               false,
		"flow.dest_qp > flow.a.qpn xor flow.retransmitted_packets": true,
		"flow.recoveries == 0":                                     true,
	} {
		compiled, err := filter.CompileFlow(expr)
		if assert.NoError(t, err, expr) {
			assert.Equal(t, want, compiled.Match(c, f), expr)
			assert.Equal(t, want, compiled.Clone().Match(c, f), expr)
		}
	}
}

// TestFlowAllocations: a million rows are filtered at every key press.
func TestFlowAllocations(t *testing.T) {
	snap := snapshot(t, "rxe_exact_single_loss.pcap.gz")
	c := &snap.Connections[0]
	for _, expr := range []string{
		"flow.retransmitted_packets > 0 && flow.ip == 10.77.0.0/16",
		`flow.transport == "rocev2" && flow.latency_p99_ns > 5 or flow.opcodes contains "x" or flow.dscp == 5`,
	} {
		f, err := filter.CompileFlow(expr)
		require.NoError(t, err)
		f.Match(c, &c.Flows[0])
		assert.Zero(t, testing.AllocsPerRun(100, func() { f.Match(c, &c.Flows[0]) }), expr)
	}
}

func TestFields(t *testing.T) {
	fields := filter.Fields()
	require.Greater(t, len(fields), 500)
	for i, f := range fields {
		assert.NotEmpty(t, f.Doc, f.Name)
		assert.NotEqual(t, "invalid", f.Type.String(), f.Name)
		if i > 0 {
			assert.Less(t, strings.Repeat("~", int(fields[i-1].Scope))+fields[i-1].Name, strings.Repeat("~", int(f.Scope))+f.Name)
		}
	}
	assert.Equal(t, []string{"ip.dsfield", "ip.dsfield.dscp", "ip.dsfield.ecn"}, filter.Complete("ip.dsf", filter.ScopePacket))
	assert.Equal(t, []string{"flow.latency_p999_ns", "flow.latency_p99_ns"}, filter.Complete("flow.latency_p99", filter.ScopeFlow))
	assert.Equal(t, "udp.po", filter.Word("ip && (udp.po"))
	assert.Equal(t, "", filter.Word("ip && "))
}
