package filter_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// tsharkFilters are filters whose results must be equal to tshark's.
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
	"infiniband.immdt == 00:00:00:00 || infiniband.ieth != 00:00:00:01",
	"infiniband.deth.srcqp == 1",
	"infiniband.deth.q_key == 0x80010000 && !(infiniband.mad.method == 3) && frame.len == frame.cap_len",
	"infiniband.mad.attributeid == 0x10 && frame.len == frame.cap_len", // tshark shows no header that was cut
	"infiniband.cm.req.retrcount > 3",
	"infiniband.cm.rej.reason == 28",
	"infiniband.cm.req.ip_cm.sip4 == 10.77.0.0/16",
	"infiniband.invariant.crc && infiniband.bth.opcode == 17", // of others it hands payloads to dissectors that fail
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

// TestAgainstTshark wants each filter to select as many packets as tshark's -Y.
func TestAgainstTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	path := sample(t)
	list := slices.Concat(tsharkFilters, tsharkMath)
	filters := make([]*filter.PacketFilter, len(list))
	for i, expr := range list {
		var err error
		filters[i], err = filter.CompilePacket(expr)
		require.NoError(t, err, expr)
	}
	ours, total := make(map[string][]int64), int64(0)
	packets(t, path, func(p *wire.Packet) {
		total = p.Number
		for i, f := range filters {
			if f.Match(p) {
				ours[list[i]] = append(ours[list[i]], p.Number)
			}
		}
	})
	theirs := tsharkCounts(t, path, list)
	some := 0
	for _, expr := range list {
		if n := len(ours[expr]); n > 0 {
			some++
		}
		if theirs[expr] == int64(len(ours[expr])) {
			continue
		}
		// The hierarchy counts a few packets of reassembled streams that -Y
		// doesn't select: -Y is the filter.
		assert.Empty(t, difference(t, path, expr, ours[expr]), expr)
	}
	assert.Greater(t, some, len(list)*9/10, "filters that select nothing prove little")
	t.Logf("%d filters over %d packets, %d of them select some", len(list), total, some)
}

// TestIWARPAgainstTshark looks at whole captures: tshark knows MPA by the stream,
// and streams of several captures would have the same ports.
func TestIWARPAgainstTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
	list := []string{"iwarp_mpa.req || iwarp_mpa.rep", "iwarp_mpa.rev == 2 && iwarp_mpa.crc_flag == 1", "iwarp_mpa.pdlength > 0"}
	for _, name := range []string{"siw_rping.pcap.gz", "siw_p2p_rtr.pcap.gz", "siw_mpa_reject_app.pcap"} {
		theirs := tsharkCounts(t, testdata(name), list)
		for _, expr := range list {
			n := int64(0)
			f, err := filter.CompilePacket(expr)
			require.NoError(t, err)
			packets(t, testdata(name), func(p *wire.Packet) {
				if f.Match(p) {
					n++
				}
			})
			assert.Equal(t, theirs[expr], n, "%s: %s", name, expr)
		}
	}
}

// sample writes packets of all captures into one pcapng: tshark takes longer to
// start than to dissect them.
func sample(t *testing.T) string {
	var ifaces []pcaps.Interface
	links := []uint16{wire.LinkEthernet, wire.LinkLinuxSLL, wire.LinkLinuxSLL2, wire.LinkRaw, wire.LinkInfiniBand}
	for _, link := range links {
		ifaces = append(ifaces, pcaps.Interface{Link: link})
	}
	path := filepath.Join(t.TempDir(), "sample.pcapng")
	file, err := os.Create(path)
	require.NoError(t, err)
	defer file.Close()
	w, err := pcaps.NewPcapngWriter(file, ifaces)
	require.NoError(t, err)
	for _, capture := range captures(t, "captures", "captures-public") {
		if beyondTshark[filepath.Base(capture)] != "" {
			continue
		}
		n := 0
		packets(t, capture, func(p *wire.Packet) {
			if n++; n > 40 && n%29 != 0 || n > 4000 || p.Time < 0 {
				return
			}
			iface := slices.Index(links, p.Link)
			if iface < 0 {
				return
			}
			require.NoError(t, w.Write(pcaps.Record{Time: p.Time, Wire: p.Wire, Link: p.Link, Iface: uint16(iface)}, p.Data, ""))
		})
	}
	require.NoError(t, w.Flush())
	return path
}

// beyondTshark are captures that tshark 4.0 dissects otherwise than we do.
var beyondTshark = map[string]string{
	"the-tcpdump-group__tcpdump__arista_ether.pcap": "tshark looks no further than Arista's header",
	"zeek__zeek__ip6-trunc.pcap":                    "tshark shows an IPv6 header that was cut",
}

// tsharkArgs keep tshark from resolving names, and RPC over RDMA from taking
// payloads that aren't its own for malformed packets.
func tsharkArgs(path string, more ...string) []string {
	return append([]string{"-n", "-r", path, "--disable-protocol", "rpcordma"}, more...)
}

// tsharkCounts asks tshark in one run how many packets each filter selects: its
// hierarchy of protocols takes a filter, and its outermost lines add up.
func tsharkCounts(t *testing.T, path string, filters []string) map[string]int64 {
	args := tsharkArgs(path, "-q")
	for _, expr := range filters {
		args = append(args, "-z", "io,phs,"+expr)
	}
	cmd := exec.Command("tshark", args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	require.NoError(t, err, stderr.String())
	counts, expr := make(map[string]int64), ""
	for _, line := range strings.Split(string(out), "\n") {
		if f, ok := strings.CutPrefix(line, "Filter: "); ok {
			expr = f
			counts[expr] = 0
		}
		if _, n, ok := strings.Cut(line, "frames:"); ok && line[0] != ' ' {
			n, _, _ = strings.Cut(n, " ")
			v, err := strconv.ParseInt(n, 10, 64)
			require.NoError(t, err, line)
			counts[expr] += v
		}
	}
	require.Len(t, counts, len(filters))
	return counts
}

// difference names the packets that only one of both selects.
func difference(t *testing.T, path, expr string, ours []int64) string {
	out, err := exec.Command("tshark", tsharkArgs(path, "-Y", expr, "-T", "fields", "-e", "frame.number")...).Output()
	require.NoError(t, err)
	seen := map[string]int{}
	for _, n := range ours {
		seen[strconv.FormatInt(n, 10)] |= 1
	}
	for _, n := range strings.Fields(string(out)) {
		seen[n] |= 2
	}
	var b strings.Builder
	for n, who := range seen {
		if who != 3 {
			fmt.Fprintf(&b, "%s only %s; ", n, [...]string{"", "ours", "tshark's"}[who])
		}
	}
	return b.String()[:min(b.Len(), 400)]
}
