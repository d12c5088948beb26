package main

import (
	"github.com/prometheus/client_golang/prometheus"

	"rdmascope/analysis"
)

// latencySum is samples added up.
type latencySum struct {
	count   int64
	seconds float64
}

// flowSums are the figures of all flows together.
type flowSums struct {
	latency                      map[string]latencySum
	resent, repeated, segments   int64
	upstream, downstream, unseen int64
	icrcBad, ce, cnp, rnr        int64
	naks                         analysis.Naks
	nak, rnrWait, timeout        int64
	implied, adaptive, spurious  int64
}

func sumFlows(s *analysis.Snapshot) *flowSums {
	f := &flowSums{latency: map[string]latencySum{}}
	for i := range s.Connections {
		for k := range s.Connections[i].Flows {
			f.add(&s.Connections[i].Flows[k])
		}
	}
	return f
}

func (f *flowSums) add(fl *analysis.Flow) {
	for _, l := range []struct {
		op string
		*analysis.Latency
	}{{"ack", fl.Latency.Ack}, {"message", fl.Latency.Message}, {"read_first", fl.Latency.ReadFirst}, {"read_last", fl.Latency.ReadLast}, {"atomic", fl.Latency.Atomic}} {
		if l.Latency != nil {
			was := f.latency[l.op]
			f.latency[l.op] = latencySum{was.count + l.Count, was.seconds + float64(l.Count)*float64(l.MeanNS)/1e9}
		}
	}
	f.resent += value(fl.Retransmitted)
	f.repeated += value(fl.RepeatResponses)
	f.upstream += value(fl.LostUpstream)
	f.downstream += value(fl.LostDownstream)
	f.unseen += value(fl.Unseen)
	f.icrcBad += fl.ICRCBad
	f.ce += fl.ECNCE
	f.cnp += value(fl.CNP)
	f.rnr += value(fl.RNRNaks)
	if n := fl.Naks; n != nil {
		f.naks.PSNSequenceError += n.PSNSequenceError
		f.naks.InvalidRequest += n.InvalidRequest
		f.naks.RemoteAccessError += n.RemoteAccessError
		f.naks.RemoteOperationalError += n.RemoteOperationalError
		f.naks.InvalidRDRequest += n.InvalidRDRequest
	}
	if e := fl.Episodes; e != nil {
		f.nak += e.Nak
		f.rnrWait += e.RNR
		f.timeout += e.Timeout
		f.implied += e.ImpliedNak
		f.adaptive += e.Adaptive
		f.spurious += e.Spurious
	}
	if t := fl.TCP; t != nil {
		f.segments += value(t.Retransmitted)
	}
}

// each passes the sums on as counters.
func (f *flowSums) each(add func(d *prometheus.Desc, v int64, labels ...string)) {
	add(descResent, f.resent, "request")
	add(descResent, f.repeated, "response")
	add(descResent, f.segments, "tcp")
	add(descLost, f.upstream, "upstream")
	add(descLost, f.downstream, "downstream")
	add(descUnseen, f.unseen)
	add(descICRC, f.icrcBad)
	add(descCE, f.ce)
	add(descCNP, f.cnp)
	add(descNaks, f.rnr, "rnr")
	add(descNaks, f.naks.PSNSequenceError, "psn_sequence_error")
	add(descNaks, f.naks.InvalidRequest, "invalid_request")
	add(descNaks, f.naks.RemoteAccessError, "remote_access_error")
	add(descNaks, f.naks.RemoteOperationalError, "remote_operational_error")
	add(descNaks, f.naks.InvalidRDRequest, "invalid_rd_request")
	add(descEpisodes, f.nak, "nak")
	add(descEpisodes, f.rnrWait, "rnr")
	add(descEpisodes, f.timeout, "timeout")
	add(descEpisodes, f.implied, "implied_nak")
	add(descEpisodes, f.adaptive, "adaptive")
	add(descEpisodes, f.spurious, "spurious")
}
