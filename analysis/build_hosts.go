package analysis

import (
	"cmp"
	"net/netip"
	"slices"
	"strings"
)

// buildHosts adds up the traffic of each address.
func buildHosts(s *Snapshot) List[Host] {
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
			if mac := string(end.MAC); mac != "" && !slices.Contains(h.MACs, mac) {
				h.MACs = append(h.MACs, mac)
			}
		}
		for k := range c.Flows {
			fl := &c.Flows[k]
			from, to := host(fl.SrcIP), host(fl.DstIP)
			from.SentPackets += fl.Packets
			from.SentBytes += fl.WireBytes
			to.ReceivedPackets += fl.Packets
			to.ReceivedBytes += fl.WireBytes
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
