package analysis

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Rule is one thing that can be wrong. Each lies in a small file of its own
// and speaks from the merged figures of the snapshot alone, so that a finding
// never depends on the order in which trackers ran.
type Rule struct {
	Name       string   // as in reports and in `rdmascope explain`
	Severity   Severity // the usual one; a rule may raise or lower it
	Title      string
	Meaning    string // what it means, for `explain`
	Advice     string // what to check next
	Thresholds []Threshold
	find       func(*finder)
}

// Threshold is a number that a rule compares with. Every one is a setting.
type Threshold struct {
	Key     string // with its unit, such as paused_ratio
	Default Decimal
	Doc     string
}

// Settings are thresholds that differ from their defaults, by "rule.key".
type Settings map[string]Decimal

// rules is the list of all rules, in the order in which reports rank equals.
var rules = []*Rule{
	&rulePFCDeadlock, &rulePFCStorm, &rulePFCChoppy, &rulePFCHeavy, &rulePFCVictim, &rulePFCViolation, &rulePFCNotEnabled, &rulePFCNoRoCE, &rulePFCMalformed,
	&ruleRCLoss, &ruleRCTimeout, &ruleRCGoBackN, &ruleRCRNR, &ruleRCRetryExhausted, &ruleRCUnanswered, &ruleRCLivelock, &ruleRCReordering,
	&ruleRCInvalidRequest, &ruleRCRemoteAccess, &ruleRCRemoteOperational, &ruleRCICRC, &ruleRCReadDepth, &ruleRCConformance,
	&ruleCaptureLoss, &ruleCaptureDuplicates, &ruleCaptureOneWay, &ruleCaptureCut, &ruleCaptureClock, &ruleCaptureNoRDMA,
	&ruleECNNoCNP, &ruleECNCNPWithoutCE, &ruleECNDeafSender, &ruleECNCNPMalformed, &ruleECNCNPClass,
	&ruleQoSDefaultClass, &ruleQoSMixedDSCP, &ruleQoSDirection, &ruleQoSNotECT, &ruleQoSPCPMismatch, &ruleQoSSharedPriority, &ruleQoSPairDSCP, &ruleQoSRewritten, &ruleECNBleached,
	&ruleIWARPRetransmission, &ruleIWARPTimeout, &ruleIWARPZeroWindow, &ruleIWARPCRC, &ruleIWARPTerminate, &ruleIWARPMPA, &ruleIWARPUnaligned,
	&ruleCMReject, &ruleCMNoReply, &ruleCMRetried,
}

// Rules returns all rules, by name.
func Rules() []*Rule {
	list := slices.Clone(rules)
	slices.SortFunc(list, func(a, b *Rule) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// Check says what is wrong with settings: a name that no rule knows.
func (s Settings) Check() error {
	for name := range s {
		known := false
		for _, r := range rules {
			for _, t := range r.Thresholds {
				known = known || r.Name+"."+t.Key == name
			}
		}
		if !known {
			return fmt.Errorf("no rule has the setting %s (see rdmascope explain)", name)
		}
	}
	return nil
}

// finder is what a rule works with.
type finder struct {
	*Snapshot
	totals   *totals
	rule     *Rule
	settings Settings
	found    []Finding
}

// value is that of a rule's threshold.
func (s Settings) value(r *Rule, key string) Decimal {
	if v, ok := s[r.Name+"."+key]; ok {
		return v
	}
	for _, t := range r.Thresholds {
		if t.Key == key {
			return t.Default
		}
	}
	panic("rule " + r.Name + " has no threshold " + key)
}

// limit is the value of one of the rule's thresholds.
func (f *finder) limit(key string) Decimal { return f.settings.value(f.rule, key) }

// add appends a finding of the rule. What the rule left out is filled in from
// its description.
func (f *finder) add(n Finding) {
	n.Rule = f.rule.Name
	if n.Severity == "" {
		n.Severity = f.rule.Severity
	}
	if n.Title == "" {
		n.Title = f.rule.Title
	}
	if n.Advice == "" {
		n.Advice = Text(f.rule.Advice)
	}
	if n.Confidence == "" {
		n.Confidence = ConfidenceHigh
	}
	if n.Confidence == ConfidenceHigh && f.recorderDropped() {
		n.Confidence = ConfidenceMedium
	}
	n.Packets = n.Packets[:min(len(n.Packets), maxEvidence)]
	if len(n.Packets) > 0 {
		if n.FirstPacket == nil {
			n.FirstPacket = Int(slices.Min(n.Packets))
		}
		if n.LastPacket == nil {
			n.LastPacket = Int(slices.Max(n.Packets))
		}
	}
	f.found = append(f.found, n)
}

// recorderDropped tells whether what a rule misses may have been there: nothing
// that it says of the network is sure then.
func (f *finder) recorderDropped() bool {
	d := f.Capture.KernelDroppedPackets
	return d != nil && *d > 0 && !strings.HasPrefix(f.rule.Name, "capture.")
}

// maxPerRule bounds how many findings one rule makes: hundreds of connections
// through one bad link have one trouble, and a reader wants the worst of them.
const maxPerRule = 8

// worst returns what the rule found, the worst first; what exceeds maxPerRule
// is folded into one finding that counts it.
func (f *finder) worst() []Finding {
	slices.SortStableFunc(f.found, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), cmp.Compare(b.weight, a.weight))
	})
	if len(f.found) <= maxPerRule {
		return f.found
	}
	rest := f.found[maxPerRule:]
	sum := Finding{
		Rule: f.rule.Name, Severity: rest[0].Severity, Confidence: rest[0].Confidence, Title: f.rule.Title,
		Subject: Subject{Kind: "capture"}, Advice: Text(f.rule.Advice),
		Metrics: Map[Decimal]{"further_findings": Decimal(len(rest))},
		Meaning: Text(fmt.Sprintf("the same on %s, each less than those above", plural(int64(len(rest)), "further connection"))),
	}
	for i := range rest {
		if t := rest[i].FirstTime; t.Known() && (!sum.FirstTime.Known() || t < sum.FirstTime) {
			sum.FirstTime = t
		}
		sum.LastTime = max(sum.LastTime, rest[i].LastTime)
		if p := rest[i].FirstPacket; p != nil && len(sum.Packets) < maxEvidence {
			sum.Packets = append(sum.Packets, *p)
		}
	}
	if len(sum.Packets) > 0 {
		sum.FirstPacket, sum.LastPacket = Int(slices.Min(sum.Packets)), Int(slices.Max(sum.Packets))
		sum.Filters.Wireshark = Text(framesFilter(sum.Packets))
	}
	return append(f.found[:maxPerRule:maxPerRule], sum)
}

