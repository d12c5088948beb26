package analysis

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// buildHosts adds up the traffic of each address.
func buildHosts(s *Snapshot, r *merged) List[Host] {
	hosts := map[string]*Host{}
	host := func(ip string) *Host {
		h := hosts[ip]
		if h == nil {
			h = &Host{IP: ip, Counters: Map[Counter]{}}
			hosts[ip] = h
		}
		return h
	}
	for i := range s.Connections {
		c := &s.Connections[i]
		for k, end := range []Endpoint{c.A, c.B} {
			if end.IP == "" || k == 1 && c.B.IP == c.A.IP {
				continue
			}
			h := host(string(end.IP))
			h.Connections++
			h.addMAC(string(end.MAC))
		}
		for k := range c.Flows {
			fl := &c.Flows[k]
			host(fl.SrcIP).sent(fl)
			host(fl.DstIP).received(fl)
		}
	}
	for i := range r.partitions {
		for ip, a := range r.partitions[i].aged.hosts {
			h := host(ip)
			h.Connections += a.host.Connections
			h.SentPackets += a.host.SentPackets
			h.SentBytes += a.host.SentBytes
			h.ReceivedPackets += a.host.ReceivedPackets
			h.ReceivedBytes += a.host.ReceivedBytes
			for _, mac := range a.host.MACs {
				h.addMAC(mac)
			}
		}
	}
	list := make(List[Host], 0, len(hosts))
	for _, h := range hosts {
		slices.Sort(h.MACs)
		list = append(list, *h)
	}
	slices.SortFunc(list, func(a, b Host) int { return compareAddresses(a.IP, b.IP) })
	return list
}

// maxMACs bounds the MACs of one host: what is sent to a tap may name any.
const maxMACs = 64

func (h *Host) addMAC(mac string) {
	if mac != "" && len(h.MACs) < maxMACs && !slices.Contains(h.MACs, mac) {
		h.MACs = append(h.MACs, mac)
	}
}

func (h *Host) sent(fl *Flow) {
	h.SentPackets += fl.Packets
	h.SentBytes += fl.WireBytes
}

func (h *Host) received(fl *Flow) {
	h.ReceivedPackets += fl.Packets
	h.ReceivedBytes += fl.WireBytes
}

// compareAddresses orders addresses by value, what isn't one after them.
func compareAddresses(a, b string) int {
	x, errX := netip.ParseAddr(a)
	y, errY := netip.ParseAddr(b)
	switch {
	case errX == nil && errY == nil:
		return x.Compare(y)
	case errX == nil:
		return -1
	case errY == nil:
		return 1
	}
	return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
}
