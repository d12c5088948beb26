package filter

import (
	"slices"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

// PacketFilter is a compiled filter over packets. It isn't safe for concurrent
// use: Clone it for another goroutine.
type PacketFilter struct {
	expr string
	root node[*packetEnv] // nil: everything
	env  packetEnv
	m    machine[*packetEnv]
	used []*packetField
}

// CompilePacket compiles a filter over packets; an empty one matches all of
// them. The error is an *Error.
func CompilePacket(expr string) (*PacketFilter, error) {
	root, used, err := compile(expr, packetFields())
	if err != nil {
		return nil, err
	}
	f := &PacketFilter{expr: expr, root: root, used: used}
	f.m.env = &f.env
	return f, nil
}

// Clone returns the same filter for another goroutine.
func (f *PacketFilter) Clone() *PacketFilter {
	c := &PacketFilter{expr: f.expr, root: f.root, used: f.used}
	c.env = packetEnv{start: f.env.start, started: f.env.started, marks: f.env.marks, evidence: f.env.evidence}
	c.m.env = &c.env
	return c
}

// String returns the filter as it was written.
func (f *PacketFilter) String() string { return f.expr }

// Match tells whether p, which must have been decoded, passes. Nothing is
// allocated unless the filter asks for what only a tree holds.
func (f *PacketFilter) Match(p *wire.Packet) bool {
	e := &f.env
	if !e.started && !p.Has(wire.FlagNoTime) {
		f.SetStart(p.Time)
	}
	if f.root == nil {
		return true
	}
	e.p, e.built = p, false
	f.m.deep = p.Encap.N > 0 || p.VLANs > 1
	ok := f.root.eval(&f.m)
	e.p, e.tree = nil, nil
	return ok
}

// SetStart sets what frame.time_relative counts from; else it is the first
// packet that the filter is shown.
func (f *PacketFilter) SetStart(ns int64) { f.env.start, f.env.started = ns, true }

// NeedsMarks tells whether the filter asks for what only an analysis can tell.
// Without SetMarks such fields are absent from all packets.
func (f *PacketFilter) NeedsMarks() bool {
	return f.uses(markNames[:]...)
}

// SetMarks gives the filter what an analysis found.
func (f *PacketFilter) SetMarks(m Marks) { f.env.marks = m }

// NeedsFindings tells whether the filter asks for findings. Without SetFindings
// such fields are absent from all packets.
func (f *PacketFilter) NeedsFindings() bool { return f.uses("finding.rule", "finding.severity") }

// SetFindings gives the filter the findings of an analysis.
func (f *PacketFilter) SetFindings(list []analysis.Finding) { f.env.evidence = byPacket(list) }

func (f *PacketFilter) uses(names ...string) bool {
	return slices.ContainsFunc(f.used, func(u *packetField) bool { return slices.Contains(names, u.Name) })
}
