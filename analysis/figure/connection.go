package figure

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// Address is an IP address or GID.
func Address(a analysis.Text) string {
	if a == "" {
		return Unknown
	}
	return string(a)
}

// EndName is the QPN, or the TCP port of iWARP.
func EndName(c *analysis.Connection, e *analysis.Endpoint) string {
	if c.Transport == "iwarp" {
		if e.Port == nil {
			return Unknown
		}
		return fmt.Sprintf(":%d", *e.Port)
	}
	return QPN(e.QPN)
}

// Service names the transport service, and the carrier where it isn't UDP.
func Service(c *analysis.Connection) string {
	name := strings.ToUpper(string(c.Service))
	if name == "" {
		name = Unknown
	}
	switch c.Transport {
	case "iwarp":
		return "iWARP"
	case "rocev1":
		return name + " v1"
	case "infiniband":
		return name + " IB"
	}
	return name
}

// Operations names what was asked for, the most frequent first.
func Operations(c *analysis.Connection) string {
	tally := map[string]int64{}
	for i := range c.Flows {
		for name, n := range c.Flows[i].Opcodes {
			if op := operation(name); op != "" {
				tally[op] += n
			}
		}
	}
	names := make([]string, 0, len(tally))
	for op := range tally {
		names = append(names, op)
	}
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(tally[b], tally[a]), cmp.Compare(a, b))
	})
	if len(names) == 0 {
		return Unknown
	}
	return strings.Join(names, " ")
}

// operation maps an opcode name to the operation that it asks for; answers
// are part of their request and give "".
func operation(opcode string) string {
	name := strings.ToLower(opcode)
	for _, answer := range []string{"acknowledge", "response", "cnp", "resync"} {
		if strings.Contains(name, answer) {
			return ""
		}
	}
	for _, o := range []struct{ word, op string }{
		{"atomic write", "ATOMIC WRITE"}, {"cmpswap", "ATOMIC"}, {"cmp", "ATOMIC"}, {"fetch", "ATOMIC"}, {"atomic", "ATOMIC"},
		{"write", "WRITE"}, {"read", "READ"}, {"send", "SEND"}, {"flush", "FLUSH"},
		{"terminate", "TERMINATE"}, {"immediate", "IMMEDIATE"},
	} {
		if strings.Contains(name, o.word) {
			return o.op
		}
	}
	return ""
}
