package marking

import (
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// flowKey tells flows apart as the engine does.
type flowKey struct {
	iface    uint16
	src, dst wire.Addr
	qpn      roce.QPN
}

// run analyses a capture; the flows of a host pair are peers when each
// direction has one.
func run(t *testing.T, path string) (*Result, []flowKey) {
	t.Helper()
	tr := New(Options{})
	ids := map[flowKey]int32{}
	var keys []flowKey
	var last int64
	eachPacket(t, path, func(p *wire.Packet) {
		last = max(last, p.Time)
		if !p.Kind.IsRoCE() || p.RoCE.BTH.DestQP == roce.QPNGSI {
			return
		}
		k := flowKey{p.Iface, p.Src, p.Dst, p.RoCE.BTH.DestQP}
		id, ok := ids[k]
		if !ok {
			id = int32(len(keys))
			ids[k] = id
			keys = append(keys, k)
			tr.AddFlow(id)
		}
		tr.Packet(p, id)
	})
	peer := func(id int32) int32 {
		found := int32(none)
		for i, k := range keys {
			if k.iface == keys[id].iface && k.src == keys[id].dst && k.dst == keys[id].src {
				if found != none {
					return none
				}
				found = int32(i)
			}
		}
		return found
	}
	return tr.Result(last, peer), keys
}

// TestECNTruth holds the sums of all captures against tshark's counts of the
// two bits over all IP packets: CE and ECT can only be on RoCE here, as the
// hosts' TCP has ECN off.
func TestECNTruth(t *testing.T) {
	dir := shared(t)
	files, err := filepath.Glob(filepath.Join(dir, "captures", "rxe_*.json"))
	require.NoError(t, err)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			var w struct {
				TShark struct {
					ECN map[string]int64 `json:"ip_ecn"`
				} `json:"tshark"`
			}
			require.NoError(t, json.Unmarshal(b, &w))
			r, _ := run(t, captureFile(t, dir, name))
			var capable, ce int64
			for i := range int32(r.Len()) {
				f := r.Flow(i)
				capable += f.ECNCapable
				ce += f.CE
				assert.Zero(t, f.CNPs, "rxe makes no CNP")
				assert.Nil(t, f.Throttle)
				assert.Equal(t, f.DataCE, f.CEUnanswered, "so every mark is unanswered")
			}
			if w.TShark.ECN != nil {
				assert.Equal(t, w.TShark.ECN["3"], ce)
				assert.Equal(t, w.TShark.ECN["1"]+w.TShark.ECN["2"]+w.TShark.ECN["3"], capable)
			}
		})
	}
}

// TestVLANTruth: everything of this capture is on VLAN 100 in priority 3.
func TestVLANTruth(t *testing.T) {
	r, _ := run(t, captureFile(t, shared(t), "rxe_vlan100"))
	require.Equal(t, 4, r.Len())
	for i := range int32(r.Len()) {
		f := r.Flow(i)
		require.NotEmpty(t, f.Markings)
		for _, m := range f.Markings {
			require.True(t, m.Tagged)
			require.EqualValues(t, 100, m.VID)
		}
	}
}

// TestCNPTruth: the synthetic capture's CE marks, CNPs, and which mark made
// each of them.
func TestCNPTruth(t *testing.T) {
	dir := shared(t)
	b, err := os.ReadFile(filepath.Join(dir, "captures", "cnp_ce_synthetic.json"))
	require.NoError(t, err)
	var w struct {
		T0    int64 `json:"t0_epoch_ns"`
		Truth struct {
			Data     int64     `json:"data_packets"`
			CE       int64     `json:"ce_marked"`
			CNPs     int64     `json:"cnps"`
			ACKs     int64     `json:"acks"`
			Triggers []float64 `json:"cnp_trigger_times_us_from_t0"`
		} `json:"truth"`
	}
	require.NoError(t, json.Unmarshal(b, &w))
	path := captureFile(t, dir, "cnp_ce_synthetic")
	r, keys := run(t, path)
	require.Equal(t, 2, r.Len())
	data, back := r.Flow(0), r.Flow(1)
	assert.Equal(t, w.Truth.Data, data.KindPackets(KindData))
	assert.Equal(t, w.Truth.CE, data.CE)
	assert.Equal(t, w.Truth.CE, data.DataCE)
	assert.Equal(t, w.Truth.Data, data.ECNCapable, "all are ECT(0) or CE")
	assert.Equal(t, w.Truth.CNPs, back.CNPs)
	assert.Equal(t, w.Truth.ACKs, back.KindPackets(KindAck))
	assert.Zero(t, back.MalformedCNPs)
	dscp, ok := data.DSCP(KindData)
	assert.True(t, ok)
	assert.EqualValues(t, 26, dscp)
	dscp, ok = back.DSCP(KindCNP)
	assert.True(t, ok)
	assert.EqualValues(t, 48, dscp)

	require.NotNil(t, data.Throttle)
	th := data.Throttle
	assert.Equal(t, w.Truth.CNPs, th.CNPs)
	assert.Equal(t, w.Truth.CNPs, th.Answered, "each answers a mark of its own")
	assert.Zero(t, th.Causeless+th.Repeated+th.SlowStart)
	assert.GreaterOrEqual(t, back.CNPGap.MinNS, int64(46_000), "triggers are 50 µs apart, CNPs come up to 4 µs later")
	assert.False(t, th.Deaf, "the sender slows after each CNP: %+v", th)

	// The marks that made the CNPs, found without the tracker.
	var marks, cnps []int64
	eachPacket(t, path, func(p *wire.Packet) {
		k := flowKey{p.Iface, p.Src, p.Dst, p.RoCE.BTH.DestQP}
		switch {
		case k == keys[0] && p.ECN() == 3:
			marks = append(marks, p.Time)
		case p.RoCE.BTH.Opcode == roce.OpcodeCNP:
			cnps = append(cnps, p.Time)
		}
	})
	require.Len(t, cnps, len(w.Truth.Triggers))
	var sum int64
	var delays []int64
	for i, c := range cnps {
		newest := int64(0)
		for _, m := range marks {
			if m <= c {
				newest = m
			}
		}
		sum += c - newest
		delays = append(delays, c-newest)
		trigger := w.T0 + int64(math.Round(w.Truth.Triggers[i]*1000))
		assert.InDelta(t, trigger, newest, 4000, "the trigger is the newest mark or one just before it")
	}
	slices.Sort(delays)
	n := len(delays)
	require.NotNil(t, th.CEToCNP)
	assert.Equal(t, []int64{w.Truth.CNPs, delays[0], delays[n-1], sum / int64(n)},
		[]int64{th.CEToCNP.Count, th.CEToCNP.Min, th.CEToCNP.Max, th.CEToCNP.MeanDown})
	assert.InEpsilon(t, delays[(n-1)/2], th.CEToCNP.P50, 0.01)
	assert.InEpsilon(t, delays[(n*9+9)/10-1], th.CEToCNP.P90, 0.01)
	assert.Zero(t, data.CEUnanswered)
	p := Pacings(r)
	require.Len(t, p, 1)
	assert.Equal(t, ScopeUnknown, p[0].Scope, "one queue pair shows no scope")
	assert.Equal(t, back.CNPGap.MinNS, p[0].IntervalNS)
}
