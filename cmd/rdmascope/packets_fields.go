package main

import (
	"bytes"
	"strings"

	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
)

// fieldsWriter prints chosen fields of each packet, as tshark -T fields.
type fieldsWriter struct {
	columns    []*filter.Column
	header     bool
	separator  string
	aggregator string
	quote      string
	occurrence byte // a, f or l: all values, the first, the last
	value      []byte
	started    bool
}

func newFieldsWriter(names, options []string) (*fieldsWriter, error) {
	w := &fieldsWriter{separator: "\t", aggregator: ",", occurrence: 'a'}
	for _, name := range names {
		c, err := filter.CompileColumn(name)
		if err != nil {
			return nil, exitf(exitUsage, "-e: %v", err)
		}
		w.columns = append(w.columns, c)
	}
	for _, o := range options {
		if err := w.option(o); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// option takes one -E, spelt as tshark spells it.
func (w *fieldsWriter) option(o string) error {
	key, value, _ := strings.Cut(o, "=")
	ok := true
	switch key {
	case "header":
		w.header, ok = value == "y", value == "y" || value == "n"
	case "separator":
		w.separator, ok = fieldSign(value)
	case "aggregator":
		w.aggregator, ok = fieldSign(value)
	case "quote":
		w.quote, ok = map[string]string{"d": `"`, "s": "'", "n": ""}[value]
	case "occurrence":
		if ok = oneOf(value, "a", "f", "l"); ok {
			w.occurrence = value[0]
		}
	default:
		return exitf(exitUsage, "-E %s: the options are header, separator, aggregator, quote and occurrence", o)
	}
	if !ok {
		return exitf(exitUsage, "-E %s: no such %s", o, key)
	}
	return nil
}

// fieldSign reads a separator: /t, /s, or one character.
func fieldSign(s string) (string, bool) {
	switch s {
	case "/t":
		return "\t", true
	case "/s":
		return " ", true
	}
	return s, len([]rune(s)) == 1
}

func (w *fieldsWriter) begin(dst []byte) []byte {
	if !w.header {
		return dst
	}
	for i, c := range w.columns {
		if i > 0 {
			dst = append(dst, w.separator...)
		}
		dst = append(dst, c.Name()...)
	}
	return append(dst, '\n')
}

func (w *fieldsWriter) end(dst []byte) []byte { return dst }

// tick lets every column know the first packet, from which frame.time_relative
// counts.
func (w *fieldsWriter) tick(p *wire.Packet) {
	if w.started || p.Has(wire.FlagNoTime) {
		return
	}
	w.started = true
	for _, c := range w.columns {
		c.SetStart(p.Time)
	}
}

func (w *fieldsWriter) packet(dst []byte, p *wire.Packet) []byte {
	for i, c := range w.columns {
		if i > 0 {
			dst = append(dst, w.separator...)
		}
		w.value = c.Append(w.value[:0], p, w.aggregator)
		v := w.pick(w.value)
		if len(v) == 0 {
			continue
		}
		dst = append(dst, w.quote...)
		dst = appendClean(dst, string(v))
		dst = append(dst, w.quote...)
	}
	return append(dst, '\n')
}

// pick takes the first or the last of several values.
func (w *fieldsWriter) pick(v []byte) []byte {
	switch w.occurrence {
	case 'f':
		v, _, _ = bytes.Cut(v, []byte(w.aggregator))
	case 'l':
		v = v[bytes.LastIndex(v, []byte(w.aggregator))+1:]
	}
	return v
}
