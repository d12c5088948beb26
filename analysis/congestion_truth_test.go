package analysis_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// smallestCNPGap is the smallest time between two CNPs in ns, by the times that
// tshark -Y 'infiniband.bth.opcode==0x81' shows. The maker's list has the times
// of the CE marks that triggered them, 50,100 ns apart at the least.
const smallestCNPGap = 48_784

// TestCongestionTruth: CE marks, CNPs and ACKs of the synthetic DCQCN capture
// are those that were put into it.
func TestCongestionTruth(t *testing.T) {
	for _, path := range captures(t, "cnp_*") {
		t.Run(captureName(path), func(t *testing.T) {
			tr := truthOf(t, path)
			var want struct {
				Data int64 `json:"data_packets"`
				CE   int64 `json:"ce_marked"`
				CNPs int64 `json:"cnps"`
				Acks int64 `json:"acks"`
			}
			require.NoError(t, json.Unmarshal(tr.Truth, &want))
			s := reported(t, path, analysis.Options{})
			assert.Equal(t, want.Data+want.CNPs+want.Acks, s.Capture.Packets)
			require.Len(t, s.Connections, 1)
			var data *analysis.Flow
			for i := range s.Connections[0].Flows {
				f := &s.Connections[0].Flows[i]
				if f.Opcodes["RC RDMA Write Only"] > 0 {
					data = f
				}
				assert.Zero(t, f.ICRCBad)
			}
			require.NotNil(t, data, "the flow with the data")
			assert.Equal(t, want.Data, data.Packets)
			assert.Equal(t, want.Data, data.ECNCapable, "ECT(0) or CE")
			assert.Equal(t, want.CE, data.ECNCE)
			assert.Equal(t, want.CNPs, value(data.CNP), "CNPs name the sender of the data")
			assert.Equal(t, want.Acks, value(data.Acks))
			require.NotNil(t, data.CNPGapMinNS)
			assert.EqualValues(t, smallestCNPGap, *data.CNPGapMinNS, "pacing")
			assert.Zero(t, value(data.LostUpstream)+value(data.LostDownstream))
		})
	}
}
