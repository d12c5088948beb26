package live

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/bpf"
)

// Filter decides in the kernel which packets are taken. Nil takes all.
type Filter struct {
	program []bpf.RawInstruction
	own     bool // a preset, which reads Ethernet headers
}

// Presets are the names that Preset knows.
var Presets = []string{"rdma", "roce", "iwarp", "pfc", "all"}

// Preset makes a filter by name. ports are UDP destination ports of RoCEv2
// beside 4791.
//
//	rdma   RoCE, TCP (iWARP may use any port), pauses and LLDP (DCBX)
//	roce   RoCEv1 and RoCEv2, pauses and LLDP
//	iwarp  TCP, pauses and LLDP
//	pfc    MAC control frames and LLDP
//	all    everything
//
// All but pfc look through VLAN tags and one VXLAN, GENEVE, GRE or ERSPAN
// around the frame. What they can't look into (MPLS, deeper tunnels, taps'
// own headers, later fragments) passes: better too much than a hole.
func Preset(name string, ports ...uint16) (*Filter, error) {
	w := wanted{ports: append([]uint16{rocePort}, ports...)}
	switch name {
	case "all":
		return nil, nil
	case "rdma":
		w.roce, w.tcp = true, true
	case "roce":
		w.roce = true
	case "iwarp":
		w.tcp = true
	case "pfc":
	default:
		return nil, fmt.Errorf("no filter %s: rdma, roce, iwarp, pfc, all, or @FILE with what tcpdump -ddd prints", name)
	}
	program, err := bpf.Assemble(w.program())
	if err != nil {
		return nil, err
	}
	return &Filter{program: program, own: true}, nil
}

// maxInstructions is the kernel's limit (BPF_MAXINSNS).
const maxInstructions = 4096

// ParseDDD reads what `tcpdump -ddd EXPRESSION` prints: the number of
// instructions, then one a line as four decimal numbers.
func ParseDDD(r io.Reader) (*Filter, error) {
	lines := bufio.NewScanner(r)
	line := 0
	next := func() string {
		for lines.Scan() {
			line++
			if t := strings.TrimSpace(lines.Text()); t != "" {
				return t
			}
		}
		return ""
	}
	var n int
	if _, err := fmt.Sscanf(next(), "%d", &n); err != nil || n < 1 || n > maxInstructions {
		return nil, fmt.Errorf("line %d: not the number of instructions that tcpdump -ddd prints first", line)
	}
	f := &Filter{}
	for len(f.program) < n {
		var i bpf.RawInstruction
		text := next()
		if text == "" {
			return nil, fmt.Errorf("ends after %d of %d instructions", len(f.program), n)
		}
		if k, err := fmt.Sscanf(text, "%d %d %d %d", &i.Op, &i.Jt, &i.Jf, &i.K); err != nil || k != 4 {
			return nil, fmt.Errorf("line %d: not an instruction of tcpdump -ddd: %.40q", line, text)
		}
		f.program = append(f.program, i)
	}
	if text := next(); text != "" {
		return nil, fmt.Errorf("line %d: more than %d instructions", line, n)
	}
	return f, lines.Err()
}

const (
	opReturn = 0x06 // BPF_RET | BPF_K
	wholeLen = 1 << 20
)

// code is the program with a snapshot length: what a filter returns is how
// many octets the kernel keeps. Nil takes all.
func (f *Filter) code(snapLen int) []bpf.RawInstruction {
	if f == nil {
		if snapLen <= 0 {
			return nil
		}
		return takeAll(snapLen)
	}
	if snapLen <= 0 {
		return f.program
	}
	code := append([]bpf.RawInstruction(nil), f.program...)
	for i := range code {
		if code[i].Op == opReturn {
			code[i].K = min(code[i].K, uint32(snapLen))
		}
	}
	return code
}

func takeAll(snapLen int) []bpf.RawInstruction {
	if snapLen <= 0 {
		snapLen = wholeLen
	}
	return []bpf.RawInstruction{{Op: opReturn, K: uint32(snapLen)}}
}

// preset tells whether the filter is one of ours, for Ethernet alone.
func (f *Filter) preset() bool { return f != nil && f.own }

// Program returns the instructions, nil for a filter that takes all.
func (f *Filter) Program() []bpf.RawInstruction { return f.code(0) }
