package rc

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type scenario struct {
	Name     string
	LinkType uint16
	Frames   []struct {
		T   int64 `json:"t_ns"`
		Hex string
	}
	Expected map[string]any
}

// played is a scenario's result: the flow of the requester (to QP 0x456) and
// of the responder.
type played struct {
	fwd, back *FlowFigures
	conn      *Connection
}

func play(t *testing.T, s *scenario) played {
	c := &capture{}
	for _, f := range s.Frames {
		b, err := hex.DecodeString(f.Hex)
		require.NoError(t, err)
		c.add(b, 1_000_000_000+f.T, uint32(len(b)), 0, s.LinkType)
	}
	res := newFeeder(Options{}).run(c)
	var p played
	for i := range res.Connections {
		for _, f := range res.Connections[i].Flows {
			switch {
			case f == nil:
			case f.Key.DestQP == 0x456:
				p.fwd, p.conn = f, &res.Connections[i]
			default:
				p.back = f
			}
		}
	}
	require.NotNil(t, p.fwd)
	return p
}

// scenarioChecks say what each scenario's expectation means in our figures.
var scenarioChecks = map[string]func(t *testing.T, e map[string]any, p played){
	"write_3pkt_coalesced_ack": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["messages"], p.fwd.Messages)
		assert.EqualValues(t, e["pmtu"], p.fwd.PathMTU)
		assert.EqualValues(t, e["bytes"], p.fwd.MessageSizes.Sum)
		assert.EqualValues(t, e["first_to_ack_ns"], p.fwd.Latency[LatencyMessage].MinNS)
		assert.EqualValues(t, e["last_to_ack_ns"], p.fwd.Latency[LatencyAck].MinNS)
		quiet(t, p)
	},
	"loss_after_tap_nak_gobackn": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["nak_psn_seq"], p.fwd.NAKs[0])
		assert.EqualValues(t, 1, p.fwd.LostDownstream.N)
		assert.Zero(t, p.fwd.LostUpstream.N)
		assert.Len(t, e["retransmitted"], int(p.fwd.Retransmitted))
		assert.Equal(t, map[string]uint64{"downstream": 1}, p.fwd.EpisodesLost)
	},
	"loss_before_tap_nak_gobackn": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["nak_psn_seq"], p.fwd.NAKs[0])
		assert.EqualValues(t, 1, p.fwd.LostUpstream.N)
		assert.Zero(t, p.fwd.LostDownstream.N)
		assert.Len(t, e["retransmitted"], int(p.fwd.Retransmitted))
		assert.Equal(t, map[string]uint64{"upstream": 1}, p.fwd.EpisodesLost)
	},
	"capture_drop_not_network_loss": func(t *testing.T, e map[string]any, p played) {
		assert.Len(t, e["capture_dropped"], int(p.fwd.Unseen.N))
		quiet(t, p)
	},
	"read_reserves_psns": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["pmtu"], p.fwd.PathMTU)
		assert.EqualValues(t, e["read_first_response_ns"], p.fwd.Latency[LatencyReadFirst].MinNS)
		assert.EqualValues(t, e["read_complete_ns"], p.fwd.Latency[LatencyReadLast].MinNS)
		assert.EqualValues(t, e["send_ack_ns"], p.fwd.Latency[LatencyAck].MinNS)
		quiet(t, p)
	},
	"read_response_loss_partial_retry": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["reads"], p.fwd.Messages)
		assert.EqualValues(t, 1, p.back.LostUpstream.N)
		assert.EqualValues(t, 1, p.fwd.EpisodesBy.ImpliedNAK)
		assert.EqualValues(t, e["retry_read_psn"], p.fwd.Recoveries[0].PSN)
		assert.Equal(t, "response", p.fwd.Recoveries[0].LostPacket)
		assert.EqualValues(t, e["naks"], p.fwd.NAKs[0])
	},
	"rnr_nak_retry": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["rnr_naks"], p.fwd.RNRNAKs)
		assert.EqualValues(t, 1, p.fwd.RNRTimers[int(e["rnr_timer_code"].(float64))])
		assert.EqualValues(t, 1, p.fwd.EpisodesBy.RNR)
		assert.EqualValues(t, e["resend_after_nak_ns"], p.fwd.Recoveries[0].ReactionNS)
		assert.Zero(t, p.fwd.LostUpstream.N+p.fwd.LostDownstream.N)
	},
	"timeout_retransmit_no_nak": func(t *testing.T, e map[string]any, p played) {
		assert.Len(t, e["retransmitted"], int(p.fwd.Retransmitted))
		assert.Equal(t, e["kind"], p.fwd.Recoveries[0].Kind)
		assert.EqualValues(t, e["gap_ns"], p.fwd.Recoveries[0].QuietNS)
		assert.EqualValues(t, e["consistent_ack_timeout_code"], p.fwd.AckTimeoutExponent)
	},
	"ack_lost_dup_request": func(t *testing.T, e map[string]any, p played) {
		assert.Len(t, e["retransmitted"], int(p.fwd.Retransmitted))
		assert.EqualValues(t, e["acks_seen"], p.fwd.Acks)
		assert.EqualValues(t, e["message_count"], p.fwd.Messages)
		assert.Equal(t, map[string]uint64{"ack": 1}, p.fwd.EpisodesLost)
		assert.Zero(t, p.fwd.LostUpstream.N+p.fwd.LostDownstream.N)
	},
	"span_duplicates": func(t *testing.T, e map[string]any, p played) {
		n := p.fwd.Duplicates
		if p.back != nil {
			n += p.back.Duplicates
		}
		assert.EqualValues(t, e["duplicates"], n)
		assert.EqualValues(t, e["messages"], p.fwd.Messages)
		assert.Zero(t, p.fwd.NetworkCopies)
		quiet(t, p)
	},
	"routed_span_duplicate_ttl": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["duplicates"], p.fwd.Duplicates)
		assert.EqualValues(t, 1, p.fwd.CapturedTwice)
		quiet(t, p)
	},
	"ecn_ce_cnp": func(t *testing.T, e map[string]any, p played) {
		quiet(t, p)
		assert.Empty(t, p.fwd.Violations)
	},
	"nak_remote_access_fatal": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["naks"], p.fwd.NAKs[2])
		assert.Equal(t, e["fatal"], p.fwd.FatalNAK)
		assert.Zero(t, p.fwd.Retransmitted)
	},
	"psn_wrap_sends": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["messages"], p.fwd.Messages)
		quiet(t, p)
		assert.Zero(t, p.fwd.Unseen.N)
	},
	"atomic_fetchadd": func(t *testing.T, e map[string]any, p played) {
		assert.EqualValues(t, e["atomics"], p.fwd.Messages)
		assert.EqualValues(t, e["latency_ns"], p.fwd.Latency[LatencyAtomic].MinNS)
	},
}

// quiet: nothing was sent again and nothing was lost.
func quiet(t *testing.T, p played) {
	t.Helper()
	assert.Zero(t, p.fwd.Retransmitted)
	assert.Zero(t, p.fwd.EpisodesBy.Total)
	assert.Zero(t, p.fwd.LostUpstream.N+p.fwd.LostDownstream.N)
	assert.Zero(t, p.fwd.OutOfOrder)
}

func TestScenarios(t *testing.T) {
	raw, err := os.ReadFile("testdata/scenarios.json")
	require.NoError(t, err)
	var all []scenario
	require.NoError(t, json.Unmarshal(raw, &all))
	require.Len(t, all, len(scenarioChecks))
	for i := range all {
		s := &all[i]
		t.Run(s.Name, func(t *testing.T) {
			check := scenarioChecks[s.Name]
			require.NotNil(t, check)
			check(t, s.Expected, play(t, s))
		})
	}
}
