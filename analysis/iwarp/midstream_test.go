package iwarp_test

import (
	"math/rand"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis/iwarp"
	"rdmascope/decode/wire"
)

// sums adds up FPDUs by opcode and direction.
func sums(r iwarp.Result) map[string]int64 {
	all := map[string]int64{}
	for _, c := range r.Connections {
		for _, f := range c.Flows {
			for op, n := range f.Opcodes {
				all[f.Src.String()+" "+op] += n
			}
		}
	}
	return all
}

// TestCutInMidStream: from a random place on, the same operations are counted
// as by a tracker that saw the begin.
func TestCutInMidStream(t *testing.T) {
	var found, all int64
	captures(t, "captures/siw_*.pcap*", func(t *testing.T, name string, list []wire.Packet) {
		if len(list) < 100 || name == "siw_mpa_req_to_plain_tcp_server" {
			return
		}
		whole := sums(track(list, iwarp.Options{}))
		rnd := rand.New(rand.NewSource(7))
		for range 20 {
			at := 30 + rnd.Intn(len(list)-60)
			before := sums(track(list[:at], iwarp.Options{}))
			got := sums(track(list[at:], iwarp.Options{}))
			for op, n := range whole {
				want := n - before[op]
				// What was sent before the cut and again behind it counts in both.
				assert.LessOrEqual(t, got[op], want+1, "%s from packet %d on", op, at)
				found += got[op]
				all += want
			}
			for op := range got {
				assert.Contains(t, whole, op)
			}
		}
	})
	if all > 0 {
		t.Logf("%d of %d FPDUs, %.4f %%", found, all, 100*float64(found)/float64(all))
		assert.GreaterOrEqual(t, float64(found), 0.998*float64(all))
	}
}

// octets is an independent account of a direction: every octet by its distance
// from the first.
type octets struct {
	started bool
	first   uint32
	seen    []bool
	acked   uint32 // distance
}

func (o *octets) start(seq uint32) {
	if !o.started {
		o.started, o.first = true, seq
	}
}

func (o *octets) unseen() (n int64) {
	for d := range o.acked {
		if int(d) >= len(o.seen) || !o.seen[d] {
			n++
		}
	}
	return n
}

type dirKey struct {
	src, dst wire.Addr
	sp, dp   uint16
}

// account counts what is acknowledged and not in the list.
func account(list []wire.Packet) map[dirKey]int64 {
	dirs := map[dirKey]*octets{}
	at := func(k dirKey) *octets {
		if dirs[k] == nil {
			dirs[k] = &octets{}
		}
		return dirs[k]
	}
	for i := range list {
		p := &list[i]
		if p.Kind != wire.KindTCP {
			continue
		}
		d := at(dirKey{p.Src, p.Dst, p.SrcPort, p.DstPort})
		r := at(dirKey{p.Dst, p.Src, p.DstPort, p.SrcPort})
		if p.TCP.Flags&wire.TCPAck != 0 && r.started {
			if ack := p.TCP.Ack - r.first; int32(ack) > int32(r.acked) {
				r.acked = ack
			}
		}
		seq := p.TCP.Seq
		if p.TCP.Flags&wire.TCPSyn != 0 {
			seq++
			d.start(seq)
		}
		n := p.TransLen
		if p.TCP.Flags&wire.TCPFin != 0 {
			n++
		}
		if n == 0 {
			continue
		}
		d.start(seq)
		if at := int32(seq - d.first); at < 0 {
			continue // before the first octet seen
		}
		for at := seq - d.first; at < seq-d.first+n; at++ {
			for int(at) >= len(d.seen) {
				d.seen = append(d.seen, false)
			}
			d.seen[at] = true
		}
	}
	unseen := map[dirKey]int64{}
	for k, o := range dirs {
		unseen[k] = o.unseen()
	}
	return unseen
}

// TestThinned: every k-th segment with data is taken out. What is missing is
// told as unseen, to the octet, and the framing goes on.
func TestThinned(t *testing.T) {
	for _, k := range []int{3, 5, 10, 40} {
		var kept, full, missing int64
		captures(t, "captures/siw_*.pcap*", func(t *testing.T, name string, list []wire.Packet) {
			if name == "siw_mixed_corrupt1" {
				return // what was broken on the way counts as not seen there too
			}
			var part []wire.Packet
			n := 0
			for i := range list {
				if list[i].Kind == wire.KindTCP && list[i].TransLen > 0 {
					if n++; n%k == 0 {
						continue
					}
				}
				part = append(part, list[i])
			}
			want := account(part)
			got := track(part, iwarp.Options{})
			for _, c := range got.Connections {
				for _, f := range c.Flows {
					w := want[dirKey{f.Src, f.Dst, f.SrcPort, f.DstPort}]
					assert.Equal(t, iwarp.Known(w), f.UnseenBytes, "%s:%d", f.Src, f.SrcPort)
					missing += f.UnseenBytes.N
				}
			}
			whole := sums(track(list, iwarp.Options{}))
			for op, n := range sums(got) {
				assert.LessOrEqual(t, n, whole[op], op)
				kept += n
			}
			for _, n := range whole {
				full += n
			}
		})
		if full > 0 {
			t.Logf("every %d. taken out: %d octets unseen, %d of %d FPDUs known by a part at least", k, missing, kept, full)
		}
	}
}

