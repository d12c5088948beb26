package synth

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// tshark runs over the scenario and gives a row of fields for each frame.
// Its heuristics for what rides on SENDs are off: the payloads here are noise.
func tshark(t *testing.T, s *Scenario, fields ...string) [][]string {
	t.Helper()
	return tsharkInterfaces(t, s, nil, fields...)
}

// tsharkInterfaces is tshark for frames of several link types, each on its own
// interface: one process for all, as it takes seconds to start.
func tsharkInterfaces(t *testing.T, s *Scenario, interfaces []NGInterface, fields ...string) [][]string {
	t.Helper()
	path, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark isn't installed")
	}
	file := filepath.Join(t.TempDir(), "synth.pcapng")
	var b bytes.Buffer
	require.NoError(t, s.WritePcapng(&b, PcapngOptions{Interfaces: interfaces}))
	require.NoError(t, os.WriteFile(file, b.Bytes(), 0o600))
	args := []string{"-r", file, "-T", "fields", "--disable-protocol", "rpcordma",
		"-o", "ip.check_checksum:TRUE", "-o", "tcp.check_checksum:TRUE", "--enable-heuristic", "metamako_eth"}
	for _, f := range fields {
		args = append(args, "-e", f)
	}
	out, err := exec.Command(path, args...).Output()
	require.NoError(t, err)
	var rows [][]string
	for line := range strings.Lines(string(out)) {
		rows = append(rows, strings.Split(strings.TrimRight(line, "\n"), "\t"))
	}
	require.Len(t, rows, len(s.Frames))
	return rows
}

// number reads a tshark number, which is decimal or 0x….
func number(t *testing.T, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 0, 64)
	require.NoError(t, err)
	return n
}

func TestTsharkReadsConnection(t *testing.T) {
	for name, path := range map[string]Path{"IPv4": pathA, "IPv6": path6} {
		t.Run(name, func(t *testing.T) {
			s := &Scenario{}
			c := NewConn(s, path, [2]uint32{0x123, 0x456}, [2]uint32{0xfffffe, 5}, 1_700_000_000_000_000_000)
			c.Connect(4420, nil)
			c.Send(SideA, Pattern(1, 3000))
			c.Write(SideB, 0x1122334455667788, 7, Pattern(2, 5))
			c.Read(SideA, 0x2000, 7, Pattern(3, 2048))
			c.FetchAdd(SideA, 0x3000, 7, 1, 41)
			c.Disconnect(SideB)
			rows := tshark(t, s, "infiniband.bth.opcode", "infiniband.bth.destqp", "infiniband.bth.psn", "infiniband.bth.padcnt",
				"infiniband.reth.va", "infiniband.reth.dmalen", "infiniband.aeth.msn", "infiniband.mad.attributeid",
				"infiniband.cm.req.localqpn", "infiniband.cm.req.startpsn", "_ws.malformed", "ip.checksum.status")
			got := ""
			for _, r := range rows {
				require.Empty(t, r[10], "malformed")
				if path.Src.Is4() {
					require.Equal(t, "1", r[11])
				}
				got += fmt.Sprintf("%02x:%x:%x ", number(t, r[0]), number(t, r[1]), number(t, r[2]))
			}
			assert.Equal(t, "64:1:0 64:1:0 64:1:1 "+ // REQ REP RTU
				"00:456:fffffe 01:456:ffffff 02:456:0 11:123:0 "+
				"0a:123:5 11:456:5 "+
				"0c:456:1 0d:123:1 0f:123:2 "+
				"14:456:3 12:123:3 "+
				"64:1:1 64:1:2 ", got)
			assert.EqualValues(t, CMReq, number(t, rows[0][7]))
			assert.EqualValues(t, 0x123, number(t, rows[0][8]))
			assert.EqualValues(t, 0xfffffe, number(t, rows[0][9]))
			assert.EqualValues(t, 3, number(t, rows[7][3]), "5 octets and 3 of padding")
			assert.EqualValues(t, 0x1122334455667788, number(t, rows[7][4]))
			assert.EqualValues(t, 5, number(t, rows[7][5]))
			assert.EqualValues(t, 1, number(t, rows[6][6]))
		})
	}
}

// blind names what Debian's tshark doesn't look into.
var blind = map[string]string{
	"pseudowire":         "whether Ethernet follows a label is a setting there",
	"vxlan on port 8472": "not its default port",
}

func TestTsharkReadsEncapsulations(t *testing.T) {
	ack := AppendRoCEv2(nil, &pathA, &Packet{Opcode: Acknowledge, DestQP: 0x456, PSN: 0xabcdef, Syndrome: SyndromeACK, MSN: 3})
	s := &Scenario{}
	var interfaces []NGInterface
	list := Encapsulations()
	for i, e := range list {
		link := linkOf(&Scenario{Link: e.Link}, nil)
		interfaces = append(interfaces, NGInterface{TSResol: 9, Name: e.Name, Link: &link})
		s.Frames = append(s.Frames, Frame{Time: 1_700_000_000_123_456_789, Data: e.Wrap(ack), Iface: i})
	}
	for i, row := range tsharkInterfaces(t, s, interfaces, "infiniband.bth.psn", "frame.protocols", "_ws.malformed", "ip.checksum.status") {
		t.Run(list[i].Name, func(t *testing.T) {
			if why, ok := blind[list[i].Name]; ok {
				require.Empty(t, row[0], "no longer blind")
				t.Skip(why)
			}
			require.Empty(t, row[2], row[1])
			require.NotEmpty(t, row[0], row[1])
			assert.EqualValues(t, 0xabcdef, number(t, row[0]), row[1])
			assert.NotContains(t, row[3], "0", "a bad IP checksum")
		})
	}
}

func TestTsharkReadsTCP(t *testing.T) {
	s := &Scenario{}
	for _, path := range []Path{pathA, path6} {
		for _, seg := range []Segment{
			{Flags: SYN, Options: TCPSynOptions(1460, 7)},
			{Flags: ACKFlag, Options: TCPSACK(100, 200, 300, 400), Payload: []byte("odd")},
			{Flags: PSH | ACKFlag, Options: TCPTimestamps(1, 2), Payload: AppendFPDU(nil, Tagged(RDMAPWrite, true, 1, 2, nil), true)},
		} {
			seg.SrcPort, seg.DstPort, seg.Seq, seg.Ack = 40000, 7471, 7, 9
			s.Add(int64(len(s.Frames)), AppendTCP(nil, &path, &seg))
			seg.BadChecksum = true
			s.Add(int64(len(s.Frames)), AppendTCP(nil, &path, &seg))
		}
	}
	for i, row := range tshark(t, s, "tcp.checksum.status", "_ws.malformed") {
		want := "1"
		if i%2 == 1 {
			want = "0"
		}
		assert.Equal(t, want, row[0], "segment %d", i)
		assert.Empty(t, row[1])
	}
}

func TestTsharkReadsPause(t *testing.T) {
	s := &Scenario{}
	s.Add(0, AppendPFCPriority(nil, macA, 3, 65535))
	s.Add(1, AppendPause(nil, macA, 4660))
	rows := tshark(t, s, "macc.opcode", "macc.cbfc.pause_time.c3", "macc.pause_time")
	assert.Equal(t, []string{"0x0101", "65535", ""}, rows[0])
	assert.Equal(t, []string{"0x0001", "", "4660"}, rows[1])
}
