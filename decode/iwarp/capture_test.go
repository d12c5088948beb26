package iwarp_test

import (
	"encoding/json"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/iwarp"
)

// derived is what an independent parser found (captures/README.md).
type derived struct {
	Derived struct {
		Directions map[string]struct {
			MPA *struct {
				Frame    string `json:"frame"`
				Markers  int    `json:"markers"`
				CRC      int    `json:"crc"`
				Reject   int    `json:"reject"`
				Enhanced int    `json:"enhanced_or_s"`
				Revision int    `json:"rev"`
				Length   int    `json:"private_data_len"`
			} `json:"mpa"`
			FPDUs     map[string]int                        `json:"fpdus"`
			Last      int                                   `json:"ddp_last"`
			Max       int                                   `json:"fpdu_max_bytes"`
			CRC       map[string]int                        `json:"fpdu_crc"`
			Straddle  int                                   `json:"fpdus_straddling_tcp_segments"`
			Unaligned int                                   `json:"fpdus_not_starting_at_a_segment_start"`
			Terminate []struct{ Layer, EType, ErrCode int } `json:"terminate"`
		} `json:"tcp_directions"`
	} `json:"derived_iwarp"`
}

// siwCaptures calls f for each real iWARP capture.
func siwCaptures(t *testing.T, f func(t *testing.T, name string, segs []tcpSegment)) {
	dir := filepath.Join(sharedDir(t), "captures")
	files, err := filepath.Glob(filepath.Join(dir, "siw_*.pcap*"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		name, _, _ := strings.Cut(filepath.Base(file), ".")
		t.Run(name, func(t *testing.T) {
			f(t, name, readCapture(t, file, strings.Contains(name, "corrupt")))
		})
	}
}

// run feeds segments through and returns a collector for each direction.
func run(segs []tcpSegment) (map[string]*collector, *reassembler) {
	got := map[string]*collector{}
	r := newReassembler(func(flow string) iwarp.Handler {
		got[flow] = newCollector()
		return got[flow]
	})
	for _, s := range segs {
		r.add(s)
	}
	r.flush()
	return got, r
}

func TestCapturesAgainstDerived(t *testing.T) {
	siwCaptures(t, func(t *testing.T, name string, segs []tcpSegment) {
		b, err := os.ReadFile(filepath.Join(sharedDir(t), "captures", name+".json"))
		require.NoError(t, err)
		var want derived
		require.NoError(t, json.Unmarshal(b, &want))
		got, _ := run(segs)
		for flow, w := range want.Derived.Directions {
			g := got[flow]
			require.NotNil(t, g, flow)
			assert.Empty(t, g.faults, flow)
			ops := map[string]int{}
			for op, n := range w.FPDUs {
				if op == "WRITE" {
					op = "RDMA_WRITE"
				}
				ops[op] = n
			}
			assert.Equal(t, ops, g.ops, flow)
			assert.Equal(t, w.Last, g.last, flow)
			assert.Equal(t, w.Max, g.max, flow)
			assert.Equal(t, w.CRC["zero"], g.crcs[iwarp.CRCNotNegotiated], flow)
			assert.Equal(t, w.CRC["good"], g.crcs[iwarp.CRCGood], flow)
			assert.Zero(t, g.crcs[iwarp.CRCBad]+g.crcs[iwarp.CRCUndecided]+g.crcs[iwarp.CRCUnchecked], flow)
			assert.Equal(t, w.Straddle, g.straddling, flow)
			assert.Equal(t, w.Unaligned, g.unaligned, flow)
			assert.Zero(t, g.count(iwarp.NoticeDesync), flow)
			if w.MPA != nil {
				require.Len(t, g.mpa, 1, flow)
				m := g.mpa[0]
				assert.Equal(t, w.MPA.Frame == "MPA ID Rep Frame", m.Reply)
				assert.Equal(t, w.MPA.CRC == 1, m.CRC)
				assert.Equal(t, w.MPA.Markers == 1, m.Markers)
				assert.Equal(t, w.MPA.Reject == 1, m.Reject)
				assert.Equal(t, w.MPA.Enhanced == 1, m.Enhanced)
				assert.Equal(t, w.MPA.Revision, int(m.Revision))
				assert.Equal(t, w.MPA.Length, int(m.PrivateLength))
			}
			require.Len(t, g.terminates, len(w.Terminate), flow)
			for i, x := range w.Terminate {
				// derived reads the nibbles as the RFC does; siw swapped them.
				y := g.terminates[i]
				assert.Equal(t, iwarp.OrderSwapped, y.Order)
				assert.Equal(t, x.Layer, int(y.EType))
				assert.Equal(t, x.EType, int(y.Layer))
				assert.Equal(t, x.ErrCode, int(y.Code))
				assert.True(t, y.Known(), y.String())
				assert.True(t, y.DDPValid)
			}
		}
	})
}

// coverage tells which octets of a direction are there, from offset origin on.
type coverage []bool

func (c coverage) whole(from, to uint64) bool {
	if to-origin > uint64(len(c)) {
		return false
	}
	return !slices.Contains(c[from-origin:to-origin], false)
}

// firstSeq is the sequence number of each direction's origin, as the
// reassembler takes it.
func firstSeq(segs []tcpSegment) map[string]uint32 {
	first := map[string]uint32{}
	for _, s := range segs {
		if s.syn {
			first[s.flow] = s.seq + 1
		} else if _, ok := first[s.flow]; !ok && len(s.payload) > 0 {
			first[s.flow] = s.seq
		}
	}
	return first
}

func truth(segs []tcpSegment) map[string][]found {
	all := map[string][]found{}
	got, _ := run(segs)
	for flow, c := range got {
		all[flow] = c.fpdus
	}
	return all
}

// thinned compares what was found in a part of a capture with the whole
// capture's FPDUs, for those whose octets are all there.
type thinned struct{ whole, found, wrong int }

func (x *thinned) compare(t *testing.T, all []tcpSegment, part []tcpSegment, want map[string][]found) {
	t.Helper()
	first, partFirst := firstSeq(all), firstSeq(part)
	cover := map[string]coverage{}
	for _, s := range part {
		at := int(int32(s.seq - first[s.flow]))
		if s.syn || at < 0 {
			continue
		}
		c := cover[s.flow]
		if n := at + len(s.payload); n > len(c) {
			c = append(c, make(coverage, n-len(c))...)
		}
		for i := range s.payload {
			c[at+i] = true
		}
		cover[s.flow] = c
	}
	got, _ := run(part)
	for flow, fpdus := range want {
		c := got[flow]
		if c == nil {
			continue
		}
		require.Empty(t, c.faults)
		shift := uint64(partFirst[flow] - first[flow]) // offsets of part count from its first octet
		at := map[uint64]found{}
		for _, f := range c.fpdus {
			at[f.start+shift] = f
		}
		for _, f := range fpdus {
			g, ok := at[f.start]
			if ok {
				assert.Equal(t, f.op, g.op)
				assert.Equal(t, f.end, g.end+shift)
				delete(at, f.start)
			}
			if !cover[flow].whole(f.start, f.end) {
				continue
			}
			x.whole++
			if ok && g.state == iwarp.Whole {
				x.found++
			}
		}
		x.wrong += len(at)
	}
}

func TestCapturesCutInMidStream(t *testing.T) {
	var total thinned
	siwCaptures(t, func(t *testing.T, name string, segs []tcpSegment) {
		if len(segs) < 40 {
			return
		}
		want := truth(segs)
		rnd := rand.New(rand.NewSource(1))
		var x thinned
		for range 20 {
			at := 20 + rnd.Intn(len(segs)-30)
			x.compare(t, segs, segs[at:], want)
		}
		assert.Zero(t, x.wrong, "FPDUs where none is")
		t.Logf("%d of %d whole FPDUs", x.found, x.whole)
		total.whole += x.whole
		total.found += x.found
	})
	if total.whole > 0 {
		t.Logf("all: %d of %d whole FPDUs, %.4f %%", total.found, total.whole, 100*float64(total.found)/float64(total.whole))
		assert.GreaterOrEqual(t, float64(total.found), 0.999*float64(total.whole))
	}
}

func TestCapturesThinned(t *testing.T) {
	for _, k := range []int{3, 5, 10, 40} {
		var total thinned
		siwCaptures(t, func(t *testing.T, name string, segs []tcpSegment) {
			want := truth(segs)
			var part []tcpSegment
			n := 0
			for _, s := range segs {
				if len(s.payload) > 0 {
					if n++; n%k == 0 {
						continue
					}
				}
				part = append(part, s)
			}
			var x thinned
			x.compare(t, segs, part, want)
			assert.Zero(t, x.wrong, "FPDUs where none is")
			if x.found < x.whole {
				t.Logf("%d of %d whole FPDUs", x.found, x.whole)
			}
			total.whole += x.whole
			total.found += x.found
		})
		if total.whole > 0 {
			t.Logf("every %d. removed: %d of %d whole FPDUs, %.4f %%", k, total.found, total.whole, 100*float64(total.found)/float64(total.whole))
			assert.GreaterOrEqual(t, float64(total.found), 0.995*float64(total.whole))
		}
	}
}

// TestCapturesLockOnSoon: from 20 random places on, each direction is in step
// after a few segments with data.
func TestCapturesLockOnSoon(t *testing.T) {
	var waits []int
	siwCaptures(t, func(t *testing.T, name string, segs []tcpSegment) {
		if len(segs) < 40 {
			return
		}
		rnd := rand.New(rand.NewSource(2))
		for range 20 {
			part := segs[20+rnd.Intn(len(segs)-30):]
			got, fed, done := map[string]*collector{}, map[string]int{}, map[string]bool{}
			r := newReassembler(func(flow string) iwarp.Handler {
				got[flow] = newCollector()
				return got[flow]
			})
			for _, s := range part {
				if len(s.payload) > 0 && !done[s.flow] {
					fed[s.flow]++
				}
				r.add(s)
				if c := got[s.flow]; c != nil && len(c.fpdus) > 0 && !done[s.flow] {
					done[s.flow] = true
					waits = append(waits, fed[s.flow])
				}
			}
		}
	})
	if len(waits) == 0 {
		return
	}
	slices.Sort(waits)
	at := func(permille int) int { return waits[(len(waits)-1)*permille/1000] }
	t.Logf("%d directions lock after %d segments in the median, %d in 99 %%, %d at most", len(waits), at(500), at(990), at(1000))
	assert.LessOrEqual(t, at(500), 2)
	assert.LessOrEqual(t, at(990), 8)
}
