package analysis

import "strconv"

// AgedOut are the totals of the connections that an endless run has let go:
// idle for longer than it remembers them, or the longest idle ones when there
// was no room for more. A long run's totals are these and those of the
// connections listed, together. A connection that several interfaces saw counts
// at each of them: nothing is left to tell that it is one.
type AgedOut struct {
	Connections     int64 `json:"connections" doc:"connections that are no longer listed"`
	Evicted         int64 `json:"evicted" doc:"of those, let go for want of room, before they were idle long enough"`
	Packets         int64 `json:"packets" doc:"their packets"`
	WireBytes       int64 `json:"wire_bytes" doc:"frame lengths without FCS, preamble and gap"`
	PayloadBytes    int64 `json:"payload_bytes" doc:"upper layer bytes"`
	Messages        int64 `json:"messages" doc:"messages, as far as known"`
	Retransmitted   int64 `json:"retransmitted_packets" doc:"packets sent again, as far as known"`
	RetransBytes    int64 `json:"retransmitted_bytes" doc:"their frame bytes"`
	RepeatResponses int64 `json:"repeated_response_packets" doc:"responses sent again"`
	OutOfOrder      int64 `json:"out_of_order_packets" doc:"first sendings that arrived after a packet sent later"`
	Duplicates      int64 `json:"duplicate_packets" doc:"copies"`
	Unseen          int64 `json:"unseen_packets" doc:"packets proved delivered, not in the capture"`
	LostUpstream    int64 `json:"lost_upstream_packets" doc:"sendings proved lost before the tap: a lower bound"`
	LostDownstream  int64 `json:"lost_downstream_packets" doc:"sendings proved lost after the tap: a lower bound"`
	Episodes        int64 `json:"episodes" doc:"steps back of the senders"`
	RecoveryTimeNS  int64 `json:"recovery_time_ns" doc:"time lost to recovery"`
	Acks            int64 `json:"acks" doc:"ACKs"`
	Naks            Naks  `json:"naks" doc:"NAKs by code"`
	RNRNaks         int64 `json:"rnr_naks" doc:"RNR NAKs"`
	ECNCapable      int64 `json:"ecn_capable_packets" doc:"packets with ECT(0), ECT(1) or CE"`
	ECNCE           int64 `json:"ecn_ce_packets" doc:"packets with CE"`
	CNP             int64 `json:"cnp_packets" doc:"CNPs"`
	ICRCBad         int64 `json:"icrc_bad_packets" doc:"packets whose iCRC is wrong"`

	byInterface []agedFlows // the same and more, for metrics and windows
}

// agedFlows are those that one interface saw, by its number.
type agedFlows struct {
	iface uint16
	FlowTotals
}

// flows are the totals of what one interface saw.
func (a *AgedOut) flows(iface uint16) *FlowTotals {
	for i := range a.byInterface {
		if a.byInterface[i].iface == iface {
			return &a.byInterface[i].FlowTotals
		}
	}
	a.byInterface = append(a.byInterface, agedFlows{iface: iface})
	return &a.byInterface[len(a.byInterface)-1].FlowTotals
}

// totals joins them to those of the interfaces' names. A report that was read
// from JSON doesn't tell interfaces apart.
func (a *AgedOut) totals(names []string, of func(name string) *FlowTotals) {
	for i := range a.byInterface {
		f := &a.byInterface[i]
		name := strconv.Itoa(int(f.iface))
		if int(f.iface) < len(names) {
			name = names[f.iface]
		}
		of(name).Join(&f.FlowTotals)
	}
	if len(a.byInterface) == 0 {
		of("").Join(&FlowTotals{Packets: a.Packets, WireBytes: a.WireBytes, PayloadBytes: a.PayloadBytes, Messages: &a.Messages,
			Retransmitted: &a.Retransmitted, RepeatResponses: &a.RepeatResponses, OutOfOrder: &a.OutOfOrder, Duplicates: &a.Duplicates,
			Unseen: &a.Unseen, LostUpstream: &a.LostUpstream, LostDownstream: &a.LostDownstream, RNRNaks: &a.RNRNaks, CNP: &a.CNP,
			ICRCBad: a.ICRCBad, ECNCE: a.ECNCE, Naks: &a.Naks})
	}
}

// add adds what one connection had, seen by an interface.
func (a *AgedOut) add(iface uint16, c *Connection) {
	a.Connections++
	totals := a.flows(iface)
	for i := range c.Flows {
		fl := &c.Flows[i]
		totals.Add(fl)
		a.Packets += fl.Packets
		a.WireBytes += fl.WireBytes
		a.PayloadBytes += fl.PayloadBytes
		a.Messages += orZero(fl.Messages)
		a.Retransmitted += orZero(fl.Retransmitted)
		a.RetransBytes += orZero(fl.RetransBytes)
		a.RepeatResponses += orZero(fl.RepeatResponses)
		a.OutOfOrder += orZero(fl.OutOfOrder)
		a.Duplicates += orZero(fl.Duplicates)
		a.Unseen += orZero(fl.Unseen)
		a.LostUpstream += orZero(fl.LostUpstream)
		a.LostDownstream += orZero(fl.LostDownstream)
		if fl.Episodes != nil {
			a.Episodes += fl.Episodes.Total
		}
		a.RecoveryTimeNS += orZero(fl.RecoveryTimeNS)
		a.Acks += orZero(fl.Acks)
		if n := fl.Naks; n != nil {
			a.Naks.add(n)
		}
		a.RNRNaks += orZero(fl.RNRNaks)
		a.ECNCapable += fl.ECNCapable
		a.ECNCE += fl.ECNCE
		a.CNP += orZero(fl.CNP)
		a.ICRCBad += fl.ICRCBad
	}
}

// join adds the totals of another part of the capture.
func (a *AgedOut) join(o *AgedOut) {
	a.Connections += o.Connections
	a.Evicted += o.Evicted
	a.Packets += o.Packets
	a.WireBytes += o.WireBytes
	a.PayloadBytes += o.PayloadBytes
	a.Messages += o.Messages
	a.Retransmitted += o.Retransmitted
	a.RetransBytes += o.RetransBytes
	a.RepeatResponses += o.RepeatResponses
	a.OutOfOrder += o.OutOfOrder
	a.Duplicates += o.Duplicates
	a.Unseen += o.Unseen
	a.LostUpstream += o.LostUpstream
	a.LostDownstream += o.LostDownstream
	a.Episodes += o.Episodes
	a.RecoveryTimeNS += o.RecoveryTimeNS
	a.Acks += o.Acks
	a.Naks.add(&o.Naks)
	a.RNRNaks += o.RNRNaks
	a.ECNCapable += o.ECNCapable
	a.ECNCE += o.ECNCE
	a.CNP += o.CNP
	a.ICRCBad += o.ICRCBad
	for i := range o.byInterface {
		a.flows(o.byInterface[i].iface).Join(&o.byInterface[i].FlowTotals)
	}
}

func (n *Naks) add(o *Naks) {
	n.PSNSequenceError += o.PSNSequenceError
	n.InvalidRequest += o.InvalidRequest
	n.RemoteAccessError += o.RemoteAccessError
	n.RemoteOperationalError += o.RemoteOperationalError
	n.InvalidRDRequest += o.InvalidRDRequest
}
