package wire_test

import (
	"bufio"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"sort"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// needTshark skips a test where tshark isn't installed.
func needTshark(t testing.TB) {
	t.Helper()
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed")
	}
}

func shared(t testing.TB, sub string) (dir string, ok bool) {
	t.Helper()
	dir = os.Getenv("RDMASCOPE_SHARED")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared")
	}
	dir = filepath.Join(dir, sub)
	_, err := os.Stat(dir)
	return dir, err == nil
}

// captures are the RoCE captures to compare with tshark: all of them where they
// are, else those that belong to the repository.
func captures(t testing.TB) []string {
	t.Helper()
	dir, ok := shared(t, "captures")
	if !ok {
		dir = filepath.Join("..", "..", "pcaps", "testdata")
	}
	var all []string
	for _, pattern := range []string{"rxe_*.pcap*", "pfc_*.pcap*", "cnp_*.pcap*", "siw_connect*.pcap*", "siw_crc_rping.pcap*", "siw_rping_ipv6.pcap*"} {
		m, err := filepath.Glob(filepath.Join(dir, pattern))
		require.NoError(t, err)
		all = append(all, m...)
	}
	require.NotEmpty(t, all)
	return all
}

// readPackets decodes the first n packets of a capture.
func readPackets(t testing.TB, path string, n int) []wire.Packet {
	t.Helper()
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(t, err)
	defer func() { assert.NoError(t, src.Close()) }()
	d := wire.NewDecoder(wire.Config{})
	var pkts []wire.Packet
	for len(pkts) < n {
		buf, recs, err := src.ReadBlock(nil, nil)
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for _, r := range recs {
			if len(pkts) == n {
				break
			}
			p := wire.Packet{Number: int64(len(pkts) + 1), Time: r.Time, Data: buf[r.Off : r.Off+r.Cap], Wire: r.Wire, Iface: r.Iface, Link: r.Link, Dir: wire.Dir(r.Dir)}
			if r.Flags&pcaps.FlagNoTime != 0 {
				p.Flags |= wire.FlagNoTime
			}
			d.Decode(&p)
			pkts = append(pkts, p)
		}
	}
	return pkts
}

// pdmlField is a field of tshark's -T pdml: where it is and what its bits are.
type pdmlField struct {
	Name   string      `xml:"name,attr"`
	Show   string      `xml:"show,attr"`
	Value  string      `xml:"value,attr"`
	Pos    int         `xml:"pos,attr"`
	Size   int         `xml:"size,attr"`
	Fields []pdmlField `xml:"field"`
	Protos []pdmlField `xml:"proto"`
}

// sampleFile writes the first and the last packets of all captures into one
// pcapng: tshark takes longer to start than to dissect them.
func sampleFile(t testing.TB, first, last int) (path string, pkts []wire.Packet) {
	t.Helper()
	links := []uint16{wire.LinkEthernet, wire.LinkLinuxSLL2, wire.LinkLinuxSLL}
	var ifaces []pcaps.Interface
	for _, l := range links {
		ifaces = append(ifaces, pcaps.Interface{Link: l})
	}
	path = filepath.Join(t.TempDir(), "sample.pcapng")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	w, err := pcaps.NewPcapngWriter(f, ifaces)
	require.NoError(t, err)
	for _, capture := range captures(t) {
		all := readPackets(t, capture, 1<<20)
		if len(all) > first+last {
			all = append(all[:first:first], all[len(all)-last:]...)
		}
		for _, p := range all {
			iface := slices.Index(links, p.Link)
			require.GreaterOrEqual(t, iface, 0, "%s: link type %d", capture, p.Link)
			p.Number = int64(len(pkts) + 1)
			pkts = append(pkts, p)
			require.NoError(t, w.Write(pcaps.Record{Time: p.Time, Cap: uint32(len(p.Data)), Wire: p.Wire, Link: p.Link, Iface: uint16(iface)}, p.Data, ""))
		}
	}
	require.NoError(t, w.Flush())
	return path, pkts
}

