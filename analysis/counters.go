package analysis

import (
	"fmt"
	"strings"
)

// What a NIC's counters would show is added up here from the merged figures of
// the snapshot, under the names of mlx5 (Linux, hw_counters and ethtool -S); the
// other drivers' names are translations of them, see counters_names.go. A
// counter that the wire can't tell is absent.

// How near a figure is to the NIC's own counter.
const (
	exact      = "exact"       // the NIC counts the same event, seen at the tap
	inferred   = "inferred"    // concluded from how the ends behave
	lowerBound = "lower_bound" // the NIC may have counted more
)

// weaker is the weaker of two claims.
func weaker(a, b string) string {
	if a == exact || b == lowerBound {
		return b
	}
	return a
}

// sums are one host's counters while they are added up.
type sums map[string]*sumOf

type sumOf struct {
	value     int64
	exactness string
	known     bool // some part of it
	partly    bool // another part isn't
}

// add adds a part of a counter; nil is a part that isn't known.
func (s sums) add(name string, v *int64, exactness string) {
	c := s[name]
	if c == nil {
		c = &sumOf{exactness: exact}
		s[name] = c
	}
	if v == nil {
		c.partly = true
		return
	}
	c.known = true
	c.value += *v
	c.exactness = weaker(c.exactness, exactness)
}

// join adds what others added up.
func (s sums) join(o sums) {
	for name, v := range o {
		c := s[name]
		if c == nil {
			c = &sumOf{exactness: exact}
			s[name] = c
		}
		c.value += v.value
		c.exactness = weaker(c.exactness, v.exactness)
		c.known = c.known || v.known
		c.partly = c.partly || v.partly
	}
}

// counters turns sums into what the snapshot shows. lossy is a capture that
// doesn't hold everything: nothing in it is more than a lower bound.
func (s sums) counters(lossy bool) Map[Counter] {
	m := Map[Counter]{}
	for name, c := range s {
		if !c.known {
			continue
		}
		if c.partly || lossy && c.exactness == exact {
			c.exactness = lowerBound
		}
		m[name] = Counter{Value: Int(c.value), Exactness: c.exactness}
	}
	return m
}

// buildCounters fills in the counters of all hosts.
func buildCounters(s *Snapshot, r *merged) {
	all := make(map[string]sums, len(s.Hosts))
	for i := range s.Hosts {
		all[s.Hosts[i].IP] = sums{}
	}
	eachFlow(s, func(c *Connection, fl *Flow) { flowCounters(all[fl.SrcIP], all[fl.DstIP], c, fl) })
	for i := range r.partitions {
		for ip, a := range r.partitions[i].aged.hosts {
			all[ip].join(a.sums)
		}
	}
	sent, received := managementOf(r)
	for i := range s.Hosts {
		h := &s.Hosts[i]
		mine := all[h.IP]
		managementCounters(mine, sent[h.IP], received[h.IP])
		pauseCounters(mine, s, h)
		counted := mine.counters(lossy(s))
		h.figures = counted
		for name, c := range counted {
			if !onlyOthers[name] {
				h.Counters[name] = c
			}
		}
	}
}

// flowCounters adds what one flow meant for the NICs at its two ends.
func flowCounters(src, dst sums, c *Connection, fl *Flow) {
	if c.Transport == "iwarp" { // whose drivers count connections, in names of their own
		return
	}
	src.add("sent_pkts", Int(fl.Packets), exact)
	dst.add("rcvd_pkts", Int(fl.Packets), exact)
	congestionCounters(src, dst, fl)
	if c.Service == "rc" {
		requesterCounters(src, fl)
		responderCounters(dst, fl)
	}
}

// lossy tells whether the capture is known to lack packets.
func lossy(s *Snapshot) bool {
	return orZero(s.Capture.UnseenPackets) > 0 || orZero(s.Capture.KernelDroppedPackets) > 0
}

// managementCounters add the packets to queue pairs 0 and 1, which drivers count
// as they count all others.
func managementCounters(c sums, sent, received int64) {
	if len(c) == 0 && sent+received == 0 {
		return // no RoCE host
	}
	c.add("sent_pkts", Int(sent), exact)
	c.add("rcvd_pkts", Int(received), exact)
	c.add("rdma_sends", Int(sent), exact)
	c.add("rdma_recvs", Int(received), exact)
}

