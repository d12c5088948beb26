package analysis_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// refused are the public captures that end in one line, which says why.
var refused = map[string]string{
	"ajbanjara__Wireshark__Ethernet_Pause_Frame.cap":          "Sniffer (DOS) capture: convert it first: editcap -F pcap ",
	"ajbanjara__Wireshark__rarp_req_reply.pcap":               "damaged pcapng: before the first packet: block says 48 bytes at its start, 1 at its end",
	"the-tcpdump-group__libpcap__pcap-invalid-version-1.pcap": "pcap of version 1.4, not read",
	"the-tcpdump-group__libpcap__shb-option-too-long.pcapng":  "damaged pcapng: ",
	"LibtraceTeam__libtrace__5_packets.erf.bz2":               "bzip2: decompress it first: bzip2 -dc ",
	"LibtraceTeam__libtrace__5_packets.erf.xz":                "xz: decompress it first: xz -dc ",
}

// partial are those of which a part can be read, and what is said of the rest.
var partial = map[string]struct {
	packets int64
	why     string
}{
	"google__gopacket__be_test901.pcapng": {1, "after packet 1: pcapng of version 2.0, not read"},
	"derived__roce_cut_midrecord.pcap":    {95, "cut short in packet 96"},
}

// publicPackets are where the README, which is tshark's word, has another
// number of packets than the file, or none.
var publicPackets = map[string]int64{
	"the-tcpdump-group__libpcap__linktype-reserved-field-not-zero.pcap": 0, // a file header alone
}

// inside are the layers of the README that the report counts by name. tshark
// leaves out what it gives up in front of: see decode/wire's table for those.
var inside = map[string][]string{
	"erspan": {"erspan1", "erspan2", "erspan3"}, "vxlan": {"vxlan"}, "geneve": {"geneve"}, "nsh": {"nsh"}, "vntag": {"vntag"}, "avsp": {"tap_header"},
}

var (
	layerCount = regexp.MustCompile(`([a-z_0-9.]+)\((\d+)\)`)
	opsCount   = regexp.MustCompile(`ops\{([^}]*)\}`)
)

// publicRows are the rows of the README.
func publicRows(t *testing.T) map[string][]string {
	path := sharedFile("captures-public", "README.md")
	if path == "" {
		t.Skip("the public captures are not there")
	}
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	rows := map[string][]string{}
	for _, line := range strings.Split(string(text), "\n") {
		if cells := strings.Split(line, "|"); len(cells) > 6 && strings.Contains(cells[1], "__") {
			for i := range cells {
				cells[i] = strings.TrimSpace(cells[i])
			}
			rows[cells[1]] = cells
		}
	}
	return rows
}

// TestPublicReports: every public capture ends in a report that has what its
// README says it holds, or in one line that says why not.
func TestPublicReports(t *testing.T) {
	rows := publicRows(t)
	files, err := filepath.Glob(filepath.Join(filepath.Dir(sharedFile("captures-public", "README.md")), "*__*"))
	require.NoError(t, err)
	require.Greater(t, len(files), 80)
	for _, file := range files {
		name := filepath.Base(file)
		t.Run(name, func(t *testing.T) {
			src, err := pcaps.Open([]string{file}, pcaps.Options{})
			if why, ok := refused[name]; ok {
				require.Error(t, err)
				assert.Contains(t, err.Error(), why)
				assert.NotContains(t, err.Error(), "\n")
				return
			}
			require.NoError(t, err)
			defer src.Close()
			s, err := analysis.Analyze(context.Background(), src, analysis.Options{Workers: 2})
			require.NoError(t, err)
			if p, ok := partial[name]; ok {
				assert.Equal(t, p.packets, s.Capture.Packets)
				assert.Contains(t, string(s.Inputs[0].Error), p.why)
				assert.False(t, s.Inputs[0].Complete)
			} else {
				assert.True(t, s.Inputs[0].Complete, s.Inputs[0].Error)
			}
			checkClocks(t, name, file, s)
			row, ok := rows[name]
			if !ok {
				require.Contains(t, name, "derived__", "not in the README")
				checkDerived(t, name, s)
				return
			}
			checkPublicRow(t, name, row, s)
		})
	}
}