// tshark dissects a capture and calls back for each packet. RPC over RDMA is
// switched off: it takes payloads that aren't its own for malformed.
func tshark(t testing.TB, path string, packet func(i int, p *pdmlField), args ...string) {
	t.Helper()
	args = append([]string{"-n", "-r", path, "-T", "pdml", "--disable-protocol", "rpcordma"}, args...)
	cmd := exec.Command("tshark", args...)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	defer func() {
		// A callback that gives up (t.FailNow) leaves output that nobody reads:
		// tshark would wait for room in the pipe, and Wait for tshark.
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	}()
	d := xml.NewDecoder(bufio.NewReaderSize(out, 1<<20))
	for i := 0; ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		require.NoError(t, err)
		if start, ok := token.(xml.StartElement); ok && start.Name.Local == "packet" {
			var p pdmlField
			require.NoError(t, d.DecodeElement(&p, &start))
			packet(i, &p)
			i++
		}
	}
}

// flatten lists the fields of a packet by name; a name may occur several times.
func flatten(fields []pdmlField, into map[string][]pdmlField) {
	for _, f := range fields {
		into[f.Name] = append(into[f.Name], f)
		flatten(f.Fields, into)
		flatten(f.Protos, into)
	}
}

func flattenTree(nodes []wire.Node, into map[string][]wire.Node) {
	for _, n := range nodes {
		into[n.Name] = append(into[n.Name], n)
		flattenTree(n.Children, into)
	}
}

// compared are the protocols whose fields must be equal.
var compared = []string{"eth.", "vlan.", "ip.", "ipv6.", "udp.", "infiniband.", "macc.", "tcp.", "sll."}

// ourNames are names of fields that tshark 4.0 doesn't have, made like its own.
var ourNames = map[string]bool{
	"infiniband.bth.fecn": true, "infiniband.bth.becn": true, "infiniband.cnp": true, "infiniband.cnp.reserved": true,
	"infiniband.xrceth": true, "infiniband.xrceth.xrcsrq": true, "infiniband.feth": true, "infiniband.feth.sel": true, "infiniband.feth.plt": true,
}

func ours(name string) bool {
	if ourNames[name] {
		return true
	}
	for _, m := range []string{"mra", "sidrreq", "sidrrep", "lap", "apr"} {
		if name == "infiniband.cm."+m || strings.HasPrefix(name, "infiniband.cm."+m+".") {
			return true
		}
	}
	return false
}

// tsharkFaults are fields in which tshark 4.0 errs or that it shows otherwise.
var tsharkFaults = map[string]string{
	"infiniband.cm.req.prim_flowlabel": "takes three octets for four, so the value is shifted by 8",
	"infiniband.cm.req.alt_flowlabel":  "takes three octets for four, so the value is shifted by 8",
	"infiniband.cm.req.prim_pktrate":   "reads the first octet of the flow label",
	"infiniband.cm.req.alt_pktrate":    "reads the first octet of the flow label",
	"infiniband.cm.req.prim_localgid":  "shown as IPv4 under another name when it maps one",
	"infiniband.cm.req.prim_remotegid": "shown as IPv4 under another name when it maps one",
	"infiniband.cm.dreq":               "has no field of its own",
	"infiniband.cm.drsp":               "has no field of its own",
	"infiniband.cm.rej":                "has no field of its own",
	"infiniband.cm.rtu":                "has no field of its own",
	"infiniband.payload":               "handed to other dissectors",
	"tcp.payload":                      "handed to other dissectors",
	"tcp.options":                      "taken apart",
	"ip.options":                       "taken apart",
}

// TestAgainstTshark compares the trees of real captures with what tshark says.
func TestAgainstTshark(t *testing.T) {
	needTshark(t)
	path, pkts := sampleFile(t, 35, 15)
	packets, fields := 0, 0
	tshark(t, path, func(i int, their *pdmlField) {
		packets++
		require.Less(t, i, len(pkts))
		fields += comparePacket(t, &pkts[i], their)
		if t.Failed() {
			t.Fatalf("packet %d: %s", i+1, wire.Summary(&pkts[i]))
		}
	})
	assert.Equal(t, len(pkts), packets)
	assert.Greater(t, fields, 20*packets)
	t.Logf("%d fields of %d packets agree", fields, packets)
}

// comparePacket holds our tree against tshark's, field by field, and returns how
// many were equal.
func comparePacket(t *testing.T, p *wire.Packet, theirs *pdmlField) (equal int) {
	their, our := map[string][]pdmlField{}, map[string][]wire.Node{}
	flatten(theirs.Protos, their)
	flattenTree(wire.Tree(p), our)
	names := make([]string, 0, len(our))
	for name := range our {
		names = append(names, name)
	}
	sort.Strings(names)
	for _, name := range names {
		if !comparable(name, p) {
			continue
		}
		if len(their[name]) == 0 && !p.Has(wire.FlagCut) { // tshark shows no header that was cut
			t.Errorf("tshark has no %s here", name)
		}
		for i, n := range our[name] {
			if i < len(their[name]) {
				equal += compareField(t, &n, &their[name][i])
			}
		}
	}
	missing(t, p, their, our)
	return equal
}

