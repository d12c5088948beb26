package analysis

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Verdicts on a NIC's counter held against the wire.
const (
	CounterEqual       = "equal"       // the same
	CounterExpected    = "expected"    // they differ, as they must
	CounterInvisible   = "invisible"   // it counts nothing that a wire shows
	CounterUnexplained = "unexplained" // they differ, and nothing known is the reason
)

// CounterLine is one counter of a NIC, held against the wire.
type CounterLine struct {
	Name          string
	Before, After int64
	Delta         int64
	Wire          *int64 // nil: the wire can't tell
	Exactness     string
	Verdict       string
	Reason        string
}

// CompareCounters holds what a NIC counted between two snapshots against what
// passed the tap to and from host h, and says why the two differ.
func (s *Snapshot) CompareCounters(h *Host, before, after map[string]int64) []CounterLine {
	names := maps.Clone(after)
	maps.Copy(names, before)
	lost := lossesOf(s, h)
	list := make([]CounterLine, 0, len(names))
	for name := range names {
		l := CounterLine{Name: name, Before: before[name], After: after[name], Delta: after[name] - before[name]}
		_, hadBefore := before[name]
		_, hasAfter := after[name]
		figure, _ := figureOf(name)
		c, known := h.figures[figure]
		if known {
			l.Wire, l.Exactness = c.Value, c.Exactness
		}
		switch {
		case !hadBefore || !hasAfter:
			l.Delta, l.Verdict = 0, CounterUnexplained
			l.Reason = "in one of the two snapshots only: they are of different drivers or devices"
		case l.Delta < 0:
			l.Verdict, l.Reason = CounterUnexplained, "it went backwards: the driver was loaded anew, or the snapshots are in the wrong order"
		case !known:
			l.Verdict, l.Reason = CounterInvisible, invisible(name, figure, h)
		case l.Delta == *c.Value:
			l.Verdict, l.Reason = CounterEqual, equalReason(c.Exactness)
		default:
			l.explain(figure, &lost)
		}
		list = append(list, l)
	}
	slices.SortFunc(list, func(a, b CounterLine) int { return cmp.Compare(a.Name, b.Name) })
	return list
}

func equalReason(exactness string) string {
	switch exactness {
	case inferred:
		return "as concluded from how both ends behaved"
	case lowerBound:
		return "the wire shows at least this many"
	}
	return "as seen at the tap"
}

// losses are what is known of packets that one side of the tap had and the
// other hadn't.
type losses struct {
	beforeTap int64 // of packets that the host sent: proved lost on their way to the tap
	afterTap  int64 // of packets sent to it: proved lost behind the tap
	copies    int64 // seen more than once
	unseen    int64 // delivered, not captured
	rnr       int64 // RNR NAKs that it got
	retries   int64 // packets sent again on its connections
}

func lossesOf(s *Snapshot, h *Host) losses {
	l := losses{unseen: orZero(s.Capture.UnseenPackets)}
	eachFlow(s, func(_ *Connection, fl *Flow) {
		if fl.SrcIP == h.IP {
			l.beforeTap += orZero(fl.LostUpstream)
			l.rnr += orZero(fl.RNRNaks)
		}
		if fl.DstIP == h.IP {
			l.afterTap += orZero(fl.LostDownstream)
		}
		if fl.SrcIP == h.IP || fl.DstIP == h.IP {
			l.copies += orZero(fl.Duplicates)
			l.retries += orZero(fl.Retransmitted)
		}
	})
	return l
}

// explain says why a counter and the wire differ.
func (l *CounterLine) explain(figure string, lost *losses) {
	wire := *l.Wire
	more, fewer := l.Delta-wire, wire-l.Delta
	verdict := func(v, reason string, args ...any) { l.Verdict, l.Reason = v, fmt.Sprintf(reason, args...) }
	if lost.unseen > 0 && more > 0 {
		verdict(CounterExpected, "the capture lacks packets (%s are proved delivered, and not in it)", thousands(lost.unseen))
		return
	}
	switch sideOf(figure) {
	case sent:
		switch {
		case more > 0 && lost.beforeTap > 0:
			verdict(CounterExpected, "%s more left the host than came to the tap; at least %s of its packets are proved lost on that way",
				thousands(more), thousands(lost.beforeTap))
		case more > 0 && lost.retries > 0:
			verdict(CounterExpected, "%s more left the host than came to the tap: lost before it, as others that had to be sent again", thousands(more))
		case fewer > 0 && lost.copies > 0:
			verdict(CounterExpected, "the capture shows %s more: it holds copies", thousands(fewer))
		default:
			l.otherTime()
		}
	case received:
		switch {
		case fewer > 0 && lost.afterTap > 0:
			verdict(CounterExpected, "%s of those that passed the tap didn't come to the host; at least %s packets to it are proved lost on that way",
				thousands(fewer), thousands(lost.afterTap))
		case fewer > 0 && lost.copies > 0:
			verdict(CounterExpected, "the capture shows %s more: it holds copies", thousands(fewer))
		case fewer > 0 && lost.retries > 0:
			verdict(CounterExpected, "%s of those that passed the tap didn't come to the host: lost behind the tap, or given up there", thousands(fewer))
		default:
			l.otherTime()
		}
	default:
		l.concluded(figure, lost)
	}
}

