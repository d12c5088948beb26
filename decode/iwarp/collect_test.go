package iwarp_test

import (
	"fmt"

	"rdmascope/decode/iwarp"
)

// found is one FPDU as a test compares it.
type found struct {
	start, end uint64
	op         iwarp.Opcode
	last       bool
	crc        iwarp.CRCState
	state      iwarp.FPDUState
	at, endAt  int64
	body       string
	recovered  bool
	aligned    bool
}

// collector is a Handler that writes everything down.
type collector struct {
	fpdus      []found
	ops        map[string]int
	crcs       map[iwarp.CRCState]int
	last       int
	straddling int
	unaligned  int
	partial    int
	max        int
	terminates []iwarp.Terminate
	mpa        []iwarp.MPAFrame
	mpaErr     []error
	notices    []iwarp.Notice
	begun      bool
	told       uint64 // the end that BeginFPDU told
	faults     []string
}

func newCollector() *collector {
	return &collector{ops: map[string]int{}, crcs: map[iwarp.CRCState]int{}}
}

func (c *collector) MPA(_ *iwarp.Stream, _ uint64, m *iwarp.MPAFrame, err error) {
	k := *m
	k.Private = append([]byte{}, m.Private...)
	c.mpa = append(c.mpa, k)
	c.mpaErr = append(c.mpaErr, err)
}

func (c *collector) BeginFPDU(_ *iwarp.Stream, f *iwarp.FPDU) {
	if c.begun {
		c.faults = append(c.faults, fmt.Sprintf("begin within an FPDU at %d", f.Start))
	}
	c.begun, c.told = true, f.End
}

func (c *collector) EndFPDU(_ *iwarp.Stream, f *iwarp.FPDU) {
	if !c.begun {
		c.faults = append(c.faults, fmt.Sprintf("end without begin at %d", f.Start))
	}
	if f.State == iwarp.Whole && f.End != c.told {
		c.faults = append(c.faults, fmt.Sprintf("FPDU at %d was told to end at %d, not %d", f.Start, c.told, f.End))
	}
	c.begun = false
	if n := len(c.fpdus); n > 0 && f.State != iwarp.Aborted && f.Start < c.fpdus[n-1].end {
		c.faults = append(c.faults, fmt.Sprintf("FPDU at %d overlaps the one before", f.Start))
	}
	if f.State == iwarp.Aborted {
		return
	}
	c.fpdus = append(c.fpdus, found{start: f.Start, end: f.End, op: f.DDP.Opcode, last: f.DDP.Last, crc: f.CRC,
		state: f.State, at: f.At, endAt: f.EndAt, body: string(f.Body()), recovered: f.Recovered, aligned: f.AtSegmentStart})
	c.ops[f.DDP.Opcode.String()]++
	c.crcs[f.CRC]++
	if f.DDP.Last {
		c.last++
	}
	if f.Segments > 1 {
		c.straddling++
	}
	if !f.AtSegmentStart {
		c.unaligned++
	}
	if f.State == iwarp.Partial {
		c.partial++
	}
	c.max = max(c.max, f.Octets())
	var t iwarp.Terminate
	if f.Terminate(&t) {
		c.terminates = append(c.terminates, t)
	}
}

func (c *collector) Notice(_ *iwarp.Stream, n iwarp.Notice) { c.notices = append(c.notices, n) }

func (c *collector) count(k iwarp.NoticeKind) (n int) {
	for _, x := range c.notices {
		if x.Kind == k {
			n++
		}
	}
	return n
}