// comparable tells whether a field of ours should be found in tshark's tree.
func comparable(name string, p *wire.Packet) bool {
	if tsharkFaults[name] != "" || ours(name) {
		return false
	}
	if strings.HasPrefix(name, "infiniband.") && name != "infiniband.invariant.crc" && !strings.HasPrefix(name, "infiniband.bth") &&
		!strings.HasPrefix(name, "infiniband.grh") && beyondTshark(p) {
		return false
	}
	if name == "infiniband.invariant.crc" && beyondTshark(p) {
		return false
	}
	for _, prefix := range compared {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// beyondTshark are the packets of which tshark 4.0 decodes no more than the BTH,
// or the rest wrongly: RD, XRC, FLUSH, ATOMIC WRITE, CNP.
func beyondTshark(p *wire.Packet) bool {
	if !p.Has(wire.FlagBTH) {
		return false
	}
	op := uint8(p.RoCE.BTH.Opcode)
	return op>>5 == 2 || op >= 0x80 || op&0x1f >= 0x18
}

// compareField compares value and place of one field. Text fields of ours are
// compared by their octets.
func compareField(t *testing.T, n *wire.Node, f *pdmlField) int {
	if !n.Numeric {
		return 0 // headers: their fields are compared
	}
	want, err := strconv.ParseUint(f.Show, 0, 64) // what filters compare with
	if err != nil {
		want, err = strconv.ParseUint(f.Value, 16, 64) // addresses
	}
	if f.Value == "" || err != nil {
		return 0
	}
	ok := assert.Equal(t, want, n.Raw, "%s = %s, tshark says %s", n.Name, n.Value, f.Show)
	// Where fields share octets, tshark gives the place of them all.
	ok = assert.True(t, n.Off >= f.Pos && n.Off+n.Len <= f.Pos+max(f.Size, n.Len), "%s is at %d, tshark says %d", n.Name, n.Off, f.Pos) && ok
	if ok {
		return 1
	}
	return 0
}

// notOurs are fields of tshark's that the tree leaves out: what it computes or
// draws from other packets, reserved bits, second names.
func notOurs(name string) bool {
	for _, part := range []string{"reserved", "resolved", ".oui", ".lg", ".ig", "addr", "host", "stream", "status", "time", "analysis",
		"options", "option", "expert", "unused", "trailer", "padding", "port_a", "_ipv4", "ip_cm.reserved", "prefix", "protocol", "dport"} {
		if strings.Contains(name, part) {
			return true
		}
	}
	return false
}

// missing reports fields of the BTH, the extension headers, CM and pause frames
// that tshark shows and the tree doesn't.
func missing(t *testing.T, p *wire.Packet, their map[string][]pdmlField, our map[string][]wire.Node) {
	for name := range their {
		if name == "infiniband.payload" || name == "infiniband.mad.data" || notOurs(name) || beyondTshark(p) {
			continue
		}
		for _, prefix := range []string{"infiniband.bth", "infiniband.reth", "infiniband.aeth", "infiniband.deth", "infiniband.atomic",
			"infiniband.immdt", "infiniband.ieth", "infiniband.grh", "infiniband.lrh", "infiniband.cm", "infiniband.mad", "infiniband.invariant", "macc."} {
			if strings.HasPrefix(name, prefix) {
				if len(our[name]) == 0 {
					t.Errorf("only tshark has %s", name)
				}
			}
		}
	}
}

// TestFieldNames wants every name that looks like Wireshark's to be one.
func TestFieldNames(t *testing.T) {
	needTshark(t)
	out, err := exec.Command("tshark", "-G", "fields").Output()
	require.NoError(t, err)
	known := map[string]bool{}
	for _, line := range strings.Split(string(out), "\n") {
		if cols := strings.Split(line, "\t"); len(cols) > 2 {
			known[cols[2]] = true
		}
	}
	for _, name := range wire.FieldNames() {
		assert.True(t, known[name] || ours(name), "%s is no field of Wireshark's", name)
	}
}
