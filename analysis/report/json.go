package report

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"slices"
	"strings"

	"rdmascope/analysis"
)

// JSON writes the snapshot as one JSON document with a newline at its end,
// byte for byte as encoding/json would, but connection by connection: a
// report of many connections never stands in memory as a whole.
func JSON(w io.Writer, s *analysis.Snapshot, o Options) error {
	j := jsonWriter{out: bufio.NewWriterSize(w, 1<<16), compact: o.Compact}
	j.out.WriteByte('{')
	v := reflect.ValueOf(limit(s, o)).Elem()
	first := true
	for i := range v.NumField() {
		f := v.Type().Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || strings.Contains(options, "omitzero") && v.Field(i).IsZero() {
			continue
		}
		if !first {
			j.out.WriteByte(',')
		}
		first = false
		j.newline(1)
		j.value(1, name)
		j.out.WriteByte(':')
		if !j.compact {
			j.out.WriteByte(' ')
		}
		if list, ok := v.Field(i).Interface().(analysis.List[analysis.Connection]); ok {
			j.connections(list)
		} else {
			j.value(1, v.Field(i).Interface())
		}
	}
	j.newline(0)
	j.out.WriteString("}\n")
	if j.err != nil {
		return j.err
	}
	return j.out.Flush()
}

// jsonWriter keeps the first error of marshalling; those of writing stay in
// the bufio.Writer until Flush.
type jsonWriter struct {
	out     *bufio.Writer
	buf     bytes.Buffer
	compact bool
	err     error
}

const jsonIndent = "  "

func (j *jsonWriter) newline(depth int) {
	if !j.compact {
		j.out.WriteByte('\n')
		j.out.WriteString(strings.Repeat(jsonIndent, depth))
	}
}

func (j *jsonWriter) value(depth int, v any) {
	j.buf.Reset()
	enc := json.NewEncoder(&j.buf)
	enc.SetEscapeHTML(false) // filters hold "&&"; nobody reads this as HTML
	if !j.compact {
		enc.SetIndent(strings.Repeat(jsonIndent, depth), jsonIndent)
	}
	if err := enc.Encode(v); err != nil && j.err == nil {
		j.err = err
	}
	j.out.Write(bytes.TrimSuffix(j.buf.Bytes(), []byte("\n")))
}

func (j *jsonWriter) connections(list analysis.List[analysis.Connection]) {
	j.out.WriteByte('[')
	for i := range list {
		if i > 0 {
			j.out.WriteByte(',')
		}
		j.newline(2)
		j.value(2, &list[i])
	}
	if len(list) > 0 {
		j.newline(1)
	}
	j.out.WriteByte(']')
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
