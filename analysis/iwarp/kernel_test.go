package iwarp_test

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	"rdmascope/decode/wire"
)

// truth is what both kernels counted, what an independent parser found and
// which frames were dropped behind the tap (captures/README.md).
type truth struct {
	Hosts map[string]struct {
		IP []string `json:"ip"`
	} `json:"hosts"`
	Counters map[string]struct {
		TCP    map[string]int64 `json:"Tcp"`
		TCPExt map[string]int64 `json:"TcpExt"`
	} `json:"counters_delta"`
	Derived struct {
		Directions map[string]struct {
			FPDUs map[string]int64 `json:"fpdus"`
			Last  int64            `json:"ddp_last"`
			Max   int64            `json:"fpdu_max_bytes"`
			CRC   map[string]int64 `json:"fpdu_crc"`
			RST   int64            `json:"rst"`
		} `json:"tcp_directions"`
	} `json:"derived_iwarp"`
	ExactLoss *struct {
		Frames []struct {
			Frame int64  `json:"frame"`
			To    string `json:"to"`
			Len   int64  `json:"tcp_len"`
		} `json:"lost_frames"`
	} `json:"exact_loss"`
}

// host tells which host an address belongs to.
func (tr *truth) host(a wire.Addr) string {
	for name, h := range tr.Hosts {
		for _, ip := range h.IP {
			if ip == a.String() {
				return name
			}
		}
	}
	return ""
}

func TestKernelCounters(t *testing.T) {
	captures(t, "captures/siw_*.pcap*", func(t *testing.T, name string, list []wire.Packet) {
		var tr truth
		readJSON(t, &tr, "captures", name+".json")
		compareTruth(t, &tr, list)
	})
}

// TestOwnCaptures holds the captures within the repository against the truth
// that lies beside them.
func TestOwnCaptures(t *testing.T) {
	files, err := filepath.Glob("../../pcaps/testdata/siw_*.pcap*")
	require.NoError(t, err)
	if len(files) == 0 {
		t.Skip("no iWARP captures in pcaps/testdata")
	}
	for _, file := range files {
		stem, _, _ := strings.Cut(file, ".pcap")
		t.Run(filepath.Base(stem), func(t *testing.T) {
			b, err := os.ReadFile(stem + ".truth.json")
			if err != nil {
				t.Skip(err)
			}
			var tr truth
			require.NoError(t, json.Unmarshal(b, &tr))
			compareTruth(t, &tr, packets(t, file))
		})
	}
}

func compareTruth(t *testing.T, tr *truth, list []wire.Packet) {
	got := track(list, iwarp.Options{})
	assert.Zero(t, got.Evictions)
	resent, fast, lost := map[string]int64{}, map[string]int64{}, map[string]int64{}
	var lostPackets []int64
	for _, c := range got.Connections {
		for i := range c.Flows {
			f := &c.Flows[i]
			h := tr.host(f.Src)
			resent[h] += f.TCP.Retransmitted
			fast[h] += f.TCP.Fast.N
			lost[h] += f.LostDownstream.N
			compareDerived(t, tr, f)
			for _, x := range f.Holes {
				if x.Lost == iwarp.LostDownstream {
					lostPackets = append(lostPackets, x.FillPacket)
				}
			}
		}
	}
	for h, k := range tr.Counters {
		assert.Equal(t, k.TCP["RetransSegs"], resent[h], "RetransSegs of %s", h)
		assert.Equal(t, k.TCPExt["TCPFastRetrans"], fast[h], "TCPFastRetrans of %s", h)
	}
	if tr.ExactLoss == nil {
		return
	}
	exact := map[string]int64{}
	for _, f := range tr.ExactLoss.Frames {
		if f.Len > 0 {
			exact[map[string]string{"a": "b", "b": "a"}[f.To]]++
		}
	}
	for h, n := range exact {
		assert.Equal(t, n, lost[h], "segments of %s lost behind the tap", h)
	}
	assert.Len(t, lostPackets, len(tr.ExactLoss.Frames))
}

// direction writes the truth's "address:port > address:port" as we do.
func direction(t *testing.T, s string) string {
	var ends []string
	for _, end := range strings.Split(s, " > ") {
		i := strings.LastIndexByte(end, ':')
		a, err := netip.ParseAddr(end[:i])
		require.NoError(t, err)
		ends = append(ends, a.String()+" "+end[i+1:])
	}
	return strings.Join(ends, " > ")
}

func compareDerived(t *testing.T, tr *truth, f *iwarp.Flow) {
	key := fmt.Sprintf("%s %d > %s %d", f.Src, f.SrcPort, f.Dst, f.DstPort)
	for k, d := range tr.Derived.Directions {
		if direction(t, k) != key {
			continue
		}
		want := map[string]int64{}
		for op, n := range d.FPDUs {
			if op == "WRITE" {
				op = "RDMA_WRITE"
			}
			want[op] = n
		}
		assert.Equal(t, want, f.Opcodes, key)
		assert.Equal(t, d.Last, f.Messages, key)
		assert.Equal(t, d.Max, f.MPA.Longest, key)
		if f.MPA.CRCGood.OK() {
			assert.Equal(t, d.CRC["good"], f.MPA.CRCGood.N, key)
			assert.Zero(t, f.MPA.CRCBad.N)
		}
		return
	}
	t.Errorf("%s is not in the truth", key)
}
