package report

import (
	"fmt"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// check is one line of what was looked at: a healthy report must say what
// "healthy" covers, and what could not be judged.
type check struct {
	style style // good, notice, warning, or faint for "not judged"
	name  string
	text  string
}

func (c check) glyph() string {
	switch c.style {
	case good:
		return "✔"
	case faint:
		return unknown
	case notice:
		return "●"
	}
	return "▲"
}

func writeChecks(p *printer, s *analysis.Snapshot) {
	p.section("CHECKED", "at the point of capture; – was not judged, for the reason given")
	for _, c := range checks(s) {
		c.write(p)
	}
}

const checkName = 15 // columns of the longest name, and the gap after it

func (c check) write(p *printer) {
	lead := []span{{text: " "}, {c.style, c.glyph()}, {text: " " + pad(c.name, checkName, false)}}
	hang := checkName + 3
	for i, l := range wrap(clean(c.text), p.width-hang) {
		if i > 0 {
			lead = []span{{text: spaces(hang)}}
		}
		p.line(append(lead, span{text: l})...)
	}
}

func checks(s *analysis.Snapshot) []check {
	t := totalsOf(s)
	if t.flowing == 0 {
		return []check{noDataCheck(s), cmCheck(s), pauseCheck(s)}
	}
	var list []check
	if t.roce > 0 && t.withoutAcks == t.roce {
		list = append(list, check{faint, "NAKs", "not one acknowledgement in the capture, though messages were sent: a filter left them out, and NAKs with them"})
	} else if t.roce > 0 {
		list = append(list,
			t.counted("NAKs", t.naks, "naks", "", "see NAKs BY CODE"),
			t.counted("RNR NAKs", t.rnr, "rnr_naks", "", "the responder had no receive posted"))
	}
	list = append(list, t.counted("resent", t.resent, "retransmitted_packets", "packet", "sent again by the requester"))
	if t.gaps.known > 0 { // UC: nothing is resent, gaps are all that shows
		list = append(list, t.counted("PSN gaps", t.gaps, "psn_gaps", "gap", "lost on the way, reordered, or missing in the capture"))
	}
	list = append(list, t.counted("losses proved", t.lost, "lost_upstream_packets", "packet", "at least; before or after the tap"))
	if t.roce > 0 {
		list = append(list, icrcCheck(s, t))
	}
	return append(list, cmCheck(s), congestionCheck(t), pauseCheck(s))
}

// noDataCheck is for a capture with connection management and nothing else:
// either nothing came about, or the sniffer misses the offloaded path.
func noDataCheck(s *analysis.Snapshot) check {
	if n := dataPackets(s); n > 0 {
		return check{warning, "data", plural(n, "packet") + " that could not be given to a queue pair: not judged"}
	}
	for i := range s.Connections {
		c := &s.Connections[i]
		if c.CM != nil && c.CM.Replies > 0 && !rejected(c) {
			return check{warning, "data", "none, though connections were made: " + unseenDataReason}
		}
	}
	return check{faint, "data", "none: no connection came about"}
}

const unseenDataReason = "the sniffer probably does not see the offloaded path. Capture with the NIC's own sniffer or at a mirror port."

// tally is a figure over all connections. A connection counts as known when
// one of its flows has the figure: most stand at one flow only.
type tally struct {
	sum            int64
	known, unknown int64 // connections
}

func (t *tally) add(v *int64) {
	if v == nil {
		t.unknown++
		return
	}
	t.known++
	t.sum += *v
}

// totals are the figures that CHECKED and the tables judge by.
type totals struct {
	naks, rnr, resent, gaps, lost, cnp tally
	ce, icrcChecked, icrcBad           int64
	flowing, roce                      int64 // connections with packets; those that are not iWARP
	withoutAcks                        int64 // of those: whose acknowledgements were left out
	reasons                            map[string][]string
}

func totalsOf(s *analysis.Snapshot) totals {
	t := totals{reasons: map[string][]string{}}
	for i := range s.Connections {
		c := &s.Connections[i]
		if len(c.Flows) == 0 {
			continue // attempted, nothing sent: there is nothing to judge
		}
		t.flowing++
		t.resent.add(sum(c, func(f *analysis.Flow) *int64 { return f.Retransmitted }))
		t.lost.add(lostOf(c))
		if c.Transport != "iwarp" {
			t.roce++
			if c.WithoutAcks() {
				t.withoutAcks++
			}
			t.naks.add(sum(c, naksOf))
			t.rnr.add(sum(c, func(f *analysis.Flow) *int64 { return f.RNRNaks }))
			t.gaps.add(sum(c, func(f *analysis.Flow) *int64 { return f.PSNGaps }))
			t.cnp.add(sum(c, func(f *analysis.Flow) *int64 { return f.CNP }))
		}
		for j := range c.Flows {
			f := &c.Flows[j]
			t.ce += f.ECNCE
			t.icrcChecked += f.ICRCChecked
			t.icrcBad += f.ICRCBad
			for name, why := range f.Reasons {
				t.reasons[name] = addReason(t.reasons[name], why)
			}
		}
	}
	return t
}

func naksOf(f *analysis.Flow) *int64 {
	if f.Naks == nil {
		return nil
	}
	return analysis.Int(f.Naks.Total())
}

// lostOf adds the losses before and after the tap.
func lostOf(c *analysis.Connection) *int64 {
	up := sum(c, func(f *analysis.Flow) *int64 { return f.LostUpstream })
	down := sum(c, func(f *analysis.Flow) *int64 { return f.LostDownstream })
	if up == nil && down == nil {
		return nil
	}
	return analysis.Int(value(up) + value(down))
}

// addReason keeps a short sorted set: one reason is read, fifty are not.
func addReason(have []string, why string) []string {
	if slices.Contains(have, why) {
		return have
	}
	have = append(have, why)
	slices.Sort(have)
	return have[:min(len(have), 3)]
}

// why explains a null figure.
func (t totals) why(field string) string {
	if r := t.reasons[field]; len(r) > 0 {
		return strings.Join(r, "; ")
	}
	if t.flowing == 0 {
		return "no RDMA data in this capture"
	}
	return "not measured by this version"
}

// counted judges a figure that should be 0; it says so where not every
// connection could be judged.
func (t totals) counted(name string, v tally, field, noun, hint string) check {
	if v.known == 0 {
		return check{faint, name, t.why(field)}
	}
	partly := ""
	if v.unknown > 0 {
		partly = fmt.Sprintf(" (judged in %s of %s; elsewhere: %s)",
			count(v.known), plural(v.known+v.unknown, "connection"), t.why(field))
	}
	if v.sum == 0 {
		return check{good, name, "none" + partly}
	}
	text := count(v.sum)
	if noun != "" {
		text = plural(v.sum, noun)
	}
	return check{warning, name, text + ": " + hint + partly}
}

func congestionCheck(t totals) check {
	const name = "congestion"
	if t.ce == 0 && t.cnp.sum == 0 {
		if t.cnp.known == 0 {
			return check{good, name, "no packet marked CE"}
		}
		return check{good, name, "no packet marked CE, no CNP"}
	}
	cnp := "CNPs not counted"
	if t.cnp.known > 0 {
		cnp = plural(t.cnp.sum, "CNP")
	}
	text := fmt.Sprintf("%s marked CE, %s", plural(t.ce, "packet"), cnp)
	if t.ce > 0 && t.cnp.known > 0 && t.cnp.sum == 0 {
		return check{warning, name, text + ": is DCQCN (notification point) on at the receivers?"}
	}
	return check{notice, name, text}
}

func icrcCheck(s *analysis.Snapshot, t totals) check {
	switch {
	case t.icrcBad > 0:
		return check{warning, "iCRC", fmt.Sprintf("wrong in %s of %s checked: bits turned on the way, or a device rewrote a protected field",
			plural(t.icrcBad, "packet"), count(t.icrcChecked))}
	case t.icrcChecked > 0:
		return check{good, "iCRC", fmt.Sprintf("right in all %s checked", plural(t.icrcChecked, "packet"))}
	case s.Capture.SnaplenCutPackets > 0:
		return check{faint, "iCRC", "not checked: the snap length cut it off"}
	}
	return check{faint, "iCRC", "no packet carried one that could be checked"}
}

func cmCheck(s *analysis.Snapshot) check {
	attempts, rejects := cmCounts(s)
	switch {
	case attempts == 0 && s.Protocols.CM.Packets > 0:
		return check{faint, "connecting", plural(s.Protocols.CM.Packets, "CM packet") + ", none of them told of an attempt"}
	case attempts == 0:
		return check{faint, "connecting", "no connection was made through CM in this capture"}
	case rejects > 0:
		return check{warning, "connecting", fmt.Sprintf("%s of %s rejected: see CONNECTION MANAGEMENT", count(rejects), plural(attempts, "attempt"))}
	}
	return check{good, "connecting", plural(attempts, "attempt") + ", none rejected"}
}

// stormsByKind tells how many pauses were out of proportion, each kind by its
// name: only an unbroken one is a storm.
func stormsByKind(p *analysis.PFC) string {
	n := map[string]int64{}
	for i := range p.Storms {
		n[p.Storms[i].Kind]++
	}
	var parts []string
	if n["storm"] > 0 {
		parts = append(parts, plural(n["storm"], "storm"))
	}
	if n["choppy"] > 0 {
		parts = append(parts, "many short stops by "+plural(n["choppy"], "sender"))
	}
	if n["heavy"] > 0 {
		parts = append(parts, "heavy pausing by "+plural(n["heavy"], "sender"))
	}
	return strings.Join(parts, ", ")
}

func pauseCheck(s *analysis.Snapshot) check {
	switch {
	case !s.Capture.PFCVisible:
		return check{faint, "pauses", "not observable: no MAC control frame in this capture"}
	case len(s.PFC.Storms) > 0:
		return check{warning, "pauses", stormsByKind(&s.PFC) + ": see PAUSES"}
	}
	frames := int64(0)
	for i := range s.PFC.Sources {
		frames += s.PFC.Sources[i].XOFFFrames
	}
	if frames == 0 && pauseFrames(s) > 0 {
		return check{faint, "pauses", plural(pauseFrames(s), "frame") + " of which none could be taken as a pause"}
	}
	if frames == 0 {
		return check{good, "pauses", "MAC control frames seen, none of them pauses"}
	}
	return check{notice, "pauses", plural(frames, "pause") + ": see PAUSES for how long"}
}
