package analysis

import (
	"cmp"
	"math"
	"slices"
)

// TransportFit says what RoCE and iWARP would make of the loss that one flow
// met: the first question of who chooses between them. It is arithmetic on four
// measured figures, not a simulation; every figure that it rests on stands
// beside it. Flows without measured loss or round trip have none.
type TransportFit struct {
	ConnectionID string   `json:"connection_id" doc:"the connection"`
	Transport    string   `json:"transport" enum:"rocev2|rocev1|infiniband|iwarp" doc:"what carried it"`
	SrcIP        string   `json:"src_ip" doc:"sender of the data"`
	DstIP        string   `json:"dst_ip" doc:"receiver"`
	Lost         int64    `json:"lost_packets" doc:"sendings proved lost, before and after the tap: a lower bound"`
	Sent         int64    `json:"sent_packets" doc:"sendings: seen, or proved lost before the tap"`
	Loss         Decimal  `json:"loss_ratio" doc:"p: lost of sent"`
	RTTNS        int64    `json:"rtt_ns" doc:"RTT: median of tcp.rtt or latency.ack, from the tap to the receiver and back: a lower bound"`
	InFlight     Decimal  `json:"in_flight_packets" doc:"W: packets under way when one is lost"`
	InFlightFrom string   `json:"in_flight_from" enum:"max_outstanding|rate_times_rtt" doc:"where W comes from: the most seen, or a mean"`
	Paused       *Decimal `json:"pause_overlap_ratio" doc:"share of the latency in pauses; null when pauses are not visible"`
	GoBackN      Decimal  `json:"go_back_n_ratio" doc:"share of RoCE's packets that is new data with go-back-N: (1-p)/(1-p+pW), idle timeouts not counted"`
	Selective    Decimal  `json:"selective_ratio" doc:"the same with selective repeat: 1-p"`
	GoBackNLimit Decimal  `json:"go_back_n_limit_ratio" doc:"the loss p from which go-back-N gives away a tenth: 1/(9W+1)"`
	Rate         *int64   `json:"rate_bps" doc:"payload of the flow over the life of its connection"`
	MSS          *int64   `json:"mss_bytes" doc:"TCP's, or the path MTU of RoCE"`
	LinkSpeed    *int64   `json:"link_speed_bps" doc:"as told by the file or a flag, else null"`
	Ceiling      *int64   `json:"tcp_ceiling_bps" doc:"what TCP can carry at this loss: min(link, 1.22 MSS/(RTT sqrt(p))), Reno's and so pessimistic; null without an MSS"`
	CeilingLimit *Decimal `json:"tcp_ceiling_limit_ratio" doc:"the loss p at which that ceiling comes down to rate_bps"`
}

// maxFits is how many flows are told of: the worst.
const maxFits = 10

// buildFit finds the flows for which the capture carries all that is needed.
func buildFit(s *Snapshot) List[TransportFit] {
	var list List[TransportFit]
	for i := range s.Connections {
		c := &s.Connections[i]
		if c.Service != "rc" && c.Service != "stream" {
			continue // datagrams and unreliable connections don't recover
		}
		for k := range c.Flows {
			if x, ok := fitOf(s, c, &c.Flows[k]); ok {
				list = append(list, x)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b TransportFit) int { return cmp.Compare(b.Lost, a.Lost) })
	return list[:min(len(list), maxFits)]
}

func fitOf(s *Snapshot, c *Connection, fl *Flow) (x TransportFit, ok bool) {
	if fl.LostUpstream == nil || fl.LostDownstream == nil {
		return x, false
	}
	x = TransportFit{ConnectionID: c.ID, Transport: c.Transport, SrcIP: fl.SrcIP, DstIP: fl.DstIP, Paused: fl.PauseOverlap}
	x.Lost = *fl.LostUpstream + *fl.LostDownstream
	life := int64(c.LastTime) - int64(c.FirstTime)
	if life > 0 {
		x.Rate = Int(int64(float64(fl.PayloadBytes) * 8e9 / float64(life)))
	}
	switch rtt := fl.Latency.Ack; {
	case fl.TCP != nil:
		rtt = fl.TCP.RTT
		x.Sent = fl.TCP.DataSegments + *fl.LostUpstream
		if rtt == nil || life <= 0 {
			return x, false
		}
		x.RTTNS = rtt.P50NS
		x.InFlight = Decimal(max(float64(x.Sent)*float64(x.RTTNS)/float64(life), 1)) // Little's law
		x.InFlightFrom = "rate_times_rtt"
		x.MSS = sendMSS(fl)
	case rtt != nil && fl.MaxOutstanding != nil:
		x.Sent = fl.Packets - orZero(fl.Duplicates) + *fl.LostUpstream
		x.RTTNS = rtt.P50NS
		x.InFlight, x.InFlightFrom = Decimal(max(*fl.MaxOutstanding, 1)), "max_outstanding"
		x.MSS = fl.PathMTUBytes
	}
	if x.Lost <= 0 || x.Sent <= x.Lost || x.RTTNS <= 0 {
		return x, false
	}
	if s.PFC.LinkSpeedFrom == "flag" || s.PFC.LinkSpeedFrom == "pcapng" {
		x.LinkSpeed = s.PFC.LinkSpeedBps
	}
	x.compute()
	return x, true
}

// sendMSS is what the peer's SYN allowed.
func sendMSS(fl *Flow) *int64 {
	if fl.stream == nil {
		return nil
	}
	return plain(fl.stream.MPA.SendMSS)
}

// compute fills in what follows from loss, RTT and packets in flight. A packet
// that is lost costs go-back-N itself and the W behind it, selective repeat
// itself. TCP's ceiling is that of Mathis et al. 1997, with its constant for
// Reno without delayed ACKs.
func (x *TransportFit) compute() {
	p, w := float64(x.Lost)/float64(x.Sent), float64(x.InFlight)
	x.Loss = Decimal(p)
	x.GoBackN = Decimal((1 - p) / (1 - p + p*w))
	x.Selective = Decimal(1 - p)
	x.GoBackNLimit = Decimal(1 / (9*w + 1))
	if x.MSS == nil {
		return
	}
	reach := 1.22 * 8e9 * float64(*x.MSS) / float64(x.RTTNS) // bit/s at p = 1
	ceiling := reach / math.Sqrt(p)
	if x.LinkSpeed != nil {
		ceiling = min(ceiling, float64(*x.LinkSpeed))
	}
	x.Ceiling = Int(int64(ceiling))
	if x.Rate != nil && *x.Rate > 0 {
		limit := Decimal(min(math.Pow(reach/float64(*x.Rate), 2), 1))
		x.CeilingLimit = &limit
	}
}
