package filter

import (
	"rdmascope/analysis"
)

// FlowFilter is a compiled filter over flows. It isn't safe for concurrent use:
// Clone it for another goroutine.
type FlowFilter struct {
	expr string
	root node[*flowEnv] // nil: everything
	env  flowEnv
	m    machine[*flowEnv]
}

// flowEnv is the flow that a filter looks at.
type flowEnv struct {
	c        *analysis.Connection
	f        *analysis.Flow
	evidence map[string][]evidence // by connection
}

// CompileFlow compiles a filter over flows; an empty one matches all of them.
// The error is an *Error.
func CompileFlow(expr string) (*FlowFilter, error) {
	root, _, err := compile(expr, flowFields())
	if err != nil {
		return nil, err
	}
	f := &FlowFilter{expr: expr, root: root}
	f.m.env = &f.env
	return f, nil
}

// Clone returns the same filter for another goroutine.
func (f *FlowFilter) Clone() *FlowFilter {
	c := &FlowFilter{expr: f.expr, root: f.root}
	c.env.evidence = f.env.evidence
	c.m.env = &c.env
	return c
}

// String returns the filter as it was written.
func (f *FlowFilter) String() string { return f.expr }

// Match tells whether a flow of a connection passes. A figure that is null is
// absent: no comparison holds for it.
func (f *FlowFilter) Match(c *analysis.Connection, flow *analysis.Flow) bool {
	if f.root == nil {
		return true
	}
	f.env.c, f.env.f = c, flow
	return f.root.eval(&f.m)
}

// SetFindings gives the filter the findings that finding.rule and
// finding.severity speak of. Without it they are absent.
func (f *FlowFilter) SetFindings(list []analysis.Finding) {
	m := make(map[string][]evidence)
	for i := range list {
		if id := list[i].Subject.ConnectionID; id != "" {
			m[id] = append(m[id], evidence{list[i].Rule, string(list[i].Severity)})
		}
	}
	f.env.evidence = m
}
