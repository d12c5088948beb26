package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"time"

	"rdmascope/analysis"
)

// maxTold bounds how many findings are remembered as told. Beyond it the
// oldest are forgotten: they are told again, should they still be there.
const maxTold = 10_000

// findingsLog tells of each finding once, and again when it got worse: on
// standard error as a line, or with --listen as JSON for a log collector; and
// with -o ndjson on standard output.
type findingsLog struct {
	say    func(string)
	logger *slog.Logger // nil: lines of text
	out    io.Writer    // ndjson; nil: none
	told   map[string]int
	order  []string // of told, oldest first
}

func newFindingsLog(r *liveRun) *findingsLog {
	l := &findingsLog{say: r.notice, told: map[string]int{}}
	if r.flags.listen != "" && !r.flags.quiet {
		l.logger = slog.New(slog.NewJSONHandler(&lockedWriter{r, r.app.stderr}, nil))
	}
	if r.flags.output == "ndjson" {
		l.out = &lockedWriter{r, r.app.stdout}
	}
	return l
}

// lockedWriter writes whole lines beside those of say.
type lockedWriter struct {
	run *liveRun
	to  io.Writer
}

func (w *lockedWriter) Write(b []byte) (int, error) {
	w.run.said.Lock()
	defer w.run.said.Unlock()
	w.run.clearStatus()
	return w.to.Write(b)
}

// look tells what is new in a snapshot, and returns it.
func (l *findingsLog) look(snap *analysis.Snapshot) (fresh []analysis.Finding) {
	for i := range snap.Findings {
		f := &snap.Findings[i]
		key := findingKey(f)
		rank, known := l.told[key]
		if known && rank >= f.Severity.Rank() {
			continue
		}
		l.told[key] = f.Severity.Rank()
		if !known {
			l.order = append(l.order, key)
			if len(l.order) > maxTold {
				delete(l.told, l.order[0])
				l.order = l.order[1:]
			}
		}
		fresh = append(fresh, *f)
		l.tell(f)
	}
	return fresh
}

// findingKey is what makes two findings of different snapshots the same: their
// rule and what they are about. Their ids go by importance and change.
func findingKey(f *analysis.Finding) string {
	subject, err := json.Marshal(f.Subject)
	if err != nil {
		return f.Rule
	}
	return f.Rule + " " + string(subject)
}

// foundAt is the time of a finding's first packet, for a line of text.
func foundAt(f *analysis.Finding) string {
	if !f.FirstTime.Known() {
		return ""
	}
	return f.FirstTime.UTC().Format("15:04:05.000 ")
}

func (l *findingsLog) tell(f *analysis.Finding) {
	if l.logger != nil {
		l.logger.Info("finding", "rule", f.Rule, "severity", f.Severity, "confidence", f.Confidence, "title", f.Title,
			"meaning", f.Meaning, "first_time", f.FirstTime, "last_time", f.LastTime, "subject", f.Subject, "metrics", f.Metrics)
	} else {
		l.say(fmt.Sprintf("%s%s %s: %s", foundAt(f), strings.ToUpper(string(f.Severity)), f.Rule, cmp.Or(string(f.Meaning), f.Title)))
	}
	if l.out != nil {
		line, err := json.Marshal(struct {
			Time    analysis.Time     `json:"time"`
			Finding *analysis.Finding `json:"finding"`
		}{analysis.Time(time.Now().UnixNano()), f})
		if err == nil {
			_, _ = l.out.Write(append(line, '\n')) // a closed pipe shows at the report
		}
	}
}
