package analysis

import "time"

// Window is what came in the newest stretch of a capture that goes on.
type Window struct {
	Name           string `json:"name" enum:"10s|1m|10m|all" doc:"how much is asked for"`
	From           Time   `json:"from" doc:"where it begins"`
	To             Time   `json:"to" doc:"now: the newest packet, later when none came since"`
	DurationNS     int64  `json:"duration_ns" doc:"what it really spans: less in the beginning, more where snapshots are rare"`
	Packets        int64  `json:"packets" doc:"packets analysed"`
	WireBytes      int64  `json:"wire_bytes" doc:"frame lengths without FCS, preamble and gap"`
	RoCEPackets    int64  `json:"roce_packets" doc:"RoCEv2, RoCEv1 and InfiniBand, connection management left out"`
	IWARPPackets   int64  `json:"iwarp_packets" doc:"RDMA over TCP"`
	Dropped        *int64 `json:"kernel_dropped_packets" doc:"packets that the recorder dropped"`
	Unseen         *int64 `json:"unseen_packets" doc:"packets proved delivered, not in the capture"`
	Messages       *int64 `json:"messages" doc:"messages asked for"`
	PayloadBytes   int64  `json:"payload_bytes" doc:"upper layer bytes"`
	Retransmitted  *int64 `json:"retransmitted_packets" doc:"requests, responses and TCP segments sent again"`
	LostUpstream   *int64 `json:"lost_upstream_packets" doc:"sendings proved lost before the tap: a lower bound"`
	LostDownstream *int64 `json:"lost_downstream_packets" doc:"sendings proved lost after the tap: a lower bound"`
	Naks           *int64 `json:"naks" doc:"NAKs of all codes, RNR left out"`
	RNRNaks        *int64 `json:"rnr_naks" doc:"RNR NAKs"`
	ECNCE          int64  `json:"ecn_ce_packets" doc:"packets with CE"`
	CNP            *int64 `json:"cnp_packets" doc:"congestion notification packets"`
	PauseFrames    int64  `json:"pause_frames" doc:"802.1Qbb and 802.3x pause frames"`
	PausedNS       *int64 `json:"paused_ns" doc:"time paused, all senders and priorities added up; null where no pause was ever seen"`
	Findings       Counts `json:"findings" doc:"findings by severity whose evidence reaches into it"`
}

// windowSpans are the bounded windows. The last window has no bound.
var windowSpans = [...]struct {
	name string
	span time.Duration
}{{"10s", 10 * time.Second}, {"1m", time.Minute}, {"10m", 10 * time.Minute}}

// windowParts is into how many parts a window's memory is cut: it begins at
// most one part before it should.
const windowParts = 64

// Windows remembers what the snapshots of a live capture counted, as far back
// as its windows reach. A window's figure is what was counted in all until now,
// less what was counted until the window began. The memory is bounded, however
// long the capture runs and however often a snapshot is taken.
//
// The clock is the capture's. Where no packet comes it goes on with the
// system's, so that a window empties in a lull.
type Windows struct {
	begun  bool
	start  moment
	now    moment
	packet int64     // time of the newest packet
	seen   time.Time // when it was first seen
	rings  [len(windowSpans)][]moment
}

// moment is what was counted until then.
type moment struct {
	at   int64
	sums windowSums
}

// Add takes the newest snapshot, seen at the time wall of the system's clock,
// and returns it with its windows. Before the first packet with a time there
// are none.
func (w *Windows) Add(s *Snapshot, wall time.Time) *Snapshot {
	end := int64(s.Capture.EndTime)
	if end == 0 {
		return s
	}
	sums := windowSumsOf(s)
	if !w.begun {
		w.begun = true
		w.start = moment{at: int64(s.Capture.StartTime)}
		w.now = w.start
		for i := range w.rings {
			w.rings[i] = append(make([]moment, 0, windowParts+3), w.start)
		}
	}
	if end > w.packet {
		w.packet, w.seen = end, wall
	}
	sums.keepUp(&w.now.sums)
	w.now = moment{max(w.now.at, w.packet+max(0, wall.Sub(w.seen).Nanoseconds())), sums}
	c := *s
	c.Windows = nil
	for i := range w.rings {
		w.rings[i] = remember(w.rings[i], w.now, int64(windowSpans[i].span))
		c.Windows = append(c.Windows, w.window(windowSpans[i].name, &w.rings[i][0], s))
	}
	c.Windows = append(c.Windows, w.window("all", &w.start, s))
	return &c
}

// remember adds the present to what is remembered of a window, and forgets what
// lies before the moment at which the window begins.
func remember(ring []moment, now moment, span int64) []moment {
	begins := 0
	for begins+1 < len(ring) && ring[begins+1].at <= now.at-span {
		begins++
	}
	ring = append(ring[:0], ring[begins:]...)
	if now.at-ring[len(ring)-1].at >= span/windowParts {
		ring = append(ring, now)
	}
	return ring
}

// window is what came since a moment.
func (w *Windows) window(name string, from *moment, s *Snapshot) Window {
	d := w.now.sums.since(&from.sums)
	v := Window{Name: name, From: Time(from.at), To: Time(w.now.at), DurationNS: w.now.at - from.at,
		Packets: d.v[sumPackets], WireBytes: d.v[sumWireBytes], RoCEPackets: d.v[sumRoCE], IWARPPackets: d.v[sumIWARP],
		Dropped: d.figure(sumDropped), Unseen: d.figure(sumUnseen), Messages: d.figure(sumMessages), PayloadBytes: d.v[sumPayload],
		Retransmitted: d.figure(sumResent), LostUpstream: d.figure(sumUpstream), LostDownstream: d.figure(sumDownstream),
		Naks: d.figure(sumNaks), RNRNaks: d.figure(sumRNR), ECNCE: d.v[sumCE], CNP: d.figure(sumCNP),
		PauseFrames: d.v[sumPauses], PausedNS: d.figure(sumPaused), Findings: Counts{}}
	for i := range s.Findings {
		if f := &s.Findings[i]; name == "all" || int64(f.LastTime) > from.at {
			v.Findings[string(f.Severity)]++
		}
	}
	return v
}
