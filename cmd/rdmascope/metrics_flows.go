package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"rdmascope/analysis"
)

// eachFlowCounter passes the sums of an interface's flows on as counters.
func eachFlowCounter(t *analysis.FlowTotals, counter func(d *prometheus.Desc, v int64, labels ...string)) {
	add := func(d *prometheus.Desc, v int64, kind ...string) {
		counter(d, v, append([]string{t.Interface}, kind...)...)
	}
	add(descResent, value(t.Retransmitted), "request")
	add(descResent, value(t.RepeatResponses), "response")
	add(descResent, value(t.Segments), "tcp")
	add(descMessages, value(t.Messages))
	add(descPayload, t.PayloadBytes)
	add(descLost, value(t.LostUpstream), "upstream")
	add(descLost, value(t.LostDownstream), "downstream")
	add(descUnseen, value(t.Unseen))
	add(descCopies, value(t.Duplicates))
	add(descICRC, t.ICRCBad)
	add(descCE, t.ECNCE)
	add(descCNP, value(t.CNP))
	naks, episodes := analysis.Naks{}, analysis.Episodes{}
	if t.Naks != nil {
		naks = *t.Naks
	}
	if t.Episodes != nil {
		episodes = *t.Episodes
	}
	add(descNaks, value(t.RNRNaks), "rnr")
	add(descNaks, naks.PSNSequenceError, "psn_sequence_error")
	add(descNaks, naks.InvalidRequest, "invalid_request")
	add(descNaks, naks.RemoteAccessError, "remote_access_error")
	add(descNaks, naks.RemoteOperationalError, "remote_operational_error")
	add(descNaks, naks.InvalidRDRequest, "invalid_rd_request")
	add(descEpisodes, episodes.Nak, "nak")
	add(descEpisodes, episodes.RNR, "rnr")
	add(descEpisodes, episodes.Timeout, "timeout")
	add(descEpisodes, episodes.ImpliedNak, "implied_nak")
	add(descEpisodes, episodes.Adaptive, "adaptive")
	add(descEpisodes, episodes.Spurious, "spurious")
}

// latencyHistogram is the samples of one operation. A histogram's counts may
// fall, when connections are paired anew, as those of counters may: none of
// them goes down for that.
type latencyHistogram struct {
	count   uint64
	sum     float64
	buckets map[float64]uint64
}

// keepUp takes newer counts over, where they are greater.
func (l *latencyHistogram) keepUp(h *analysis.Histogram) {
	if l.buckets == nil {
		l.buckets = make(map[float64]uint64, len(h.Octaves))
	}
	below := int64(0)
	for i, n := range h.Octaves {
		below += n
		if bound, ok := h.Bound(i); ok {
			le := float64(bound) / 1e9
			l.buckets[le] = max(l.buckets[le], uint64(below))
		}
	}
	l.count = max(l.count, uint64(h.Count))
	l.sum = max(l.sum, float64(h.SumNS)/1e9)
}

// metric is a copy: a scrape may read it while the next snapshot comes.
func (l *latencyHistogram) metric(op string) prometheus.Metric {
	buckets := make(map[float64]uint64, len(l.buckets))
	for le, n := range l.buckets {
		buckets[le] = n
	}
	return prometheus.MustNewConstHistogram(descLatency, l.count, l.sum, buckets, op)
}
