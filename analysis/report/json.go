package report

import (
	"bufio"
	"encoding/json"
	"io"
	"slices"

	"rdmascope/analysis"
)

// JSON writes the snapshot as one JSON document with a newline at its end.
func JSON(w io.Writer, s *analysis.Snapshot, o Options) error {
	out := bufio.NewWriterSize(w, 1<<16)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false) // filters hold "&&"; nobody reads this as HTML
	if !o.Compact {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(limit(s, o)); err != nil {
		return err
	}
	return out.Flush()
}

// limit returns the snapshot as the JSON shows it: with its schema's name and
// no more connections than asked for. The worst ones stay; the order is kept.
func limit(s *analysis.Snapshot, o Options) *analysis.Snapshot {
	c := *s
	if c.Schema == "" {
		c.Schema = analysis.SchemaName
	}
	most := o.Connections
	if most == 0 {
		most = DefaultConnections
	}
	if most > 0 && len(c.Connections) > most {
		keep := worstFirst(s)[:most]
		slices.Sort(keep)
		c.Connections = make(analysis.List[analysis.Connection], most)
		for i, k := range keep {
			c.Connections[i] = s.Connections[k]
		}
	}
	// An engine that limits connections itself counts those too.
	c.ConnectionsOmitted = max(c.ConnectionsOmitted, c.ConnectionsTotal-int64(len(c.Connections)))
	return &c
}
