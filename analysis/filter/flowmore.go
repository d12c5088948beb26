package filter

import (
	"math"
	"slices"
	"strings"
)

// more adds names made of several figures.
func (b *flowBuilder) more() {
	b.join("flow.ip", "source or destination address", "flow.src_ip", "flow.dst_ip")
	b.join("flow.qp", "QPN of the destination, or of either end", "flow.dest_qp", "flow.a.qpn", "flow.b.qpn")
	b.join("flow.port", "TCP port of either end (iWARP)", "flow.src_port", "flow.dst_port", "flow.a.port", "flow.b.port")
	for _, figure := range []string{"count", "min_ns", "p50_ns", "p90_ns", "p99_ns", "p999_ns", "max_ns", "mean_ns"} {
		_, doc, _ := strings.Cut(b.m["flow.latency.message."+figure].Doc, ": ")
		b.join("flow.latency_"+figure, "latency of messages, of READs to their last response, of atomics: "+doc,
			"flow.latency.message."+figure, "flow.latency.read_last."+figure, "flow.latency.atomic."+figure)
	}
	b.number("flow.naks", "NAKs that answer this flow, of all codes", TypeInt, func(e *flowEnv) (num, bool) {
		if e.f.Naks == nil {
			return num{}, false
		}
		return intNum(e.f.Naks.Total()), true
	})
	b.number("flow.retransmitted_ratio", "retransmitted packets per packet", TypeFloat, func(e *flowEnv) (num, bool) {
		if e.f.Retransmitted == nil || e.f.Packets == 0 {
			return num{}, false
		}
		return floatNum(float64(*e.f.Retransmitted) / float64(e.f.Packets)), true
	})
	found := func(name, doc string, v func(evidence) string) {
		b.text(name, doc, func(e *flowEnv, buf []string) []string {
			for _, x := range e.evidence[e.c.ID] {
				buf = append(buf, v(x))
			}
			return buf
		})
	}
	found("finding.rule", "Rule of a finding about this connection", func(x evidence) string { return x.rule })
	found("finding.severity", "Severity of such a finding: notice, warning or critical", func(x evidence) string { return x.severity })
}

// join adds a name that stands for several.
func (b *flowBuilder) join(name, doc string, of ...string) {
	f := &flowField{Field: Field{Name: name, Type: b.m[of[0]].Type, Doc: doc}}
	for _, part := range of {
		f.get = append(f.get, b.m[part].get...)
	}
	b.add(f)
}

// packetNames adds names of packets' fields that say something of a flow, so
// that one filter serves both.
func (b *flowBuilder) packetNames() {
	family := func(v4 bool, get func(*flowEnv) (num, bool)) func(*flowEnv) (num, bool) {
		return func(e *flowEnv) (num, bool) {
			v, ok := get(e)
			is4 := v.hi == 0 && v.lo>>32 == 0xffff
			if v4 {
				v.lo &= math.MaxUint32
			}
			return v, ok && is4 == v4
		}
	}
	src, dst := b.m["flow.src_ip"].get[0], b.m["flow.dst_ip"].get[0]
	for _, side := range []struct {
		name string
		get  func(*flowEnv) (num, bool)
	}{{"src", src}, {"dst", dst}} {
		b.number("ip."+side.name, "IPv4: address of the flow", TypeIPv4, family(true, side.get))
		b.number("ipv6."+side.name, "IPv6: address of the flow", TypeIPv6, family(false, side.get))
	}
	b.join("ip.addr", "IPv4: source or destination", "ip.src", "ip.dst")
	b.join("ipv6.addr", "IPv6: source or destination", "ipv6.src", "ipv6.dst")
	b.number("infiniband.grh.sgid", "GRH: Source GID", TypeIPv6, gidOf(src))
	b.number("infiniband.grh.dgid", "GRH: Destination GID", TypeIPv6, gidOf(dst))
	b.rename("infiniband.bth.destqp", "flow.dest_qp")
	b.rename("tcp.srcport", "flow.src_port")
	b.rename("tcp.dstport", "flow.dst_port")
	b.join("tcp.port", "TCP: source or destination port", "tcp.srcport", "tcp.dstport")
	b.rename("udp.srcport", "flow.udp_src_ports")
	b.rename("vlan.id", "flow.vlan_ids")
	b.rename("vlan.priority", "flow.pcp")
	b.rename("ip.dsfield.dscp", "flow.dscp")
	b.join("eth.addr", "Ethernet: address of either end", "flow.a.mac", "flow.b.mac")
}

// gidOf gives the addresses of RoCEv1 and InfiniBand alone.
func gidOf(get func(*flowEnv) (num, bool)) func(*flowEnv) (num, bool) {
	return func(e *flowEnv) (num, bool) {
		v, ok := get(e)
		return v, ok && (e.c.Transport == "rocev1" || e.c.Transport == "infiniband")
	}
}

func (b *flowBuilder) rename(name, of string) {
	f := *b.m[of]
	f.Name = name
	f.get = slices.Clone(f.get)
	b.add(&f)
}
