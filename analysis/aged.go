package analysis

import (
	"maps"
	"slices"
)

// aged is what one partition keeps of connections that it let go: those with
// trouble as they were, as far as there is room, and the sums of all others.
type aged struct {
	rows []draft // connections with trouble; never changed
	// generations are how often the flows of the rows were let go.
	generations map[FlowKey]int32
	evicted     int64 // connections let go for want of room, those in rows too
	totals      AgedOut
	broken      violations // rules of the transport, by all of them
	hosts       map[string]*agedHost
	crowded     int64 // ends of connections whose host found no room in hosts
}

// agedHost sums up what connections that are in no list any more meant for a
// host.
type agedHost struct {
	host Host // counts and MACs
	sums sums
}

// Bounds for each of the partitions: rows of a few kilobytes, hosts of two.
const (
	maxAgedRows  = 64
	maxAgedHosts = 128
)

// add takes a connection that is let go.
func (a *aged) add(d *draft) {
	if d.evicted {
		a.evicted++
	}
	trouble := d.trouble()
	if trouble == 0 {
		a.fold(d)
		return
	}
	if len(a.rows) < maxAgedRows {
		a.put(len(a.rows), d)
		return
	}
	least := 0
	for i := range a.rows {
		if a.rows[i].trouble() < a.rows[least].trouble() {
			least = i
		}
	}
	if out := &a.rows[least]; out.trouble() < trouble {
		a.fold(out)
		a.put(least, d)
		return
	}
	a.fold(d)
}

// trouble counts what an engineer would want to find in the morning.
func (d *draft) trouble() (n int64) {
	for i := range d.Flows {
		fl := &d.Flows[i]
		n += orZero(fl.LostUpstream) + orZero(fl.LostDownstream) + orZero(fl.Retransmitted) + orZero(fl.RNRNaks) + fl.ICRCBad
		if fl.Naks != nil {
			n += fl.Naks.Total()
		}
		if fl.Episodes != nil {
			n += fl.Episodes.Total
		}
		if fl.TCP != nil {
			n += orZero(fl.TCP.Retransmitted)
		}
		n += int64(len(fl.Terminates))
	}
	return n
}

// generation is how often a flow of this key was let go, as far as a row tells:
// so that no two connections in the list have one name.
func (a *aged) generation(k *FlowKey) int32 {
	return a.generations[*k]
}

// put makes d row i, which may be a new one.
func (a *aged) put(i int, d *draft) {
	if a.generations == nil {
		a.generations = map[FlowKey]int32{}
	}
	if i == len(a.rows) {
		a.rows = append(a.rows, *d)
	} else {
		out := a.rows[i]
		a.rows[i] = *d
		for _, k := range out.keys { // another row may be of the same flow
			delete(a.generations, k)
			for j := range a.rows {
				a.remember(&a.rows[j], &k)
			}
		}
	}
	a.remember(d, nil)
}

// remember notes the generation of a row's flows, or of one of them alone.
func (a *aged) remember(d *draft, only *FlowKey) {
	for _, k := range d.keys {
		if only == nil || k == *only {
			a.generations[k] = max(a.generations[k], d.generation+1)
		}
	}
}

// has tells whether a connection of this name is among the rows.
func (a *aged) has(id string) bool {
	return slices.ContainsFunc(a.rows, func(d draft) bool { return d.ID == id })
}

// fold adds a connection to the sums.
func (a *aged) fold(d *draft) {
	c := &d.Connection
	a.totals.add(d.iface, c)
	if d.evicted {
		a.totals.Evicted++
	}
	if a.hosts == nil {
		a.hosts = map[string]*agedHost{}
	}
	var ends [2]*agedHost
	for i, end := range []*Endpoint{&c.A, &c.B} {
		if i == 1 && c.B.IP == c.A.IP {
			continue
		}
		if ends[i] = a.host(string(end.IP)); ends[i] != nil {
			ends[i].host.Connections++
			ends[i].host.addMAC(string(end.MAC))
		}
	}
	for i := range c.Flows {
		fl := &c.Flows[i]
		src, dst := a.host(fl.SrcIP), a.host(fl.DstIP)
		if src == nil || dst == nil { // half of it would look like packets that got lost
			a.crowded++
			continue
		}
		src.host.sent(fl)
		dst.host.received(fl)
		flowCounters(&src.sums, &dst.sums, c, fl)
	}
}

// host returns the sums of a host, nil when there is no room.
func (a *aged) host(ip string) *agedHost {
	h := a.hosts[ip]
	if h == nil && ip != "" && len(a.hosts) < maxAgedHosts {
		h = &agedHost{host: Host{IP: ip}}
		a.hosts[ip] = h
	}
	return h
}

// clone returns a copy that stays as it is.
func (a *aged) clone() aged {
	c := aged{rows: slices.Clone(a.rows), evicted: a.evicted, crowded: a.crowded, hosts: make(map[string]*agedHost, len(a.hosts))}
	c.totals.join(&a.totals)
	c.broken = maps.Clone(a.broken)
	for i := range c.rows {
		c.rows[i].Flows = slices.Clone(c.rows[i].Flows) // building fills in more
	}
	for k, h := range a.hosts {
		n := &agedHost{host: h.host}
		n.host.MACs = slices.Clone(h.host.MACs)
		n.sums.join(&h.sums)
		c.hosts[k] = n
	}
	return c
}

// buildAged fills in what the connections counted that are listed no more.
func buildAged(s *Snapshot, r *merged) {
	var all AgedOut
	for i := range r.partitions {
		all.join(&r.partitions[i].aged.totals)
	}
	if all.Connections > 0 {
		s.AgedOut = &all
		s.ConnectionsTotal += all.Connections
	}
}
