package main

import (
	"cmp"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"rdmascope/analysis"
	"rdmascope/pcaps/live"
)

// liveMetrics turns snapshots into Prometheus metrics. Labels have few values:
// interfaces, priorities, rules, kinds; never an address or a queue pair. The
// figures are added up once a snapshot, so that scrapes cost next to nothing.
type liveMetrics struct {
	stats func() []live.Stats

	mu   sync.Mutex
	most map[string]float64 // greatest value of each counter so far
	took map[string]*latencyHistogram
	now  []prometheus.Metric
}

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc("rdmascope_"+name, help, labels, nil)
}

var (
	descReceived  = desc("capture_received_packets_total", "Packets that passed the kernel's filter, dropped ones included.", "iface")
	descDropped   = desc("capture_dropped_packets_total", "Packets lost before they could be analysed.", "iface", "where")
	descUp        = desc("capture_interface_up", "1 while the interface is up.", "iface")
	descPackets   = desc("packets_total", "Packets analysed.", "protocol")
	descBytes     = desc("wire_bytes_total", "Octets on the wire of the packets analysed, without FCS, preamble and gap.", "protocol")
	descPaused    = desc("pfc_paused_seconds_total", "Time paused, by capture interface; 802.3x pause is priority all.", "iface", "priority")
	descPauses    = desc("pfc_frames_total", "Pause frames that pause (xoff) or resume (xon) a priority.", "iface", "priority", "kind")
	descStorms    = desc("pfc_storms_total", "Pauses out of proportion.", "iface", "priority", "kind")
	descResent    = desc("retransmitted_packets_total", "Packets sent again: requests and responses of RoCE, segments of TCP.", "iface", "kind")
	descNaks      = desc("naks_total", "Negative acknowledgements.", "iface", "kind")
	descEpisodes  = desc("recoveries_total", "Steps back of senders, by what triggered them.", "iface", "kind")
	descMessages  = desc("messages_total", "Messages asked for.", "iface")
	descPayload   = desc("payload_bytes_total", "Octets of upper layers, without headers, padding and checks.", "iface")
	descCopies    = desc("duplicate_packets_total", "Copies of packets: captured twice, or made by the network.", "iface")
	descLost      = desc("lost_packets_total", "Sendings proved lost, before (upstream) or after (downstream) the capture: lower bounds.", "iface", "where")
	descUnseen    = desc("unseen_packets_total", "Packets proved delivered that the capture doesn't show.", "iface")
	descICRC      = desc("icrc_bad_packets_total", "Packets whose invariant CRC is wrong.", "iface")
	descCE        = desc("ecn_ce_packets_total", "Packets marked congestion experienced.", "iface")
	descCNP       = desc("cnp_packets_total", "Congestion notification packets.", "iface")
	descLatency   = desc("operation_latency_seconds", "Latency of operations from tap to responder and back to the tap.", "op")
	descOpen      = desc("connections", "Connections listed: those kept, and those let go that were in trouble.", "transport")
	descSeen      = desc("connections_seen_total", "Connections seen.")
	descLetGo     = desc("connections_let_go_total", "Connections kept no more, their totals apart: idle, or for want of room.", "reason")
	descFindings  = desc("findings", "Findings of the newest snapshot.", "rule", "severity")
	descGrade     = desc("capture_grade", "1 for the worth of the capture as evidence: good, limited or poor.", "grade")
	descEvictions = desc("evictions_total", "Entries thrown out of a bounded table.", "table")
	descTime      = desc("capture_time_seconds", "Timestamp of the newest packet analysed, since the epoch.")
)

// Describe sends nothing: which metrics there are depends on the snapshot.
func (m *liveMetrics) Describe(chan<- *prometheus.Desc) {}

// Collect sends the newest figures, and the kernel's counts as they are now.
func (m *liveMetrics) Collect(out chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, metric := range m.now {
		out <- metric
	}
	for _, st := range m.stats() {
		out <- m.counter(descReceived, float64(st.Received), st.Name)
		out <- m.counter(descDropped, float64(st.KernelDropped), st.Name, "kernel")
		if st.NICDropped >= 0 {
			out <- m.counter(descDropped, float64(st.NICDropped), st.Name, "nic")
		}
		up := 0.0
		if st.Up && !st.Gone {
			up = 1
		}
		out <- gauge(descUp, up, st.Name)
	}
}

func gauge(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	return prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v, labels...)
}

// counter makes a counter that never falls. A figure may: a packet that was
// taken for a retransmission turns out to be a copy. Prometheus would take
// the fall for a restart, and add the whole value anew.
func (m *liveMetrics) counter(d *prometheus.Desc, v float64, labels ...string) prometheus.Metric {
	key := d.String()
	for _, l := range labels {
		key += "\xff" + l
	}
	v = max(v, m.most[key])
	m.most[key] = v
	return prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
}

