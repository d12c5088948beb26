package analysis_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps"
	"rdmascope/pcaps/synth"
)

// wireCaptures are those that go through every kind of wire: all operations,
// losses on both sides, RNR, IPv6.
var wireCaptures = []string{"rxe_mixed_ops_q4", "rxe_exact_single_loss", "rxe_read_loss3", "rxe_rping_ipv6", "rxe_rnr_exceeded"}

func loadWire(t *testing.T, name string) *synth.Scenario {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", "pcaps", "testdata", name+".pcap*"))
	require.NoError(t, err)
	require.Len(t, files, 1)
	s, err := synth.LoadPcap(files[0])
	require.NoError(t, err)
	return roceFrames(s)
}

// roceFrames leaves out what isn't UDP: neighbour discovery isn't wrapped here.
func roceFrames(s *synth.Scenario) *synth.Scenario {
	return s.Without(func(_ int, f *synth.Frame) bool {
		b := f.Data
		return len(b) < 38 || !(b[12] == 8 && b[13] == 0 && b[23] == 17) && !(b[12] == 0x86 && b[13] == 0xdd && b[20] == 17)
	})
}

func openBytes(t *testing.T, file []byte) *pcaps.Files {
	t.Helper()
	src, err := pcaps.Open([]string{"-"}, pcaps.Options{Stdin: bytes.NewReader(file)})
	require.NoError(t, err)
	t.Cleanup(func() { assert.NoError(t, src.Close()) })
	return src
}

func analyzeBytes(t *testing.T, file []byte) *analysis.Snapshot {
	t.Helper()
	s, err := analysis.Analyze(context.Background(), openBytes(t, file), analysis.Options{Workers: 2})
	require.NoError(t, err)
	return s
}

func pcapOf(t *testing.T, s *synth.Scenario, o synth.PcapOptions) []byte {
	t.Helper()
	o.Nanos = true
	var b bytes.Buffer
	require.NoError(t, s.WritePcap(&b, o))
	return b.Bytes()
}

// connectionFigures are a snapshot's connections without what an encapsulation may
// rightly change: frame lengths, MACs, VLAN tags.
func connectionFigures(t *testing.T, s *analysis.Snapshot, blank func(*analysis.Connection, *analysis.Flow)) string {
	t.Helper()
	list := make([]analysis.Connection, len(s.Connections))
	for i := range s.Connections {
		c := s.Connections[i]
		c.A.MAC, c.B.MAC = "", ""
		c.Flows = append(analysis.List[analysis.Flow](nil), c.Flows...)
		for k := range c.Flows {
			fl := &c.Flows[k]
			fl.WireBytes, fl.RetransBytes = 0, nil
			fl.VLANIDs, fl.PCP = nil, nil
			if blank != nil {
				blank(&c, fl)
			}
		}
		list[i] = c
	}
	b, err := json.MarshalIndent(list, "", " ")
	require.NoError(t, err)
	return string(b)
}

func TestEveryEncapsulation(t *testing.T) {
	for _, name := range wireCaptures {
		s := loadWire(t, name)
		bare := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
		require.NotEmpty(t, bare.Connections)
		want := connectionFigures(t, bare, nil)
		for _, e := range synth.Encapsulations() {
			t.Run(name+"/"+e.Name, func(t *testing.T) {
				got := analyzeBytes(t, pcapOf(t, s.Wrapped(e.Link, e.Wrap), synth.PcapOptions{}))
				assert.Equal(t, bare.Capture.Packets, got.Capture.Packets)
				assert.Equal(t, bare.Protocols.CM.Packets, got.Protocols.CM.Packets)
				assert.Equal(t, bare.Capture.MalformedPackets, got.Capture.MalformedPackets)
				assert.Equal(t, want, connectionFigures(t, got, nil))
			})
		}
	}
}

// TestBareAndEncapsulated: the same packets once bare and once through a
// tunnel are one connection, the second sighting a copy.
func TestBareAndEncapsulated(t *testing.T) {
	s := loadWire(t, "rxe_mixed_ops_q4")
	bare := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
	for _, e := range synth.Encapsulations() {
		if e.Link != synth.LinkEthernet {
			continue
		}
		t.Run(e.Name, func(t *testing.T) {
			both := analyzeBytes(t, pcapOf(t, s.Doubled(300, e.Wrap), synth.PcapOptions{}))
			assertDoubled(t, bare, both)
		})
	}
}

// assertDoubled: everything twice, and every second packet known as a copy.
func assertDoubled(t *testing.T, bare, both *analysis.Snapshot) {
	t.Helper()
	require.Equal(t, bare.ConnectionsTotal, both.ConnectionsTotal)
	for i := range bare.Connections {
		a, b := &bare.Connections[i], &both.Connections[i]
		if a.Flows != nil { // an attempt that came to nothing is named by the number of its first packet
			assert.Equal(t, a.ID, b.ID)
		}
		require.Equal(t, len(a.Flows), len(b.Flows))
		for k := range a.Flows {
			f, g := &a.Flows[k], &b.Flows[k]
			if f.Duplicates != nil { // nobody tells those of UD
				require.NotNil(t, g.Duplicates)
				assert.Equal(t, f.Packets+*f.Duplicates, *g.Duplicates, "copies")
			}
			assert.Equal(t, f.CNP, g.CNP, "CNPs")
			assert.Equal(t, f.CNPGapMinNS, g.CNPGapMinNS, "time between CNPs")
			assert.Equal(t, 2*f.Packets, g.Packets)
			assert.Equal(t, f.Messages, g.Messages, "messages")
			assert.Equal(t, f.Retransmitted, g.Retransmitted, "retransmitted")
			assert.Equal(t, f.Acks, g.Acks, "acks")
			assert.Equal(t, f.Latency.Message, g.Latency.Message, "latency")
			assert.Equal(t, f.Episodes, g.Episodes, "episodes")
		}
	}
}