func checkPublicRow(t *testing.T, name string, row []string, s *analysis.Snapshot) {
	c, p := &s.Capture, &s.Protocols
	ops := opsCount.FindStringSubmatch(row[5])
	if n, err := strconv.ParseInt(row[3], 10, 64); err == nil {
		if strings.HasPrefix(name, "sanderw71__") { // "cut to their RoCE packets"
			require.NotNil(t, ops)
			n = 0
			for _, op := range strings.Split(ops[1], ",") {
				_, count, _ := strings.Cut(op, ":")
				k, err := strconv.ParseInt(count, 10, 64)
				require.NoError(t, err)
				n += k
			}
		}
		if other, ok := publicPackets[name]; ok {
			n = other
		}
		assert.Equal(t, n, c.Packets, "packets")
	}
	layers := map[string]int64{}
	for _, m := range layerCount.FindAllStringSubmatch(row[5], -1) {
		n, _ := strconv.ParseInt(m[2], 10, 64)
		layers[m[1]] = max(layers[m[1]], n)
	}
	if layers["infiniband"] > 0 || ops == nil {
		assert.Equal(t, layers["infiniband"], p.RoCEv2.Packets+p.CM.Packets, "RoCE packets")
	}
	assert.Equal(t, layers["iwarp_mpa"] > 0, p.IWARP.Packets > 0, "iWARP")
	for layer, names := range inside {
		var n int64
		for _, e := range names {
			n += c.Encapsulations[e]
		}
		if n != layers[layer] && !strings.HasSuffix(row[5], "…") {
			assert.Equal(t, layers[layer], n, layer)
		}
	}
	if ops != nil {
		assert.Equal(t, ops[1], opsOf(s), "opcodes")
	}
	if p.RoCEv2.Packets+p.CM.Packets+p.IWARP.Packets+p.PFC.Packets+p.Pause.Packets == 0 && c.Packets > 0 {
		var n int64
		for _, v := range c.Contents {
			n += v
		}
		assert.Equal(t, c.Packets, n, "what there is instead of RDMA: %v", c.Contents)
	}
}

// opsOf lists the opcodes of all connections as the README does.
func opsOf(s *analysis.Snapshot) string {
	count := map[string]int64{roce.OpcodeUDSendOnly.String(): s.Protocols.CM.Packets}
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			for name, n := range s.Connections[i].Flows[k].Opcodes {
				count[name] += n
			}
		}
	}
	var ops []string
	for op := range 256 {
		if n := count[roce.Opcode(op).String()]; n > 0 {
			ops = append(ops, strconv.Itoa(op)+":"+strconv.FormatInt(n, 10))
		}
	}
	return strings.Join(ops, ",")
}

// checkDerived: all of them hold, as far as they go, what was made into them.
func checkDerived(t *testing.T, name string, s *analysis.Snapshot) {
	want := map[string]string{
		"derived__roce_sll2_dup.pcap":      "4:64,6:10,7:10,8:10,17:74,100:24",
		"derived__roce_cut_midrecord.pcap": "4:32,6:5,7:5,8:5,17:37,100:11",
	}[name]
	if want == "" {
		want = "4:32,6:5,7:5,8:5,17:37,100:12"
	}
	assert.Equal(t, want, opsOf(s))
	assert.EqualValues(t, 2, s.ConnectionsTotal)
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			fl := &s.Connections[i].Flows[k]
			assert.Equal(t, analysis.Int(0), fl.Retransmitted)
			if strings.Contains(name, "dup") {
				assert.Equal(t, analysis.Int(fl.Packets/2), fl.Duplicates, "doubled as any shows it")
			}
		}
	}
}

// autoStamped are the captures whose frames a tap stamped so that nobody has to
// ask for it.
var autoStamped = map[string]bool{
	"CiscoDevNet__n3550-timestamp-decoder__fusion_hpt_example.pcap": true,
	"ajbanjara__Wireshark__exablaze_trailer.pcap":                   true,
	"the-tcpdump-group__tcpdump__arista_ether.pcap":                 true,
}

// checkClocks: stamps or not, the same packets come out.
func checkClocks(t *testing.T, name, file string, s *analysis.Snapshot) {
	for _, mode := range []analysis.ClockMode{analysis.ClockAuto, analysis.ClockTrailer} {
		src, err := pcaps.Open([]string{file}, pcaps.Options{})
		require.NoError(t, err)
		got, err := analysis.Analyze(context.Background(), analysis.Stamped(src, wire.Config{}, mode), analysis.Options{Workers: 2})
		require.NoError(t, err)
		require.NoError(t, src.Close())
		assert.Equal(t, s.Capture.Packets, got.Capture.Packets)
		assert.Equal(t, s.ConnectionsTotal, got.ConnectionsTotal)
		if mode == analysis.ClockAuto {
			assert.Equal(t, autoStamped[name], got.Capture.Clock == "trailer")
		}
	}
}
