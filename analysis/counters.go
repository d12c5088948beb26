package analysis

import (
	"fmt"
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
type sums struct {
	of     [nicCounters]sumOf
	any    bool              // something was added
	pauses map[string]*sumOf // of ports, by name
}

// nicCounter is a counter that every host may have.
type nicCounter uint8

const (
	countSentPkts nicCounter = iota
	countRcvdPkts
	countRdmaSends
	countRdmaRecvs
	countNpCnpSent
	countRpCnpHandled
	countNpEcnMarkedRocePackets
	countRxIcrcEncapsulated
	countPacketSeqErr
	countReqRemoteInvalidRequest
	countReqRemoteAccessErrors
	countRemoteOpErr
	countRnrNakRetryErr
	countLocalAckTimeoutErr
	countImpliedNakSeqErr
	countRoceAdpRetrans
	countCompleterRetryErr
	countReqTransportRetriesExceeded
	countRoceSlowRestartCnps
	countOutOfSequence
	countOutOfSeqRequest
	countOutOfBuffer
	countDuplicateRequest
	countRxWriteRequests
	countRxReadRequests
	countRxAtomicRequests
	nicCounters
)

var counterNames = [nicCounters]string{
	countSentPkts:                    "sent_pkts",
	countRcvdPkts:                    "rcvd_pkts",
	countRdmaSends:                   "rdma_sends",
	countRdmaRecvs:                   "rdma_recvs",
	countNpCnpSent:                   "np_cnp_sent",
	countRpCnpHandled:                "rp_cnp_handled",
	countNpEcnMarkedRocePackets:      "np_ecn_marked_roce_packets",
	countRxIcrcEncapsulated:          "rx_icrc_encapsulated",
	countPacketSeqErr:                "packet_seq_err",
	countReqRemoteInvalidRequest:     "req_remote_invalid_request",
	countReqRemoteAccessErrors:       "req_remote_access_errors",
	countRemoteOpErr:                 "remote_op_err",
	countRnrNakRetryErr:              "rnr_nak_retry_err",
	countLocalAckTimeoutErr:          "local_ack_timeout_err",
	countImpliedNakSeqErr:            "implied_nak_seq_err",
	countRoceAdpRetrans:              "roce_adp_retrans",
	countCompleterRetryErr:           "completer_retry_err",
	countReqTransportRetriesExceeded: "req_transport_retries_exceeded",
	countRoceSlowRestartCnps:         "roce_slow_restart_cnps",
	countOutOfSequence:               "out_of_sequence",
	countOutOfSeqRequest:             "out_of_seq_request",
	countOutOfBuffer:                 "out_of_buffer",
	countDuplicateRequest:            "duplicate_request",
	countRxWriteRequests:             "rx_write_requests",
	countRxReadRequests:              "rx_read_requests",
	countRxAtomicRequests:            "rx_atomic_requests",
}

type sumOf struct {
	value     int64
	exactness string
	known     bool // some part of it
	partly    bool // another part isn't
}

// add adds a part of a counter; nil is a part that isn't known.
func (s *sums) add(c nicCounter, v *int64, exactness string) {
	s.any = true
	s.of[c].add(v, exactness)
}

// pause adds a part of a counter of pauses.
func (s *sums) pause(name string, v *int64, exactness string) {
	s.any = true
	c := s.pauses[name]
	if c == nil {
		if s.pauses == nil {
			s.pauses = map[string]*sumOf{}
		}
		c = &sumOf{}
		s.pauses[name] = c
	}
	c.add(v, exactness)
}

func (c *sumOf) add(v *int64, exactness string) {
	if v == nil {
		c.partly = true
		return
	}
	c.join(&sumOf{value: *v, exactness: exactness, known: true})
}

// join adds what others added up. The order is all one.
func (c *sumOf) join(o *sumOf) {
	switch {
	case !c.known:
		c.exactness = o.exactness
	case o.known:
		c.exactness = weaker(c.exactness, o.exactness)
	}
	c.value += o.value
	c.known = c.known || o.known
	c.partly = c.partly || o.partly
}

func (s *sums) join(o *sums) {
	s.any = s.any || o.any
	for i := range s.of {
		s.of[i].join(&o.of[i])
	}
	for name, v := range o.pauses {
		s.pause(name, nil, "")
		c := s.pauses[name]
		c.partly = false
		c.join(v)
	}
}

// counters turns sums into what the snapshot shows. lossy is a capture that
// doesn't hold everything: nothing in it is more than a lower bound.
func (s *sums) counters(lossy bool) Map[Counter] {
	m := make(Map[Counter], len(s.of)+len(s.pauses))
	show := func(name string, c *sumOf) {
		if !c.known {
			return
		}
		exactness := c.exactness
		if c.partly || lossy && exactness == exact {
			exactness = lowerBound
		}
		m[name] = Counter{Value: Int(c.value), Exactness: exactness}
	}
	for i := range s.of {
		show(counterNames[i], &s.of[i])
	}
	for name, c := range s.pauses {
		show(name, c)
	}
	return m
}

// hostSums are the sums of hosts, by address.
type hostSums map[string]*sums

func newHostSums(hosts []Host) hostSums {
	all := make(hostSums, len(hosts))
	room := make([]sums, len(hosts))
	for i := range hosts {
		all[hosts[i].IP] = &room[i]
	}
	return all
}

// sumFlows adds up the counters of all flows, as many parts of the connections
// at a time as there are workers, unless there are so many hosts that the sums of
// each part would be as much work as its flows.
func sumFlows(s *Snapshot, workers int) hostSums {
	const flowsPerHost = 8
	n := max(1, min(workers, len(s.Connections)/flowsPerHost/max(1, len(s.Hosts))))
	parts := make([]hostSums, n)
	parallel(workers, n, func(i int) {
		parts[i] = newHostSums(s.Hosts)
		for k := i * len(s.Connections) / n; k < (i+1)*len(s.Connections)/n; k++ {
			c := &s.Connections[k]
			for j := range c.Flows {
				fl := &c.Flows[j]
				flowCounters(parts[i][fl.SrcIP], parts[i][fl.DstIP], c, fl)
			}
		}
	})
	for _, p := range parts[1:] {
		for ip, a := range p {
			parts[0][ip].join(a)
		}
	}
	return parts[0]
}

// buildCounters fills in the counters of all hosts.
func buildCounters(s *Snapshot, r *merged, workers int) {
	all := sumFlows(s, workers)
	for i := range r.partitions {
		for ip, a := range r.partitions[i].aged.hosts {
			all[ip].join(&a.sums)
		}
	}
	sent, received := managementOf(r)
	parallel(workers, len(s.Hosts), func(i int) {
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
	})
}

// flowCounters adds what one flow meant for the NICs at its two ends.
func flowCounters(src, dst *sums, c *Connection, fl *Flow) {
	if c.Transport == "iwarp" { // whose drivers count connections, in names of their own
		return
	}
	src.add(countSentPkts, Int(fl.Packets), exact)
	dst.add(countRcvdPkts, Int(fl.Packets), exact)
	congestionCounters(src, dst, fl)
	if c.Service == "rc" {
		asked := requestsOf(fl)
		requesterCounters(src, fl, &asked)
		responderCounters(dst, fl, &asked)
	}
}

// lossy tells whether the capture is known to lack packets.
func lossy(s *Snapshot) bool {
	return orZero(s.Capture.UnseenPackets) > 0 || orZero(s.Capture.KernelDroppedPackets) > 0
}

// managementCounters add the packets to queue pairs 0 and 1, which drivers count
// as they count all others.
func managementCounters(c *sums, sent, received int64) {
	if !c.any && sent+received == 0 {
		return // no RoCE host
	}
	c.add(countSentPkts, Int(sent), exact)
	c.add(countRcvdPkts, Int(received), exact)
	c.add(countRdmaSends, Int(sent), exact)
	c.add(countRdmaRecvs, Int(received), exact)
}

// congestionCounters are those of DCQCN: notification point at the receiver,
// reaction point at the sender. CNPs travel from the first to the second.
func congestionCounters(src, dst *sums, fl *Flow) {
	m := fl.congested()
	src.add(countNpCnpSent, Int(m.CNPs), exact)
	dst.add(countRpCnpHandled, Int(m.CNPs), exact)
	dst.add(countNpEcnMarkedRocePackets, Int(m.DataCE), exact)
	var bad *int64
	checked := exact
	if fl.ICRCChecked > 0 {
		bad = Int(fl.ICRCBad)
		if fl.ICRCChecked < fl.Packets {
			checked = lowerBound
		}
	}
	dst.add(countRxIcrcEncapsulated, bad, checked)
}

// requesterCounters are those of the host that asks, for what it got back.
func requesterCounters(c *sums, fl *Flow, asked *requests) {
	var seq, invalid, access, operation *int64
	if n := fl.Naks; n != nil {
		seq, invalid, access, operation = &n.PSNSequenceError, &n.InvalidRequest, &n.RemoteAccessError, &n.RemoteOperationalError
	}
	c.add(countPacketSeqErr, seq, exact)
	c.add(countReqRemoteInvalidRequest, invalid, exact)
	c.add(countReqRemoteAccessErrors, access, exact)
	c.add(countRemoteOpErr, operation, exact)
	c.add(countRnrNakRetryErr, fl.RNRNaks, exact)
	var timeout, implied, adaptive, retries *int64
	if e := fl.Episodes; e != nil {
		timeout, implied, adaptive, retries = &e.Timeout, &e.ImpliedNak, &e.Adaptive, Int(e.Total-e.RNR)
	}
	c.add(countLocalAckTimeoutErr, timeout, inferred)
	c.add(countImpliedNakSeqErr, implied, inferred)
	c.add(countRoceAdpRetrans, adaptive, inferred)
	c.add(countCompleterRetryErr, retries, inferred)
	var gaveUp *int64
	if fl.RetriesExhausted != nil {
		gaveUp = Int(0)
		if *fl.RetriesExhausted {
			gaveUp = Int(1)
		}
	} else if fl.Episodes != nil { // it asked for nothing
		gaveUp = Int(0)
	}
	c.add(countReqTransportRetriesExceeded, gaveUp, inferred)
	if t := fl.congested().Throttle; t != nil {
		c.add(countRoceSlowRestartCnps, Int(t.SlowStart), inferred)
	}
	c.count(countRdmaSends, asked.of(fl, requestSend))
}

// responderCounters are those of the host that is asked.
func responderCounters(c *sums, fl *Flow, asked *requests) {
	var seq *int64
	if fl.Naks != nil {
		seq = &fl.Naks.PSNSequenceError
	}
	// A responder answers only the first of a run of packets out of sequence
	// (IBTA 9.7.5.2.8). mlx5 counts the packets, rxe the NAKs, which are what the
	// wire shows.
	c.add(countOutOfSequence, seq, lowerBound)
	c.add(countOutOfSeqRequest, seq, exact)
	c.add(countOutOfBuffer, fl.RNRNaks, exact)
	c.add(countDuplicateRequest, fl.duplicateRequests, inferred)
	c.count(countRxWriteRequests, asked.of(fl, requestWrite))
	c.count(countRxReadRequests, asked.of(fl, requestRead))
	c.count(countRxAtomicRequests, asked.of(fl, requestAtomic))
	c.count(countRdmaRecvs, asked.of(fl, requestSend))
	c.count(countRdmaRecvs, asked.immediate(fl))
}

// pauseCounters are those of pause frames. MAC control frames cross no bridge,
// so a host whose MAC sent some is one end of the tapped link, and whoever else
// sends them there is the other one. Where no host sends any, nothing says whose
// link it is.
func pauseCounters(c *sums, s *Snapshot, h *Host) {
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
func portPause(c *sums, src *PFCSource, way string, p *PFC) {
	prio := fmt.Sprintf("%s_prio%s_pause", way, src.Priority)
	if src.Priority == PriorityAll {
		prio = way + "_global_pause"
	}
	timed := exact
	if p.LinkSpeedFrom == "assumed" {
		timed = inferred
	}
	c.pause(prio, Int(src.XOFFFrames+src.XONFrames), exact)
	c.pause(prio+"_duration", Int(orZero(src.PausedNS)/1000), timed)
	if way == "rx" {
		c.pause(prio+"_transition", src.Transitions, timed)
		return
	}
	c.pause("tx_pause_storm_warning_events", Int(src.stallWarnings), inferred)
	c.pause("tx_pause_storm_error_events", Int(src.stallErrors), inferred)
}
