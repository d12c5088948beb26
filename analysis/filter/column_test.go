package filter_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
)

func column(t testing.TB, name string, p *wire.Packet) string {
	t.Helper()
	c, err := filter.CompileColumn(name)
	require.NoError(t, err)
	return string(c.Append(nil, p, ","))
}

func TestColumns(t *testing.T) {
	p := nak(t)
	p.Time = 1_700_000_000_000_000_005
	for name, want := range map[string]string{
		"infiniband.bth.opcode": "17", "infiniband.aeth": "infiniband.aeth", "infiniband.reth.va": "",
		"ip.addr": "10.77.0.2,10.77.0.1", "eth.src": "52:54:00:77:00:02", "frame.time_epoch": "1700000000.000000005",
		"frame.time": "2023-11-14 22:13:20.000000005 UTC", "frame.time_relative": "0.000000000", "ip.version": "4",
		"infiniband.bth.p_key": "65535", "infiniband.bth.destqp": "0x000012", "rdma.opcode": "RC Acknowledge", "infiniband.bth.a": "0",
	} {
		assert.Equal(t, want, column(t, name, p), name)
	}
	_, err := filter.CompileColumn("ip.scr")
	assert.ErrorContains(t, err, "did you mean ip.src?")
	_, err = filter.CompileColumn("")
	assert.Error(t, err)
}

// TestColumnsAgainstTshark wants the same text as tshark -T fields.
func TestColumnsAgainstTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	names := []string{"frame.number", "frame.len", "frame.time_relative", "frame.time_epoch", "eth.src", "eth.type", "ip.src", "ip.dsfield", "ip.id", "ip.ttl",
		"udp.srcport", "udp.checksum", "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.bth.p_key", "infiniband.bth.a",
		"infiniband.aeth.syndrome", "infiniband.aeth.msn", "infiniband.reth.va", "infiniband.reth.r_key", "infiniband.reth.dmalen",
		"infiniband.deth.q_key", "infiniband.cm.req.serviceid", "infiniband.cm.req.startpsn", "infiniband.cm.req.localqpn", "infiniband.cm.req.retrcount", "infiniband.cm.req.prim_locallid",
		"infiniband.cm.rep.tgtackdelay", "infiniband.mad.method", "infiniband.deth.srcqp", "ip.flags", "ip.flags.df", "vlan.id", "vlan.priority"}
	for _, capture := range []string{"rxe_cm_connect_teardown.pcap", "rxe_exact_single_loss.pcap.gz", "rxe_vlan100.pcap.gz"} {
		args := []string{"-n", "-r", testdata(capture), "-c", "150", "-T", "fields"}
		var columns []*filter.Column
		for _, name := range names {
			args = append(args, "-e", name)
			c, err := filter.CompileColumn(name)
			require.NoError(t, err)
			columns = append(columns, c)
		}
		out, err := exec.Command("tshark", args...).Output()
		require.NoError(t, err)
		want := strings.Split(string(out), "\n")
		packets(t, testdata(capture), func(p *wire.Packet) {
			if p.Number > 150 || t.Failed() {
				return
			}
			got := strings.Split(want[p.Number-1], "\t")
			for i, c := range columns {
				assert.Equal(t, got[i], string(c.Append(nil, p, ",")), "%s of packet %d of %s", names[i], p.Number, capture)
			}
		})
	}
}