// congestionCounters are those of DCQCN: notification point at the receiver,
// reaction point at the sender. CNPs travel from the first to the second.
func congestionCounters(src, dst sums, fl *Flow) {
	m := &fl.marks
	src.add("np_cnp_sent", Int(m.CNPs), exact)
	dst.add("rp_cnp_handled", Int(m.CNPs), exact)
	dst.add("np_ecn_marked_roce_packets", Int(m.DataCE), exact)
	var bad *int64
	checked := exact
	if fl.ICRCChecked > 0 {
		bad = Int(fl.ICRCBad)
		if fl.ICRCChecked < fl.Packets {
			checked = lowerBound
		}
	}
	dst.add("rx_icrc_encapsulated", bad, checked)
}

// requesterCounters are those of the host that asks, for what it got back.
func requesterCounters(c sums, fl *Flow) {
	var seq, invalid, access, operation *int64
	if n := fl.Naks; n != nil {
		seq, invalid, access, operation = &n.PSNSequenceError, &n.InvalidRequest, &n.RemoteAccessError, &n.RemoteOperationalError
	}
	c.add("packet_seq_err", seq, exact)
	c.add("req_remote_invalid_request", invalid, exact)
	c.add("req_remote_access_errors", access, exact)
	c.add("remote_op_err", operation, exact)
	c.add("rnr_nak_retry_err", fl.RNRNaks, exact)
	var timeout, implied, adaptive, retries *int64
	if e := fl.Episodes; e != nil {
		timeout, implied, adaptive, retries = &e.Timeout, &e.ImpliedNak, &e.Adaptive, Int(e.Total-e.RNR)
	}
	c.add("local_ack_timeout_err", timeout, inferred)
	c.add("implied_nak_seq_err", implied, inferred)
	c.add("roce_adp_retrans", adaptive, inferred)
	c.add("completer_retry_err", retries, inferred)
	var gaveUp *int64
	if fl.RetriesExhausted != nil {
		gaveUp = Int(0)
		if *fl.RetriesExhausted {
			gaveUp = Int(1)
		}
	} else if fl.Episodes != nil { // it asked for nothing
		gaveUp = Int(0)
	}
	c.add("req_transport_retries_exceeded", gaveUp, inferred)
	if t := fl.marks.Throttle; t != nil {
		c.add("roce_slow_restart_cnps", Int(t.SlowStart), inferred)
	}
	sends := messagesOf(fl, "Send")
	c.add("rdma_sends", sends.value, sends.exactness)
}

// responderCounters are those of the host that is asked.
func responderCounters(c sums, fl *Flow) {
	var seq *int64
	if fl.Naks != nil {
		seq = &fl.Naks.PSNSequenceError
	}
	// A responder answers only the first of a run of packets out of sequence
	// (IBTA 9.7.5.2.8). mlx5 counts the packets, rxe the NAKs, which are what the
	// wire shows.
	c.add("out_of_sequence", seq, lowerBound)
	c.add("out_of_seq_request", seq, exact)
	c.add("out_of_buffer", fl.RNRNaks, exact)
	c.add("duplicate_request", fl.duplicateRequests, inferred)
	for _, of := range [...]struct{ name, kind string }{
		{"rx_write_requests", "RDMA Write"}, {"rx_read_requests", "RDMA Read Request"}, {"rx_atomic_requests", "atomic"},
	} {
		n := messagesOf(fl, of.kind)
		c.add(of.name, n.value, n.exactness)
	}
	sends, immediate := messagesOf(fl, "Send"), lastsOf(fl, "RDMA Write", "Immediate")
	c.add("rdma_recvs", sends.value, sends.exactness)
	c.add("rdma_recvs", immediate.value, immediate.exactness)
}

// messageCount is how many messages of a kind a flow asked for.
type messageCount struct {
	value     *int64
	exactness string
}

// messagesOf counts the messages of a kind, each once. The packets that begin
// one say how many there were where nothing was sent again and nothing copied;
// else those of the other kinds bound it from below, as all messages together
// are known.
func messagesOf(fl *Flow, kind string) messageCount {
	mine, others := int64(0), int64(0)
	for op, n := range fl.Opcodes {
		switch {
		case !begins(op):
		case isKind(op, kind):
			mine += n
		default:
			others += n
		}
	}
	if mine == 0 {
		return messageCount{Int(0), exact}
	}
	if clean(fl) {
		return messageCount{Int(mine), exact}
	}
	if fl.Messages == nil {
		return messageCount{}
	}
	if others == 0 {
		return messageCount{Int(min(mine, *fl.Messages)), exact}
	}
	bound := max(0, *fl.Messages-others)
	if l := finished(fl, kind); l != nil {
		bound = max(bound, l.Count)
	}
	return messageCount{Int(min(mine, bound)), lowerBound}
}

