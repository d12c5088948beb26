package cm

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// truth is what the captures' own records say: the counts of tshark, and the
// queue pairs as the test program printed them at both ends.
type truth struct {
	TShark struct {
		MADs map[string]int64 `json:"mad_attributes"`
	} `json:"tshark"`
	Commands json.RawMessage `json:"commands"`
}

var qpLine = regexp.MustCompile(`QP client idx=\d+ qpn=(0x\w+) dest_qpn=(0x\w+) sq_psn=(0x\w+) rq_psn=(0x\w+) ` +
	`path_mtu=(\w+) timeout=(\w+) retry=(\w+) rnr_retry=(\w+)`)

// qps returns the lines' numbers in their order.
func (c *truth) qps(t *testing.T) (all [][8]int64) {
	for _, m := range qpLine.FindAllStringSubmatch(string(c.Commands), -1) {
		var q [8]int64
		for i := range q {
			v, err := strconv.ParseInt(m[i+1], 0, 64)
			require.NoError(t, err)
			q[i] = v
		}
		all = append(all, q)
	}
	return all
}

// run feeds a capture and returns the result and the events.
func run(t *testing.T, path string) (r Result, connects []Connect, disconnects []Disconnect) {
	t.Helper()
	tr := New(Options{}, Events{
		Connect:    func(c *Connect) { connects = append(connects, *c) },
		Disconnect: func(d *Disconnect) { disconnects = append(disconnects, *d) },
	})
	var last int64
	eachPacket(t, path, func(p *wire.Packet) {
		last = max(last, p.Time)
		tr.Packet(p)
	})
	return tr.Result(last), connects, disconnects
}

// TestCaptures holds every capture against its truth: messages by attribute
// (tshark), and of each connection the queue pairs, first PSNs, path MTU and
// retry counts that its ends had.
func TestCaptures(t *testing.T) {
	dir := shared(t)
	files, err := filepath.Glob(filepath.Join(dir, "captures", "rxe_*.json"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".json")
		t.Run(name, func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			var want truth
			require.NoError(t, json.Unmarshal(b, &want))
			r, connects, disconnects := run(t, captureFile(t, dir, name))

			if name != "rxe_snaplen128_write_64k" { // tshark looks at no cut MAD
				got := map[string]int64{}
				for _, c := range r.MADs {
					got["CM_"+c.Name()] = c.Count
				}
				if want.TShark.MADs == nil {
					want.TShark.MADs = map[string]int64{}
				}
				assert.Equal(t, want.TShark.MADs, got)
				assert.Zero(t, r.Faults)
			}
			checkQPs(t, want.qps(t), r, connects, name == "rxe_snaplen128_write_64k")
			for _, d := range disconnects {
				assert.True(t, d.Known)
				assert.True(t, d.A.HasQPN)
				assert.True(t, d.B.HasQPN)
			}
		})
	}
}

func checkQPs(t *testing.T, qps [][8]int64, r Result, connects []Connect, cut bool) {
	t.Helper()
	byQPN := map[int64]*Dialogue{}
	for i := range r.Dialogues {
		if d := &r.Dialogues[i]; d.Iface == 0 {
			byQPN[int64(d.A.QPN)] = d
		}
	}
	for _, q := range qps {
		d := byQPN[q[0]]
		require.NotNil(t, d, "no dialogue of queue pair %#x", q[0])
		assert.EqualValues(t, q[1], d.B.QPN)
		assert.EqualValues(t, q[2], d.A.StartingPSN, "what the client sends first")
		if !cut {
			assert.EqualValues(t, q[3], d.B.StartingPSN, "what the client expects first")
			assert.EqualValues(t, q[4], d.Parameters.PathMTUBytes)
			assert.EqualValues(t, q[5], d.Parameters.AckTimeoutExponent)
			assert.EqualValues(t, q[6], d.Parameters.RetryCount)
			rnr, ok := d.RNRRetryCount(A)
			assert.True(t, ok)
			assert.EqualValues(t, q[7], rnr)
			assert.Equal(t, roce.ServiceRC, d.Service)
		}
		n := 0
		for _, c := range connects {
			if c.Iface == 0 && int64(c.A.QPN) == q[0] && int64(c.B.QPN) == q[1] {
				n++
				assert.False(t, c.Partial)
				assert.Equal(t, d.Seen[REP].FirstPacket, c.Packet)
			}
		}
		assert.Equal(t, 1, n, "one Connect for each")
	}
}