// TestCutShort: with 128 octets of each packet captured TCP's figures are the
// same, and FPDUs are found by their lengths.
func TestCutShort(t *testing.T) {
	var found, all int64
	captures(t, "captures/siw_*.pcap*", func(t *testing.T, name string, list []wire.Packet) {
		if name == "siw_mixed_corrupt1" {
			return // what was broken can't be told without all octets
		}
		whole := track(list, iwarp.Options{})
		short := append(list[:0:0], list...)
		var d wire.Decoder
		for i := range short {
			p := &short[i]
			p.Data = p.Data[:min(len(p.Data), 128)]
			d.Decode(p)
		}
		got := track(short, iwarp.Options{})
		require.Len(t, got.Connections, len(whole.Connections))
		for i := range got.Connections {
			for k := range got.Connections[i].Flows {
				w, g := &whole.Connections[i].Flows[k], &got.Connections[i].Flows[k]
				assert.Equal(t, w.TCP, g.TCP)
				assert.Equal(t, w.TCPPayloadBytes, g.TCPPayloadBytes)
				assert.Equal(t, iwarp.Known(0), g.UnseenBytes, "cut is not unseen")
				assert.Equal(t, w.LostUpstream, g.LostUpstream)
				assert.Equal(t, w.LostDownstream, g.LostDownstream)
			}
		}
		want := sums(whole)
		for op, n := range sums(got) {
			assert.LessOrEqual(t, n, want[op], op)
			found += n
		}
		for _, n := range want {
			all += n
		}
	})
	t.Logf("%d of %d FPDUs", found, all)
	assert.GreaterOrEqual(t, float64(found), 0.9*float64(all))
}

// TestEarlyAcks: at a mirror of two ports an ACK may be captured before the
// segments that it acknowledges. Nothing is unseen then, and every FPDU counts.
func TestEarlyAcks(t *testing.T) {
	captures(t, "captures/siw_*_bw_*.pcap*", func(t *testing.T, name string, list []wire.Packet) {
		early := append(list[:0:0], list...)
		moved := 0
		for i := 40; i < len(early); i++ {
			p, before := &early[i], &early[i-1]
			if p.Kind == wire.KindTCP && p.TransLen == 0 && p.TCP.Flags == wire.TCPAck && before.TransLen > 0 && before.Src == p.Dst &&
				before.DstPort == p.SrcPort && before.SrcPort == p.DstPort {
				early[i], early[i-1] = early[i-1], early[i]
				early[i].Time, early[i-1].Time = early[i-1].Time, early[i].Time
				moved++
			}
		}
		require.Positive(t, moved)
		whole, got := track(list, iwarp.Options{}), track(early, iwarp.Options{})
		assert.Equal(t, sums(whole), sums(got))
		var late int64
		for _, c := range got.Connections {
			for _, f := range c.Flows {
				assert.Equal(t, iwarp.Known(0), f.UnseenBytes)
				assert.Zero(t, f.TCP.Retransmitted+f.TCP.OutOfOrder)
				assert.Empty(t, f.Holes)
				late += f.LateBytes
			}
		}
		assert.Positive(t, late)
	})
}

// TestCapturedTwice: a mirror shows each packet before and behind a router. The
// second sightings count as copies, and nothing else changes.
func TestCapturedTwice(t *testing.T) {
	captures(t, "captures/siw_*loss*.pcap*", func(t *testing.T, name string, list []wire.Packet) {
		var d wire.Decoder
		var twice []wire.Packet
		var tcp int64
		for i := range list {
			p := list[i]
			twice = append(twice, p)
			if p.Kind != wire.KindTCP {
				continue
			}
			tcp++
			b := append([]byte{}, p.Data...)
			copy(b, []byte{2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 8})
			b[p.NetOff+8]--                            // TTL
			if b[p.NetOff+10]++; b[p.NetOff+10] == 0 { // the checksum, RFC 1624
				b[p.NetOff+11]++
			}
			q := wire.Packet{Number: p.Number, Time: p.Time + 2000, Data: b, Wire: p.Wire, Link: p.Link}
			d.Decode(&q)
			require.False(t, q.Has(wire.FlagIPChecksumBad))
			twice = append(twice, q)
		}
		once, got := track(list, iwarp.Options{}), track(twice, iwarp.Options{})
		assert.Equal(t, sums(once), sums(got))
		var copies int64
		for i := range once.Connections {
			for k := range once.Connections[i].Flows {
				w, g := &once.Connections[i].Flows[k], &got.Connections[i].Flows[k]
				copies += g.Copies
				g.TCP.DataSegments = w.TCP.DataSegments
				assert.Equal(t, w.TCP, g.TCP)
				assert.Equal(t, w.LostDownstream, g.LostDownstream)
				assert.Equal(t, w.LostUpstream, g.LostUpstream)
				assert.Equal(t, w.UnseenBytes, g.UnseenBytes)
				assert.Equal(t, w.Holes, g.Holes)
				assert.Zero(t, g.NetworkCopies)
			}
		}
		assert.Equal(t, tcp, copies)
	})
}