func TestDoubledMirror(t *testing.T) {
	for _, name := range wireCaptures {
		t.Run(name, func(t *testing.T) {
			s := loadWire(t, name)
			bare := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
			assertDoubled(t, bare, analyzeBytes(t, pcapOf(t, s.Doubled(500, nil), synth.PcapOptions{})))
		})
	}
}

// TestEverySnapLength: a cut packet keeps all that decoded before the cut, and
// nothing that isn't there is made up.
func TestEverySnapLength(t *testing.T) {
	s := loadWire(t, "rxe_mixed_ops_q4")
	whole := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
	// What the iCRC told can't be told from a cut packet.
	blank := func(_ *analysis.Connection, fl *analysis.Flow) { fl.ICRCChecked, fl.ICRCBad = 0, 0 }
	want := connectionFigures(t, whole, blank)
	for n := 20; n <= 200; n++ {
		cut := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{SnapLen: uint32(n)}))
		require.Equal(t, whole.Capture.Packets, cut.Capture.Packets, "snap length %d", n)
		require.Zero(t, cut.Capture.MalformedPackets, "snap length %d: cut is not malformed", n)
		require.Equal(t, whole.Capture.WireBytes, cut.Capture.WireBytes)
		var lost, bad int64
		for i := range cut.Connections {
			for k := range cut.Connections[i].Flows {
				fl := &cut.Connections[i].Flows[k]
				bad += fl.ICRCBad
				for _, v := range []*int64{fl.LostUpstream, fl.LostDownstream, fl.Unseen} {
					if v != nil {
						lost += *v
					}
				}
			}
		}
		require.Zero(t, lost, "snap length %d: losses out of nothing", n)
		require.Zero(t, bad, "snap length %d: a cut iCRC is no bad one", n)
		require.Empty(t, cut.Conformance, "snap length %d: rules broken by what isn't there", n)
		switch {
		case n < 14+20+8+12: // no BTH
			require.Empty(t, cut.Connections, "snap length %d", n)
		case n >= 14+20+8+12+28: // every extension header; CM needs the rest of its MAD
			require.Equal(t, dataFigures(t, whole), dataFigures(t, cut), "snap length %d", n)
		}
	}
	// With the whole MADs captured there is no difference at all.
	require.Equal(t, want, connectionFigures(t, analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{SnapLen: 340})), blank))
}

// dataFigures are figures that don't need connection management.
func dataFigures(t *testing.T, s *analysis.Snapshot) []string {
	var list []string
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			fl := &s.Connections[i].Flows[k]
			if fl.Packets == 0 {
				continue
			}
			b, err := json.Marshal([]any{fl.SrcIP, fl.DstIP, fl.DestQP, fl.Packets, fl.PayloadBytes, fl.Messages, fl.Opcodes, fl.Retransmitted,
				fl.Acks, fl.Naks, fl.PathMTUBytes, fl.Latency, fl.FirstPSN, fl.LastPSN})
			require.NoError(t, err)
			list = append(list, string(b))
		}
	}
	return list
}

func TestEveryContainer(t *testing.T) {
	for _, name := range wireCaptures {
		s := loadWire(t, name)
		want := connectionFigures(t, analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{})), nil)
		check := func(what string, file []byte) {
			t.Run(name+"/"+what, func(t *testing.T) {
				assert.Equal(t, want, connectionFigures(t, analyzeBytes(t, file), nil))
			})
		}
		check("pcap, big-endian", pcapOf(t, s, synth.PcapOptions{Order: binary.BigEndian}))
		for _, order := range []synth.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			var b bytes.Buffer
			require.NoError(t, s.WritePcapng(&b, synth.PcapngOptions{Order: order, Interfaces: []synth.NGInterface{{TSResol: 9}}}))
			check(fmt.Sprintf("pcapng, %v", order), b.Bytes())
		}
		var b bytes.Buffer
		require.NoError(t, s.WriteERF(&b, 2))
		t.Run(name+"/erf", func(t *testing.T) {
			// 32.32 fixed point rounds times by less than a nanosecond.
			got := analyzeBytes(t, b.Bytes())
			bare := analyzeBytes(t, pcapOf(t, s, synth.PcapOptions{}))
			require.Equal(t, len(bare.Connections), len(got.Connections))
			for i := range bare.Connections {
				for k := range bare.Connections[i].Flows {
					f, g := &bare.Connections[i].Flows[k], &got.Connections[i].Flows[k]
					assert.Equal(t, f.Messages, g.Messages)
					assert.Equal(t, f.Opcodes, g.Opcodes)
					assert.Equal(t, f.Episodes, g.Episodes)
				}
			}
		})
	}
}
