package analysis_test

import (
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// The latencies once more, from tshark's fields alone and by a plain program
// over whole lists: METRICS §4 written down a second time.

// noLatencyCheck are captures that this program can't judge, and why.
var noLatencyCheck = map[string]string{
	"rxe_write_corrupt1": "tshark doesn't check the iCRC, so it can't tell which packets count",
}

// row is one RC packet as tshark shows it.
type row struct {
	number, time  int64 // ns
	src           string
	destQP        int64
	op            int
	psn           int64
	syndrome, len int64 // len: of a READ
	id            int64 // IP identification, -1 with IPv6
}

func tsharkRows(t *testing.T, path string) []row {
	out, err := exec.Command("tshark", "-n", "-r", path, "-Y", "infiniband.bth.opcode < 32 && (!frame.interface_id || frame.interface_id == 0)", "-T", "fields",
		"-e", "frame.number", "-e", "frame.time_epoch", "-e", "ip.src", "-e", "ipv6.src", "-e", "infiniband.bth.destqp", "-e", "infiniband.bth.opcode",
		"-e", "infiniband.bth.psn", "-e", "infiniband.aeth.syndrome", "-e", "infiniband.reth.dmalen", "-e", "ip.id").Output()
	require.NoError(t, err)
	var rows []row
	for line := range strings.Lines(string(out)) {
		c := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		require.Len(t, c, 10, line)
		number := func(s string, none int64) int64 {
			if s == "" {
				return none
			}
			v, err := strconv.ParseInt(s, 0, 64)
			require.NoError(t, err, line)
			return v
		}
		sec, frac, _ := strings.Cut(c[1], ".")
		rows = append(rows, row{number(c[0], 0), number(sec, 0)*1e9 + number(strings.TrimLeft((frac + "000000000")[:9], "0"), 0), c[2] + plainAddr(c[3]), number(c[4], 0),
			int(number(c[5], 0)), number(c[6], 0), number(c[7], -1), number(c[8], 0), number(c[9], -1)})
	}
	return rows
}

// task is one message: PSNs first to last, of which a SEND or WRITE sends all
// and a READ or atomic asks for all.
type task struct {
	op          int
	first, last int64
	seen, ended int64 // times of the first sightings of its first and last packet
	resent      int64 // time of the first packet of it that was sent again
}

const never = 1 << 62

func isResponse(op int) bool { return op >= 13 && op <= 18 }
func isRead(op int) bool     { return op == 12 }
func isAtomic(op int) bool   { return op == 19 || op == 20 }
func begins(op int) bool     { return op == 0 || op == 6 || single(op) }
func ends(op int) bool       { return slices.Contains([]int{2, 3, 8, 9, 22}, op) || single(op) }
func single(op int) bool     { return slices.Contains([]int{4, 5, 10, 11, 12, 19, 20, 23}, op) }

// serial is how far x is after from, in a space of so many bits.
func serial(x, from int64, bits uint) int64 {
	d := (x - from) & (1<<bits - 1)
	if d >= 1<<(bits-1) {
		d -= 1 << bits
	}
	return d
}

// tasks puts the requests of one flow together to messages, by PSN.
func tasks(requests []row, mtu int64) []*task {
	var list []*task
	covers := func(r *row) int64 {
		if isRead(r.op) {
			return r.psn + max(1, (r.len+mtu-1)/mtu) - 1
		}
		return r.psn
	}
	firstSeen, again := map[int64]*row{}, map[int64]int64{}
	top, topID, copies := int64(-1<<62), int64(-1), map[[2]int64]int64{}
	for i := range requests {
		r := &requests[i]
		key := [2]int64{r.psn, r.id}
		if at, ok := copies[key]; ok && r.id >= 0 && r.time-at < 1e6 {
			continue // the same packet twice
		}
		copies[key] = r.time
		for p := r.psn; p <= covers(r); p++ {
			// Sent again: seen before, or skipped and sent after what overtook it.
			if _, known := again[p]; !known {
				again[p] = never
				if p > top || r.id >= 0 && serial(r.id, topID, 16) < 0 {
					continue
				}
			}
			again[p] = min(again[p], r.time)
		}
		if covers(r) > top {
			top = covers(r)
		}
		if r.id >= 0 && (topID < 0 || serial(r.id, topID, 16) > 0) {
			topID = r.id
		}
		if firstSeen[r.psn] == nil {
			firstSeen[r.psn] = r
		}
	}
	psns := make([]int64, 0, len(firstSeen))
	for p := range firstSeen {
		psns = append(psns, p)
	}
	slices.Sort(psns)
	var open *task
	next := int64(-1 << 62)
	for _, p := range psns {
		r := firstSeen[p]
		if p < next {
			continue // a READ asked again from its middle
		}
		if begins(r.op) {
			open = &task{op: r.op, first: p, seen: r.time, resent: never}
		}
		if open == nil {
			continue
		}
		for q := p; q <= covers(r); q++ {
			open.resent = min(open.resent, again[q])
		}
		next = covers(r) + 1
		if ends(r.op) {
			open.last, open.ended = covers(r), r.time
			list = append(list, open)
			open = nil
		}
	}
	return list
}

// measured are the samples of a flow.
type measured struct {
	samples   map[string][]int64
	coalesced int64 // messages
}

// measure lets the responses answer the messages, in the order of the capture.
func measure(list []*task, responses []row) measured {
	m := measured{samples: map[string][]int64{}}
	covered := 0 // tasks acknowledged
	seen := map[int64]int64{}
	for _, r := range responses {
		p := r.psn
		if r.op == 17 && r.syndrome >= 32 {
			p-- // NAK and RNR NAK
		}
		from := covered
		for covered < len(list) && list[covered].first <= p && (list[covered].last <= p || isRead(list[covered].op)) && list[covered].ended <= r.time {
			covered++
		}
		newest := true
		for i := covered - 1; i >= from; i-- {
			k := list[i]
			if isRead(k.op) || isAtomic(k.op) {
				continue
			}
			if !newest {
				m.coalesced++
				continue
			}
			newest = false
			m.samples["message"] = append(m.samples["message"], r.time-k.seen)
			if k.resent > r.time { // Karn's rule
				m.samples["ack"] = append(m.samples["ack"], r.time-k.ended)
			}
		}
		if r.op != 17 {
			if _, ok := seen[r.psn]; !ok {
				seen[r.psn] = r.time
			}
		}
	}
	for _, k := range list {
		switch {
		case isAtomic(k.op):
			if at, ok := seen[k.first]; ok {
				m.samples["atomic"] = append(m.samples["atomic"], at-k.seen)
			}
		case isRead(k.op):
			if at, ok := seen[k.first]; ok {
				m.samples["read_first"] = append(m.samples["read_first"], at-k.seen)
			}
			end, all := int64(0), true
			for p := k.first; p <= k.last; p++ {
				at, ok := seen[p]
				all = all && ok
				end = max(end, at)
			}
			if all {
				m.samples["read_last"] = append(m.samples["read_last"], end-k.seen)
			}
		}
	}
	return m
}

// TestLatencyFromTshark compares every latency block of the real captures.
func TestLatencyFromTshark(t *testing.T) {
	if _, err := exec.LookPath("tshark"); err != nil {
		t.Skip("tshark is not installed: latencies are not computed a second time")
	}
	free := make(chan struct{}, runtime.NumCPU())
	for _, path := range captures(t, "rxe_*") {
		s := reported(t, path, analysis.Options{})
		if !slices.ContainsFunc(s.Connections, func(c analysis.Connection) bool { return c.Service == "rc" }) {
			continue
		}
		name := captureName(path)
		t.Run(name, func(t *testing.T) {
			if why := noLatencyCheck[name]; why != "" {
				t.Skip(why)
			}
			t.Parallel()
			free <- struct{}{}
			rows := tsharkRows(t, path)
			<-free
			eachFlow(s, func(c *analysis.Connection, f *analysis.Flow) {
				if c.Service == "rc" && len(c.Flows) == 2 {
					checkLatency(t, c, f, rows)
				}
			})
		})
	}
}

func checkLatency(t *testing.T, c *analysis.Connection, f *analysis.Flow, rows []row) {
	back, mtu := &c.Flows[0], int64(1024)
	if back == f {
		back = &c.Flows[1]
	}
	for _, p := range []*int64{f.PathMTUBytes, back.PathMTUBytes} {
		if p != nil {
			mtu = *p
		}
	}
	var requests, responses []row
	base, based := int64(0), false
	for _, r := range rows {
		request := r.src == f.SrcIP && r.destQP == *f.DestQP && !isResponse(r.op)
		response := r.src == f.DstIP && r.destQP == *back.DestQP && isResponse(r.op)
		if request && !based {
			base, based = r.psn, true
		}
		r.psn = serial(r.psn, base, 24)
		if request {
			requests = append(requests, r)
		} else if response && based {
			responses = append(responses, r)
		}
	}
	m := measure(tasks(requests, mtu), responses)
	for name, l := range map[string]*analysis.Latency{"ack": f.Latency.Ack, "message": f.Latency.Message,
		"read_first": f.Latency.ReadFirst, "read_last": f.Latency.ReadLast, "atomic": f.Latency.Atomic} {
		v := m.samples[name]
		where := filepath.Join(flowLabel(f), name)
		if l == nil {
			assert.Empty(t, v, where)
			continue
		}
		if !assert.Equal(t, int64(len(v)), l.Count, "%s: count", where) || len(v) == 0 {
			continue
		}
		slices.Sort(v)
		assert.Equal(t, v[0], l.MinNS, "%s: min", where)
		assert.Equal(t, v[len(v)-1], l.MaxNS, "%s: max", where)
		for q, got := range map[int]int64{500: l.P50NS, 900: l.P90NS, 990: l.P99NS, 999: l.P999NS} {
			want := v[(len(v)*q+999)/1000-1] // nearest rank
			assert.InEpsilon(t, want, got, 0.01, "%s: p%d", where, q)
		}
		if name == "message" {
			assert.Equal(t, m.coalesced, l.Coalesced, "%s: coalesced", where)
		}
	}
}

func flowLabel(f *analysis.Flow) string {
	return f.SrcIP + ">" + f.DstIP + "/" + strconv.FormatInt(*f.DestQP, 10)
}
