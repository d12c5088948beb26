package wire_test

import (
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
	"rdmascope/pcaps"
	"rdmascope/pcaps/synth"
)

// iwarpCaptures are captures with iWARP.
func iwarpCaptures(t testing.TB) (all []string) {
	t.Helper()
	patterns := []string{filepath.Join("..", "..", "pcaps", "testdata", "siw_*.pcap*")}
	if dir, ok := shared(t, "captures"); ok {
		patterns = []string{filepath.Join(dir, "siw_*.pcap*")}
	}
	if dir, ok := shared(t, "captures-public"); ok {
		patterns = append(patterns, filepath.Join(dir, "*iwarp*.pcap"))
	}
	for _, pattern := range patterns {
		m, err := filepath.Glob(pattern)
		require.NoError(t, err)
		all = append(all, m...)
	}
	if len(all) == 0 {
		t.Skip("no iWARP captures here")
	}
	return all
}

// writeSample writes packets for tshark.
func writeSample(t testing.TB, pkts []wire.Packet) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "sample.pcapng")
	f, err := os.Create(path)
	require.NoError(t, err)
	defer f.Close()
	w, err := pcaps.NewPcapngWriter(f, []pcaps.Interface{{Link: wire.LinkEthernet}})
	require.NoError(t, err)
	for i := range pkts {
		p := &pkts[i]
		require.NoError(t, w.Write(pcaps.Record{Time: p.Time, Cap: uint32(len(p.Data)), Wire: p.Wire, Link: p.Link}, p.Data, ""))
	}
	require.NoError(t, w.Flush())
	return path
}

func onlyIWARP[F any](all map[string][]F) map[string][]F {
	some := map[string][]F{}
	for name, list := range all {
		if strings.HasPrefix(name, "iwarp_") {
			some[name] = list
		}
	}
	return some
}

// swappedTerminate are the fields of a Terminate in siw's bit order, which
// tshark reads as RFC 5040 has it.
func swappedTerminate(p *wire.Packet) bool {
	n, ok := wire.Find(wire.Tree(p), "iwarp_rdma.terminate")
	return ok && strings.Contains(n.Value, "siw's order")
}

// compareIWARP holds the iWARP fields of a packet against tshark's and returns
// how many were equal; known is false where tshark has none.
func compareIWARP(t *testing.T, p *wire.Packet, theirs *pdmlField) (equal int, known bool) {
	their, our := map[string][]pdmlField{}, map[string][]wire.Node{}
	flatten(theirs.Protos, their)
	flattenTree(wire.Tree(p), our)
	their, our = onlyIWARP(their), onlyIWARP(our)
	if len(their) == 0 {
		return 0, len(our) == 0
	}
	if len(our) == 0 {
		return 0, true // begins within an FPDU, or holds a marker
	}
	swapped := swappedTerminate(p)
	for name, list := range our {
		if swapped && strings.Contains(name, "iwarp_rdma.term") || strings.Contains(name, "hdrct") {
			continue
		}
		if name == "iwarp_rdma.reserved" && len(their[name]) == 0 {
			continue // it leaves the word out of RFC 7306's messages
		}
		if assert.Len(t, their[name], len(list), "%s", name) {
			for i := range list {
				equal += compareField(t, &list[i], &their[name][i])
			}
		}
	}
	for name := range their {
		if len(our[name]) == 0 && !strings.HasPrefix(name, "iwarp_rdma.send.") && !strings.Contains(name, "not_set") && !swapped {
			t.Errorf("only tshark has %s", name)
		}
	}
	return equal, true
}

// apart gives the packets of a capture addresses of their own, so that tshark,
// which takes long to start, can read many captures as one. It checks no
// checksums.
func apart(pkts []wire.Packet, k int) {
	d := wire.NewDecoder(wire.Config{})
	for i := range pkts {
		p := &pkts[i]
		at := []int{int(p.NetOff) + 13, int(p.NetOff) + 17} // of an IPv4 header
		if p.IPVersion == 6 {
			at = []int{int(p.NetOff) + 8 + 3, int(p.NetOff) + 24 + 3}
		}
		if p.Has(wire.FlagNet) && p.Kind == wire.KindTCP {
			p.Data[at[0]], p.Data[at[1]] = byte(k), byte(k)
			d.Decode(p)
		}
	}
}

// TestIWARPAgainstTshark compares the trees of real captures.
func TestIWARPAgainstTshark(t *testing.T) {
	needTshark(t)
	var pkts []wire.Packet
	for k, path := range iwarpCaptures(t) {
		list := readPackets(t, path, 120)
		apart(list, k)
		pkts = append(pkts, list...)
	}
	fields, packets, alone, seen := 0, 0, 0, 0
	tshark(t, writeSample(t, pkts), func(i int, their *pdmlField) {
		if seen++; t.Failed() {
			return // tshark must be read to its end
		}
		n, known := compareIWARP(t, &pkts[i], their)
		if fields += n; n > 0 {
			packets++
		}
		if !known {
			alone++
		}
		if t.Failed() {
			t.Logf("packet %d: %s", i+1, wire.Summary(&pkts[i]))
		}
	}, "--disable-protocol", "nvme-tcp")
	assert.Equal(t, len(pkts), seen)
	t.Logf("%d fields of %d packets agree; %d packets are iWARP here and not in tshark", fields, packets, alone)
	assert.Greater(t, fields, 10*packets)
	assert.Greater(t, packets, 100)
	assert.Less(t, 10*alone, packets) // of these decode/iwarp's tests know that they are
}