// maxEvidence bounds the packets that a finding names.
const maxEvidence = 20

// Confidences of a finding.
const (
	ConfidenceHigh   = "high"
	ConfidenceMedium = "medium"
	ConfidenceLow    = "low"
)

// findAll runs every rule over s, some at a time, since they only read; ranks
// what they found, and draws the verdict.
func findAll(s *Snapshot, t *totals, opt *Options) {
	found := make([][]Finding, len(rules))
	parallel(opt.Workers, len(rules), func(i int) {
		f := &finder{Snapshot: s, totals: t, rule: rules[i], settings: opt.Settings}
		rules[i].find(f)
		found[i] = f.worst()
	})
	s.Findings = slices.Concat(found...)
	explained := causes(s.Findings)
	order := make([]int, len(s.Findings))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := &s.Findings[i], &s.Findings[j]
		return cmp.Or(cmp.Compare(b.Severity.Rank(), a.Severity.Rank()), aboutCapture(a)-aboutCapture(b),
			cmp.Compare(min(explained[i], 0), min(explained[j], 0)), cmp.Compare(firstOf(a), firstOf(b)))
	})
	s.Findings = ranked(s.Findings, order, explained)
	s.Verdict = verdict(s)
}

// causes finds, for each finding, the index of the one that explains it, -1
// for none, and makes that at least as severe: a reader must meet the cause
// before the damage.
func causes(list []Finding) []int {
	by := make([]int, len(list))
	for i := range list {
		by[i] = -1
		for _, rule := range list[i].causes {
			for j := range list {
				if by[i] < 0 && i != j && list[j].Rule == rule && sameSubject(&list[i].Subject, &list[j].Subject) {
					by[i] = j
				}
			}
		}
	}
	for range len(list) { // a chain of causes is short; this ends at once
		changed := false
		for i, j := range by {
			if j >= 0 && list[i].Severity.Rank() > list[j].Severity.Rank() {
				list[j].Severity, changed = list[i].Severity, true
			}
		}
		if !changed {
			break
		}
	}
	return by
}

// ranked puts findings into order and numbers them.
func ranked(list []Finding, order, by []int) List[Finding] {
	ids := make([]Text, len(list))
	for rank, i := range order {
		ids[i] = Text(fmt.Sprintf("F%d", rank+1))
	}
	out := make(List[Finding], len(list))
	for rank, i := range order {
		out[rank] = list[i]
		out[rank].ID = string(ids[i])
		if by[i] >= 0 {
			out[rank].CausedBy = ids[by[i]]
		}
	}
	return out
}

// sameSubject tells whether two findings are about the same connection, or the
// same port and priority.
func sameSubject(a, b *Subject) bool {
	if a.EthSrc != "" || b.EthSrc != "" {
		return a.EthSrc == b.EthSrc && a.Interface == b.Interface && a.Priority != nil && b.Priority != nil && *a.Priority == *b.Priority
	}
	return a.ConnectionID != "" && a.ConnectionID == b.ConnectionID
}

// aboutCapture ranks what is wrong with the network before what is wrong with
// the capture of it.
func aboutCapture(f *Finding) int {
	if strings.HasPrefix(f.Rule, "capture.") {
		return 1
	}
	return 0
}

func firstOf(f *Finding) int64 {
	if f.FirstPacket == nil {
		return 1<<63 - 1
	}
	return *f.FirstPacket
}

// verdict is the answer in one line.
func verdict(s *Snapshot) Verdict {
	if len(s.Findings) > 0 {
		worst := &s.Findings[0]
		if worst.Severity == SeverityNotice {
			return Verdict{Severity: SeverityNotice, FindingID: Text(worst.ID),
				Headline: fmt.Sprintf("no trouble found in %s; %s", plural(s.Capture.Packets, "packet"), plural(int64(len(s.Findings)), "notice"))}
		}
		return Verdict{Severity: worst.Severity, FindingID: Text(worst.ID), Headline: worst.Title}
	}
	if s.Capture.Packets == 0 { // nothing is no clean bill of health
		return Verdict{Severity: SeverityNotice, Headline: "the capture holds no packet: nothing was judged"}
	}
	return Verdict{Severity: SeverityOK, Headline: fmt.Sprintf("no findings in %s (%s)",
		plural(s.Capture.Packets, "packet"), plural(s.ConnectionsTotal, "connection"))}
}

// plural gives "1 packet", "1,204 packets".
func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return thousands(n) + " " + what + "s"
}

func thousands(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