// otherTime is what is left when no packet was lost or copied.
func (l *CounterLine) otherTime() {
	l.Verdict = CounterUnexplained
	l.Reason = "no loss or copy explains it: the snapshots span another time than the capture, or the host talked on other links too"
}

// concluded explains figures that come from how the ends behaved.
func (l *CounterLine) concluded(figure string, lost *losses) {
	l.Verdict = CounterExpected
	switch figure {
	case "packet_seq_err":
		// rxe_comp.c, check_ack: counted when the NAK's PSN is beyond what had
		// been acknowledged.
		l.Reason = "requesters count a sequence NAK once for each recovery, and rxe only when it acknowledges something new as well: " +
			"not when it repeats the one before, or follows an RNR NAK for the same PSN"
	case "completer_retry_err":
		if lost.rnr > 0 {
			l.Reason = "rxe counts the sequence NAK that follows an RNR NAK as a retry too; here that belongs to the RNR episode"
			return
		}
		l.Reason = "retries all of whose packets were lost before the tap aren't seen; one that went on behind a retry looks like a part of it"
	case "out_of_sequence":
		l.Reason = "the NIC counts packets, of which the responder answers only the first with a NAK: the wire shows at least these"
	case "duplicate_request":
		l.Reason = "concluded: which of the packets sent again had come already depends on losses behind the tap"
	case "local_ack_timeout_err", "roce_adp_retrans", "implied_nak_seq_err", "req_transport_retries_exceeded", "roce_slow_restart_cnps":
		l.Reason = "concluded from silences and from what was sent again; retries lost before the tap aren't seen"
	case "rx_write_requests", "rx_read_requests", "rx_atomic_requests", "rdma_sends", "rdma_recvs":
		l.Reason = "requests that were sent again can't be told from new ones where kinds are mixed: the wire shows at least these"
		if l.Exactness == exact {
			l.otherTime()
		}
	default:
		if strings.Contains(figure, "_pause_duration") {
			l.Reason = "the NIC's clock counts the time that its transmitter really stood still; the wire tells for how long it was told to, by the link speed"
			return
		}
		if strings.Contains(figure, "_pause") {
			l.Reason = "pause frames are local to a link, and taps rarely see all of them"
			return
		}
		l.otherTime()
	}
}

// side is where a counted event happens, seen from the tap.
type side uint8

const (
	concluded side = iota
	sent           // on the way out of the host
	received       // on the way in
)

// sideOf says where the NIC counts.
func sideOf(figure string) side {
	switch figure {
	case "sent_pkts", "out_of_buffer", "out_of_seq_request", "np_cnp_sent":
		return sent
	case "rcvd_pkts", "rnr_nak_retry_err", "req_remote_invalid_request", "req_remote_access_errors", "remote_op_err",
		"np_ecn_marked_roce_packets", "rp_cnp_handled", "rx_icrc_encapsulated":
		return received
	}
	return concluded
}

// hidden are counters that nothing on a wire shows, and why.
var hidden = map[string]string{
	"ack_deferred":           "how often rxe put off its handling of a response: work inside the host",
	"send_err":               "the host couldn't hand a packet to its network device",
	"link_downed":            "the state of the port",
	"retry_rnr_exceeded_err": "the requester gave up after RNR NAKs: that looks like any end of traffic",
	"lifespan":               "no counter: how often the driver reads them",
	"rp_cnp_ignored":         "what the NIC does with a CNP that it got",
	"recoverable_errors":     "errors inside the NIC",
	"unrecoverable_err":      "errors inside the NIC",
	"roce_slow_restart": "a state of the NIC's rate limiter, which it enters after a retransmission where it is set up to: the wire shows the " +
		"retransmission (local_ack_timeout_err, packet_seq_err) and the CNPs (roce_slow_restart_cnps), not what held the rate back",
	"roce_slow_restart_trans": "a state of the NIC's rate limiter: see roce_slow_restart",
	"roce_adp_retrans_to":     "which timer ran out; what was sent again too early for the ordinary one is in roce_adp_retrans",
	"rx_prio<p>_buf_discard":  "what the NIC throws away isn't on the wire; look for the loss that it makes",
	"rx_prio<p>_cong_discard": "what the NIC throws away isn't on the wire; look for the loss that it makes",
}

// invisible says why the wire can't tell a counter.
func invisible(name, figure string, h *Host) string {
	if why := hidden[name]; why != "" {
		return why
	}
	switch {
	case strings.HasPrefix(name, "active_"), strings.HasPrefix(name, "watermark_"), strings.HasPrefix(name, "resize_"):
		return "resources in use, no events"
	case strings.Contains(name, "discard"), strings.Contains(name, "drop"):
		return "what a device throws away isn't on the wire; look for the loss that it makes"
	case strings.Contains(figure, "pause"):
		return "no pause frame of this link and priority was seen: NICs take them off, and mirrors rarely copy them"
	case strings.HasPrefix(name, "res_"), strings.Contains(name, "cqe"), strings.Contains(name, "local_"):
		return "an error inside the NIC; the wire shows at most the NAK that it made"
	}
	if _, known := figureOf(name); known {
		return fmt.Sprintf("can't be told from this capture: nothing of what it counts is known at %s", h.IP)
	}
	return "counts something inside the host or NIC, or other traffic than RDMA"
}
