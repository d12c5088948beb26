package analysis_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/analysis/report"
)

// truth is what is known of a capture from others than us: tshark, an
// independent parser, the kernels' counters of both ends (a is the client, b
// the server), or how it was made.
type truth struct {
	Name         string  `json:"name"`
	Synthetic    bool    `json:"synthetic"`
	LinkSpeedBps float64 `json:"link_speed_bps"`
	T0           int64   `json:"t0_epoch_ns"`
	Hosts        map[string]struct {
		IP []string `json:"ip"`
	} `json:"hosts"`
	TShark struct {
		Packets int64            `json:"packets"`
		Opcodes map[string]int64 `json:"bth_opcodes"`
		DestQP  map[string]int64 `json:"bth_dest_qp_packets"`
		ECN     map[string]int64 `json:"ip_ecn"`
		MAD     map[string]int64 `json:"mad_attributes"`
		AETH    map[string]int64 `json:"aeth"`
	} `json:"tshark"`
	Derived struct {
		RoCE      *int64                 `json:"roce_packets"`
		ICRCOK    int64                  `json:"icrc_ok"`
		ICRCBad   int64                  `json:"icrc_bad"`
		Truncated int64                  `json:"truncated_no_icrc"`
		PerDestQP map[string]derivedFlow `json:"per_dest_qp"`
	} `json:"derived"`
	Counters map[string]struct {
		HW map[string]int64 `json:"rdma_hw_counters"`
	} `json:"counters_delta"`
	Truth json.RawMessage `json:"truth"`
}

// derivedFlow is one destination of the independent parser, bad iCRCs left out.
type derivedFlow struct {
	Requests      int64            `json:"requests"`
	Repeats       int64            `json:"request_repeats"`
	Acks          int64            `json:"acks"`
	Naks          map[string]int64 `json:"naks"`
	RNRNaks       int64            `json:"rnr_naks"`
	ReadResp      int64            `json:"read_resp"`
	AtomicAcks    int64            `json:"atomic_acks"`
	Other         int64            `json:"other"`
	UDPSrcPorts   []int64          `json:"udp_source_ports"`
	UniqueRequest int64            `json:"request_unique_psns"`
}

// captureName is the name by which a capture goes, without folder and endings.
func captureName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// truthOf reads the truth file beside a capture.
func truthOf(t testing.TB, path string) *truth {
	t.Helper()
	base := filepath.Join(filepath.Dir(path), captureName(path))
	b, err := os.ReadFile(base + ".truth.json") // of the repository
	if err != nil {
		b, err = os.ReadFile(base + ".json") // of the corpus
	}
	require.NoError(t, err, "a capture without its truth proves nothing")
	tr := new(truth)
	require.NoError(t, json.Unmarshal(b, tr))
	return tr
}

// sharedFile finds a file of the corpus beside the repository; "" without it.
func sharedFile(name ...string) string {
	for _, dir := range []string{os.Getenv("RDMASCOPE_SHARED"), filepath.Join("..", "..", "shared")} {
		if dir == "" {
			continue
		}
		path := filepath.Join(append([]string{dir}, name...)...)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

var (
	reportsMu sync.Mutex
	reports   = map[string]*analysis.Snapshot{}
)

// reported gives what a reader of the JSON report gets: the snapshot written
// and read back. It is kept, so that several tests cost one analysis.
func reported(t testing.TB, path string, opt analysis.Options) *analysis.Snapshot {
	t.Helper()
	key := path
	if opt.LinkSpeed != 0 {
		key += "@speed"
	}
	reportsMu.Lock()
	defer reportsMu.Unlock()
	if s := reports[key]; s != nil {
		return s
	}
	var b bytes.Buffer
	require.NoError(t, report.JSON(&b, analyze(t, path, opt), report.Options{Connections: -1}))
	s := new(analysis.Snapshot)
	require.NoError(t, json.Unmarshal(b.Bytes(), s))
	reports[key] = s
	return s
}

// eachFlow goes over the flows of all connections.
func eachFlow(s *analysis.Snapshot, do func(*analysis.Connection, *analysis.Flow)) {
	for i := range s.Connections {
		c := &s.Connections[i]
		for j := range c.Flows {
			do(c, &c.Flows[j])
		}
	}
}

// value is a nullable count, 0 for null: a sum over flows takes what is known.
func value(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}
