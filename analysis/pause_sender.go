package analysis

import "fmt"

// Why a device pauses can't be seen on the wire, but who it is narrows it down
// (F6, F14): a host that runs out of receive buffers says so with RNR NAKs; one
// that pauses without them takes in too slowly; many senders to one host are an
// incast; and what isn't a host of the capture is most likely a switch that is
// congested.

// incastSenders is how many hosts that send to one make an incast.
const incastSenders = 3

// pauseSender tells who sends a storm's pauses, and adds the figures to n.
func (f *finder) pauseSender(s *PFCStorm, n *Finding) string {
	h := f.hostOfMAC(s.EthSrc)
	if h == nil {
		if s.Root && len(f.Hosts) > 0 {
			return "; the sender is no RDMA host of this capture: congestion at a switch, or a host whose traffic wasn't seen"
		}
		return ""
	}
	what := fmt.Sprintf("; sent by host %s", h.IP)
	n.Subject.IP = h.IP
	if rnr, ok := h.figures["out_of_buffer"]; ok && rnr.Value != nil {
		n.Metrics["rnr_naks"] = Decimal(*rnr.Value)
		if *rnr.Value > 0 {
			what += fmt.Sprintf(", which ran out of receive buffers too (%s)", plural(*rnr.Value, "RNR NAK"))
		} else {
			what += ", which sent no RNR NAK: its NIC or memory takes in too slowly"
		}
	}
	senders := f.sendersTo(h.IP, s)
	n.Metrics["senders"] = Decimal(senders)
	if senders >= incastSenders {
		what += fmt.Sprintf("; %d hosts sent to it at a time (incast)", senders)
	}
	return what
}

// hostOfMAC is the host whose own a MAC is, nil for none.
func (f *finder) hostOfMAC(mac string) *Host {
	for i := range f.Hosts {
		if h := &f.Hosts[i]; f.ownsMAC(h, mac) {
			return h
		}
	}
	return nil
}

// sendersTo counts the hosts whose data went to a host around the beginning of
// a storm: of connections that lived then.
func (f *finder) sendersTo(ip string, s *PFCStorm) int {
	from := map[string]bool{}
	eachFlow(f.Snapshot, func(c *Connection, fl *Flow) {
		if fl.DstIP == ip && fl.PayloadBytes > 0 && c.FirstTime <= s.StartTime+Time(s.DurationNS) && c.LastTime >= s.StartTime {
			from[fl.SrcIP] = true
		}
	})
	return len(from)
}
