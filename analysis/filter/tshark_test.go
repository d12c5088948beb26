package filter_test

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/filter"
	"rdmascope/decode"
)

// tsharkFilters are filters whose results must be equal to tshark's, in every
// capture. The captures hold ICMP errors that quote datagrams, which Wireshark
// takes apart; "not icmp" leaves those out.
var tsharkFilters = []string{
	"infiniband",
	"udp && !infiniband",
	"infiniband.bth.opcode == 17",
	"infiniband.bth.opcode != 17",
	"infiniband.bth.opcode in {0..4, 17}",
	"infiniband.bth.psn > 0x800000 and infiniband.bth.psn < 0xf00000",
	"infiniband.bth.destqp == 0x11 || infiniband.bth.destqp == 1",
	"infiniband.bth.a == 1",
	"infiniband.bth.se == True && infiniband.bth.padcnt & 1",
	"infiniband.aeth",
	"infiniband.aeth.syndrome != 0",
	"infiniband.aeth.syndrome & 0x60 == 0x60",
	"infiniband.aeth.syndrome.error_code == 0",
	"infiniband.aeth.msn > 100",
	"infiniband.reth.dmalen >= 4096",
	"infiniband.reth.r_key",
	"infiniband.atomiceth.swapdt > 0",
	"infiniband.immdt",
	"infiniband.deth.srcqp == 1",
	"infiniband.deth.q_key == 0x80010000 && !(infiniband.mad.method == 3)",
	"infiniband.mad.attributeid == 0x10",
	"infiniband.cm.req.retrcount > 3",
	"infiniband.cm.rej.reason == 28",
	"infiniband.cm.req.ip_cm.sip4 == 10.77.0.0/16",
	"infiniband.invariant.crc",
	"ip.src == 10.77.0.1",
	"ip.addr == 10.77.0.0/24",
	"ip.addr != 10.77.0.1",
	"ip.addr !== 10.77.0.1",
	"ip.addr === 10.77.0.0/24",
	"!(ip.addr == 10.77.0.1)",
	"ip.src > 10.77.0.1",
	"ip.src == ip.dst",
	"ip.dsfield.ecn == 3",
	"ip.dsfield.dscp > 0 && ip.ttl < 65",
	"ip.flags.df == 1 && ip.id > 0x1000",
	"ip.proto == 6 || ip.proto == 17",
	"ip.len > 1000",
	"ipv6",
	"ipv6.src == fe80::/10",
	"ipv6.addr == ::1 || ipv6.plen > 200",
	"ipv6.hlim == 64 && ipv6.nxt == 17",
	"udp.port == 4791",
	"udp.dstport == 4791 && udp.srcport >= 50000",
	"udp.length < 40",
	"udp.checksum == 0",
	"tcp",
	"tcp.flags.syn == 1 && tcp.flags.ack == 0",
	"tcp.flags & 0x05",
	"tcp.len > 0",
	"tcp.port in {1..1023, 7174, 20000..65535}",
	"tcp.seq_raw > 0x80000000",
	"tcp.hdr_len > 20 and tcp.window_size_value < 1000",
	"eth.src == 52:54:00:77:00:01",
	"eth.addr == 01:80:c2:00:00:01",
	"eth.type == 0x8808",
	"vlan",
	"vlan.id == 100 && vlan.priority == 3",
	"macc.opcode == 0x101",
	"macc.cbfc.enbv.c3 == 1 && macc.cbfc.pause_time.c3 > 0",
	"macc.cbfc.pause_time.c3 == 0",
	"arp",
	"frame.number in {1, 5..9, 100..200}",
	"frame.len > 100 && frame.len < 1100",
	"frame.cap_len < 128",
	"frame.time_relative < 0.5",
	"frame.time_epoch > 1500000000.5",
	"frame contains 00:11:22 || frame contains \"abc\"",
	"frame matches \"[a-c]{4}\"",
	"frame.interface_id == 1",
	"not udp and not tcp and not arp and not macc",
}

// TestAgainstTshark wants each filter to select as many packets as tshark's -Y,
// and the same ones.
func TestAgainstTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	var paths []string
	for _, path := range captures(t, "captures-public") {
		if name := filepath.Base(path); !tsharkReadsOtherwise[name] {
			paths = append(paths, path)
		}
	}
	if testing.Short() {
		paths = paths[:4]
	}
	selected, nonzero := 0, map[string]bool{}
	for _, path := range paths {
		ours := selectedBy(t, path)
		if ours == nil {
			continue
		}
		theirs, ok := tsharkSelects(t, path)
		if !ok {
			continue
		}
		for i, expr := range tsharkFilters {
			if !assert.Equal(t, theirs[i], ours[i], "%s\n%s", path, expr) {
				break
			}
			selected += len(ours[i])
			if len(ours[i]) > 0 {
				nonzero[expr] = true
			}
		}
	}
	t.Logf("%d captures, %d filters of %d select something, %d packets selected", len(paths), len(nonzero), len(tsharkFilters), selected)
}

// tsharkReadsOtherwise are captures that tshark dissects otherwise for reasons
// that are not the filter's.
var tsharkReadsOtherwise = map[string]bool{}

const mostPackets = 400 // of a capture: tshark takes its time

// selectedBy lists the packets that each filter selects.
func selectedBy(t *testing.T, path string) [][]int64 {
	filters := make([]*filter.PacketFilter, len(tsharkFilters))
	for i, expr := range tsharkFilters {
		var err error
		filters[i], err = filter.CompilePacket(expr)
		require.NoError(t, err, expr)
	}
	lists := make([][]int64, len(filters))
	if !packets(t, path, func(p *decode.Packet) {
		if p.Number > mostPackets {
			return
		}
		for i, f := range filters {
			if f.Match(p) {
				lists[i] = append(lists[i], p.Number)
			}
		}
	}) {
		return nil
	}
	return lists
}

// tsharkSelects asks tshark once a capture: each filter is a column of its own,
// since tshark takes longer to start than to dissect.
func tsharkSelects(t *testing.T, path string) ([][]int64, bool) {
	lists := make([][]int64, len(tsharkFilters))
	for i, expr := range tsharkFilters {
		args := []string{"-n", "-r", path, "-c", itoa(mostPackets), "--disable-protocol", "rpcordma", "-Y", expr, "-T", "fields", "-e", "frame.number"}
		cmd := exec.Command("tshark", args...)
		var stderr bytes.Buffer
		cmd.Stderr = &stderr
		out, err := cmd.Output()
		if err != nil {
			require.NotContains(t, stderr.String(), expr, "tshark refuses a filter of the list")
			return nil, false
		}
		for _, word := range strings.Fields(string(out)) {
			n := int64(0)
			for _, c := range word {
				n = n*10 + int64(c-'0')
			}
			lists[i] = append(lists[i], n)
		}
	}
	return lists, true
}