// update takes the figures of a snapshot.
func (m *liveMetrics) update(s *analysis.Snapshot) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.most == nil {
		m.most = map[string]float64{}
	}
	m.now = m.now[:0]
	add := func(d *prometheus.Desc, v int64, labels ...string) {
		m.now = append(m.now, m.counter(d, float64(v), labels...))
	}
	p := &s.Protocols
	for _, t := range []struct {
		name string
		analysis.Traffic
	}{{"rocev2", p.RoCEv2}, {"rocev1", p.RoCEv1}, {"infiniband", p.InfiniBand}, {"iwarp", p.IWARP}, {"pfc", p.PFC}, {"pause", p.Pause}, {"cm", p.CM}, {"other", p.Other}} {
		add(descPackets, t.Packets, t.name)
		add(descBytes, t.WireBytes, t.name)
	}
	m.pauses(s)
	flows, all := s.FlowTotals(), analysis.FlowTotals{}
	for _, st := range m.stats() { // a counter that begins at its first count has no rate
		if !slices.ContainsFunc(flows, func(t *analysis.FlowTotals) bool { return t.Interface == st.Name }) {
			flows = append(flows, &analysis.FlowTotals{Interface: st.Name})
		}
	}
	for _, t := range flows {
		eachFlowCounter(t, add)
		all.Join(t)
	}
	all.EachLatency(m.latency)
	add(descSeen, s.ConnectionsTotal)
	aged := cmp.Or(s.AgedOut, &analysis.AgedOut{})
	add(descLetGo, aged.Connections-aged.Evicted, "idle")
	add(descLetGo, aged.Evicted, "room")
	for table, n := range s.Capture.Evictions {
		add(descEvictions, n, table)
	}
	m.gauges(s)
}

// pauses adds up pauses by interface and priority.
func (m *liveMetrics) pauses(s *analysis.Snapshot) {
	type key struct{ iface, priority string }
	type sums struct{ paused, xoff, xon int64 }
	all := map[key]*sums{}
	for i := range s.PFC.Sources {
		src := &s.PFC.Sources[i]
		k := key{src.Interface, src.Priority.String()}
		if all[k] == nil {
			all[k] = &sums{}
		}
		all[k].paused += value(src.PausedNS)
		all[k].xoff += src.XOFFFrames
		all[k].xon += src.XONFrames
	}
	for k, v := range all {
		m.now = append(m.now,
			m.counter(descPaused, float64(v.paused)/1e9, k.iface, k.priority),
			m.counter(descPauses, float64(v.xoff), k.iface, k.priority, "xoff"),
			m.counter(descPauses, float64(v.xon), k.iface, k.priority, "xon"))
	}
	storms := map[[3]string]int64{}
	for i := range s.PFC.Storms {
		st := &s.PFC.Storms[i]
		storms[[3]string{st.Interface, st.Priority.String(), st.Kind}]++
	}
	for k, n := range storms {
		m.now = append(m.now, m.counter(descStorms, float64(n), k[:]...))
	}
}

// latency is the histogram of one operation; operations that were never seen
// have none.
func (m *liveMetrics) latency(op string, h *analysis.Histogram) {
	if h.Count == 0 && m.took[op] == nil {
		return
	}
	if m.took == nil {
		m.took = map[string]*latencyHistogram{}
	}
	if m.took[op] == nil {
		m.took[op] = &latencyHistogram{}
	}
	m.took[op].keepUp(h)
	m.now = append(m.now, m.took[op].metric(op))
}

// gauges are what goes up and down.
func (m *liveMetrics) gauges(s *analysis.Snapshot) {
	add := func(d *prometheus.Desc, v float64, labels ...string) { m.now = append(m.now, gauge(d, v, labels...)) }
	found := map[[2]string]int{}
	for _, r := range analysis.Rules() { // a finding that is no more goes to 0
		found[[2]string{r.Name, string(r.Severity)}] = 0
	}
	for i := range s.Findings {
		found[[2]string{s.Findings[i].Rule, string(s.Findings[i].Severity)}]++
	}
	for k, n := range found {
		add(descFindings, float64(n), k[:]...)
	}
	transports := map[string]int{"rocev2": 0}
	for i := range s.Connections {
		transports[s.Connections[i].Transport]++
	}
	for t, n := range transports {
		add(descOpen, float64(n), t)
	}
	for _, g := range []string{analysis.GradeGood, analysis.GradeLimited, analysis.GradePoor} {
		v := 0.0
		if s.Capture.Grade == g {
			v = 1
		}
		add(descGrade, v, g)
	}
	if s.Capture.EndTime != 0 {
		add(descTime, float64(s.Capture.EndTime)/1e9)
	}
}

func value(p *int64) int64 {
	if p == nil {
		return 0
	}
	return *p
}