// lastsOf counts the messages of a kind whose last packet has a property, such
// as immediate data: what consumes a receive.
func lastsOf(fl *Flow, kind, property string) messageCount {
	n := int64(0)
	for op, packets := range fl.Opcodes {
		if isKind(op, kind) && strings.Contains(op, property) {
			n += packets
		}
	}
	if n > 0 && !clean(fl) {
		return messageCount{Int(0), lowerBound}
	}
	return messageCount{Int(n), exact}
}

// clean tells whether every packet on the flow stands for itself.
func clean(fl *Flow) bool {
	return fl.Retransmitted != nil && *fl.Retransmitted == 0 && orZero(fl.Duplicates) == 0 && fl.ICRCBad == 0
}

// finished is the latency of a kind of which each message is one sample.
func finished(fl *Flow, kind string) *Latency {
	switch kind {
	case "RDMA Read Request":
		return fl.Latency.ReadLast
	case "atomic":
		return fl.Latency.Atomic
	}
	return nil
}

// begins tells whether a packet of this opcode begins a request.
func begins(op string) bool {
	if strings.Contains(op, "Response") || strings.Contains(op, "Acknowledge") {
		return false
	}
	return strings.Contains(op, " First") || strings.Contains(op, " Only") || isKind(op, "RDMA Read Request") || isKind(op, "atomic")
}

func isKind(op, kind string) bool {
	if kind == "atomic" {
		return strings.HasSuffix(op, " Compare Swap") || strings.HasSuffix(op, " Fetch Add")
	}
	_, name, _ := strings.Cut(op, " ") // "RC Send Only"
	return strings.HasPrefix(name, kind)
}

// pauseCounters are those of pause frames. MAC control frames cross no bridge,
// so a host whose MAC sent some is one end of the tapped link, and whoever else
// sends them there is the other one. Where no host sends any, nothing says whose
// link it is.
func pauseCounters(c sums, s *Snapshot, h *Host) {
	for i := range s.PFC.Sources {
		src := &s.PFC.Sources[i]
		if s.ownsMAC(h, src.EthSrc) {
			portPause(c, src, "tx", &s.PFC)
			continue
		}
		for k := range s.PFC.Sources {
			if o := &s.PFC.Sources[k]; o.Interface == src.Interface && o.EthSrc != src.EthSrc && s.ownsMAC(h, o.EthSrc) {
				portPause(c, src, "rx", &s.PFC)
				break
			}
		}
	}
}

// ownsMAC tells whether a MAC is the host's own. One that several hosts of an
// address family send with is a router's.
func (s *Snapshot) ownsMAC(h *Host, mac string) bool {
	if !h.hasMAC(mac) {
		return false
	}
	for i := range s.Hosts {
		if o := &s.Hosts[i]; o.IP != h.IP && isIPv6(o.IP) == isIPv6(h.IP) && o.hasMAC(mac) {
			return false
		}
	}
	return true
}

func (h *Host) hasMAC(mac string) bool {
	for _, m := range h.MACs {
		if m == mac {
			return true
		}
	}
	return false
}

// portPause adds one source's pauses to the counters of a port that sends or
// receives them.
func portPause(c sums, src *PFCSource, way string, p *PFC) {
	prio := fmt.Sprintf("%s_prio%s_pause", way, src.Priority)
	if src.Priority == PriorityAll {
		prio = way + "_global_pause"
	}
	timed := exact
	if p.LinkSpeedFrom == "assumed" {
		timed = inferred
	}
	c.add(prio, Int(src.XOFFFrames+src.XONFrames), exact)
	c.add(prio+"_duration", Int(orZero(src.PausedNS)/1000), timed)
	if way == "rx" {
		c.add(prio+"_transition", src.Transitions, timed)
		return
	}
	c.add("tx_pause_storm_warning_events", Int(src.stallWarnings), inferred)
	c.add("tx_pause_storm_error_events", Int(src.stallErrors), inferred)
}