// iwarpTalk is one of every message, with CRCs, behind a start-up.
func iwarpTalk() []wire.Packet {
	forth := synth.Path{SrcMAC: synth.MAC{2, 0, 0, 0, 0, 1}, DstMAC: synth.MAC{2, 0, 0, 0, 0, 2}, Src: netip.AddrFrom4([4]byte{10, 0, 0, 1}), Dst: netip.AddrFrom4([4]byte{10, 0, 0, 2})}
	back := synth.Path{SrcMAC: forth.DstMAC, DstMAC: forth.SrcMAC, Src: forth.Dst, Dst: forth.Src}
	var pkts []wire.Packet
	seq := [2]uint32{1000, 5000}
	d := wire.NewDecoder(wire.Config{})
	send := func(from int, flags uint8, payload []byte) {
		s := synth.Segment{SrcPort: 40000, DstPort: 7471, Seq: seq[from], Ack: seq[1-from], Flags: flags, Window: 1000, Payload: payload}
		path := &forth
		if from == 1 {
			path, s.SrcPort, s.DstPort = &back, 7471, 40000
		}
		if flags == synth.SYN {
			s.Ack = 0
		}
		b := synth.AppendTCP(nil, path, &s)
		seq[from] += uint32(len(payload))
		if flags&synth.SYN != 0 {
			seq[from]++
		}
		p := wire.Packet{Number: int64(len(pkts) + 1), Time: int64(len(pkts)+1) * 1e6, Data: b, Wire: uint32(len(b)), Link: wire.LinkEthernet}
		d.Decode(&p)
		pkts = append(pkts, p)
	}
	send(0, synth.SYN, nil)
	send(1, synth.SYN|synth.ACKFlag, nil)
	send(0, synth.ACKFlag, nil)
	send(0, synth.ACKFlag|synth.PSH, synth.MPAFrame(false, synth.MPACRC, 1, []byte("hello")))
	send(1, synth.ACKFlag|synth.PSH, synth.MPAFrame(true, synth.MPACRC, 1, nil))
	word := make([]byte, 52)
	for i := range word {
		word[i] = byte(i + 1)
	}
	word[0], word[1], word[2] = 0, 0, 0
	atomic := func(op byte) []byte {
		b := append([]byte{}, word...)
		b[3] = op
		return b
	}
	for _, u := range [][]byte{
		synth.Untagged(synth.RDMAPSend, true, 0, 0, 1, 0, word[:13]),
		synth.Tagged(synth.RDMAPWrite, false, 0x11223344, 1<<40, word[:50]),
		synth.Tagged(synth.RDMAPReadResponse, true, 0x11223344, 7, word[:3]),
		synth.Untagged(synth.RDMAPReadRequest, true, 0, 1, 1, 0, synth.ReadRequestBody(1, 2, 3, 4, 5)),
		synth.Untagged(synth.RDMAPSendInv, true, 0xabcdef01, 0, 2, 0, word[:9]),
		synth.Untagged(synth.RDMAPSendSE, false, 0, 0, 3, 8, word[:9]),
		synth.Untagged(synth.RDMAPSendSEInv, true, 77, 0, 3, 0, nil),
		synth.Untagged(synth.RDMAPAtomicRequest, true, 0, 1, 2, 0, atomic(0)),
		synth.Untagged(synth.RDMAPAtomicRequest, true, 0, 1, 3, 0, atomic(2)),
		synth.Untagged(synth.RDMAPAtomicResponse, true, 0, 3, 1, 0, word[:12]),
		synth.Untagged(synth.RDMAPImmediate, true, 0, 0, 4, 0, word[4:12]),
		synth.Untagged(synth.RDMAPTerminate, true, 0, 2, 1, 0, append([]byte{0x11, 0x00, 0xc0, 0, 0, 14}, synth.Tagged(0, true, 9, 9, nil)...)),
	} {
		send(0, synth.ACKFlag|synth.PSH, synth.AppendFPDU(nil, u, true))
	}
	two := synth.AppendFPDU(nil, synth.Untagged(synth.RDMAPSend, true, 0, 0, 5, 0, word[:13]), true)
	send(0, synth.ACKFlag|synth.PSH, synth.AppendFPDU(two, synth.Tagged(synth.RDMAPWrite, true, 1, 2, word), true))
	return pkts
}

// TestIWARPMessagesAgainstTshark has the messages that the captures lack.
func TestIWARPMessagesAgainstTshark(t *testing.T) {
	needTshark(t)
	pkts := iwarpTalk()
	tshark(t, writeSample(t, pkts), func(i int, their *pdmlField) {
		if t.Failed() {
			return
		}
		n, known := compareIWARP(t, &pkts[i], their)
		assert.True(t, known, wire.Summary(&pkts[i]))
		if i >= 3 {
			assert.Greater(t, n, 4, wire.Summary(&pkts[i]))
		}
		if t.Failed() {
			t.Logf("packet %d: %s", i+1, wire.Summary(&pkts[i]))
		}
	})
}
