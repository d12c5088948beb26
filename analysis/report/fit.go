package report

import (
	"fmt"

	"rdmascope/analysis"
)

// writeFit answers, where the capture can, what RoCE and iWARP make of the loss
// that was measured.
func writeFit(p *printer, s *analysis.Snapshot) {
	if len(s.TransportFit) == 0 {
		return
	}
	const shown = 3
	show := s.TransportFit[:min(len(s.TransportFit), shown)]
	p.section("ROCE OR IWARP", listed(len(show), int64(len(s.TransportFit)), "flow")+", by packets lost")
	t := table{Indent: 1, columns: []column{
		{title: "FROM→TO", own: true},
		{title: "LOST", right: true},
		{title: "LOSS", right: true},
		{title: "RTT", right: true},
		{title: "IN FLIGHT", right: true},
		{title: "PAUSED", right: true, drop: 1},
		{title: "GO-BACK-N", right: true},
		{title: "SELECTIVE", right: true},
		{title: "TCP CEILING", right: true},
		{title: "NOW", right: true},
	}}
	for i := range show {
		x := &show[i]
		t.add(text(x.SrcIP+"→"+x.DstIP), text(count(x.Lost)), text(percent(float64(x.Loss))), text(duration(x.RTTNS)),
			text(count(int64(x.InFlight+0.5))), text(percentOr(x.Paused)), text(percent(float64(x.GoBackN))),
			text(percent(float64(x.Selective))), text(rateOr(x.Ceiling)), text(rateOr(x.Rate)))
	}
	t.write(p)
	x := &show[0]
	p.paragraph(1, plain, fitWords(x))
	p.paragraph(1, faint, "Assumed: losses are independent, p is at least what was proved, each costs go-back-N all packets in flight and selective "+
		"repeat one; waiting for timers is not counted. TCP's ceiling is 1.22·MSS/(RTT·√p), Reno's: newer TCP does better. RTT is from the tap.")
}

func rateOr(v *int64) string {
	if v == nil {
		return unknown
	}
	return bitRate(*v)
}

// fitWords says what the figures of the first flow mean, and what would turn
// them round.
func fitWords(x *analysis.TransportFit) string {
	waste := 1 - float64(x.GoBackN)
	s := fmt.Sprintf("%s→%s: ", x.SrcIP, x.DstIP)
	if x.Loss < x.GoBackNLimit {
		s += fmt.Sprintf("this loss costs RoCE with go-back-N %s of its packets; it would be a tenth from a loss of %s on.", percent(waste), percent(float64(x.GoBackNLimit)))
	} else {
		s += fmt.Sprintf("this loss costs RoCE with go-back-N %s of its packets: lossless priorities, selective repeat or iWARP; less than a tenth only below a loss of %s.",
			percent(waste), percent(float64(x.GoBackNLimit)))
	}
	if x.Ceiling != nil && x.CeilingLimit != nil {
		if *x.Ceiling >= *x.Rate {
			s += fmt.Sprintf(" iWARP's TCP would carry the present %s", bitRate(*x.Rate))
			if *x.CeilingLimit < 1 {
				s += fmt.Sprintf(" up to a loss of %s", percent(float64(*x.CeilingLimit)))
			}
			s += "."
		} else {
			s += fmt.Sprintf(" iWARP's TCP would not carry the present %s: that takes a loss below %s.", bitRate(*x.Rate), percent(float64(*x.CeilingLimit)))
		}
	}
	if x.Paused == nil {
		s += " Pauses are not visible in this capture, so what being lossless costs can't be told."
	}
	return s
}
