package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/analysis/snapshottest"
)

func toJSON(t testing.TB, s *analysis.Snapshot, o Options) []byte {
	var b bytes.Buffer
	require.NoError(t, JSON(&b, s, o))
	return b.Bytes()
}

func compiled(t testing.TB) *jsonschema.Schema {
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	require.NoError(t, err)
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	require.NoError(t, c.AddResource("report.json", doc))
	s, err := c.Compile("report.json")
	require.NoError(t, err)
	return s
}

func TestSchemaAcceptsSamples(t *testing.T) {
	schema := compiled(t)
	all := samples()
	all["zero"] = &analysis.Snapshot{Verdict: analysis.Verdict{Severity: analysis.SeverityOK}, Capture: analysis.Capture{Grade: analysis.GradeGood}}
	all["full"] = filled(t)
	for name, s := range all {
		if name == "empty" || name == "hostile" || name == "iwarp" {
			s.Capture.Grade = analysis.GradePoor
		}
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(toJSON(t, s, Options{})))
		require.NoError(t, err, name)
		if f, ok := doc.(map[string]any)["findings"].([]any); ok {
			for _, v := range f { // samples leave out what does not matter to the text
				m := v.(map[string]any)
				if m["subject"].(map[string]any)["kind"] == "" {
					m["subject"] = map[string]any{"kind": "capture"}
				}
			}
		}
		assert.NoError(t, schema.Validate(doc), name)
	}
}

// Every kind of mistake that a report could make must be refused.
func TestSchemaRefuses(t *testing.T) {
	schema := compiled(t)
	for _, tc := range []struct {
		name string
		harm func(doc, capture, flow map[string]any)
	}{
		{"a name that is not in the contract", func(d, _, _ map[string]any) { d["extra"] = 1 }},
		{"a nested stray name", func(_, _, f map[string]any) { f["retx_packets"] = 1 }},
		{"a missing name", func(d, _, _ map[string]any) { delete(d, "pfc") }},
		{"a missing nullable name", func(_, _, f map[string]any) { delete(f, "cnp_packets") }},
		{"null for a list", func(d, _, _ map[string]any) { d["findings"] = nil }},
		{"null for a count that is always known", func(_, c, _ map[string]any) { c["packets"] = nil }},
		{"a negative count", func(_, c, _ map[string]any) { c["packets"] = json.Number("-1") }},
		{"a fraction of a packet", func(_, _, f map[string]any) { f["packets"] = json.Number("1.5") }},
		{"text for a number", func(_, _, f map[string]any) { f["dest_qp"] = "0x11" }},
		{"a time as a number", func(_, c, _ map[string]any) { c["start_time"] = json.Number("1772619302") }},
		{"a time with six decimals", func(_, c, _ map[string]any) { c["start_time"] = "2026-03-04T10:15:02.113000Z" }},
		{"a time that does not exist", func(_, c, _ map[string]any) { c["start_time"] = "2026-13-04T10:15:02.113000000Z" }},
		{"a value out of the set", func(_, c, _ map[string]any) { c["grade"] = "excellent" }},
		{"empty text for unknown", func(d, _, _ map[string]any) { d["verdict"].(map[string]any)["finding_id"] = "" }},
		{"a DSCP that is no number", func(_, _, f map[string]any) { f["dscp"] = map[string]any{"AF31": 1} }},
		{"another schema's name", func(d, _, _ map[string]any) { d["schema"] = "rdmascope.report/2" }},
	} {
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(toJSON(t, snapshottest.Healthy(), Options{})))
		require.NoError(t, err)
		root := doc.(map[string]any)
		require.NoError(t, schema.Validate(doc), "whole before the harm")
		flow := root["connections"].([]any)[0].(map[string]any)["flows"].([]any)[0].(map[string]any)
		tc.harm(root, root["capture"].(map[string]any), flow)
		assert.Error(t, schema.Validate(doc), tc.name)
	}
}

func TestSchemaIsTheSameEachTime(t *testing.T) {
	first := Schema()
	require.Equal(t, string(first), string(Schema()))
	var v any
	require.NoError(t, json.Unmarshal(first, &v))
	assert.Contains(t, string(first), `"[nanoseconds]`[1:])
}

// The names of version 1 as scripts know them; a change here breaks scripts.
func TestSchemaNamesAreFrozen(t *testing.T) {
	var doc struct {
		Properties map[string]any `json:"properties"`
		Defs       map[string]struct {
			Properties map[string]any `json:"properties"`
		} `json:"$defs"`
	}
	require.NoError(t, json.Unmarshal(Schema(), &doc))
	var lines []string
	for name := range doc.Properties {
		lines = append(lines, "Snapshot."+name)
	}
	for def, d := range doc.Defs {
		for name := range d.Properties {
			lines = append(lines, def+"."+name)
		}
	}
	slices.Sort(lines)
	golden(t, "names.txt", strings.Join(lines, "\n")+"\n")
}

func TestJSONIsTheSameEachTime(t *testing.T) {
	for name := range samples() {
		first := toJSON(t, samples()[name], Options{})
		for range 20 {
			require.Equal(t, string(first), string(toJSON(t, samples()[name], Options{})), name)
		}
	}
}

// Written in parts, yet as encoding/json writes the whole.
func TestJSONIsWhatTheStandardLibraryWrites(t *testing.T) {
	all := samples()
	all["full"] = filled(t)
	for name, s := range all {
		for _, compact := range []bool{false, true} {
			var want bytes.Buffer
			enc := json.NewEncoder(&want)
			enc.SetEscapeHTML(false)
			if !compact {
				enc.SetIndent("", "  ")
			}
			require.NoError(t, enc.Encode(limit(s, Options{})))
			require.Equal(t, want.String(), string(toJSON(t, s, Options{Compact: compact})), name)
		}
	}
}

type brokenWriter struct{ left int }

func (w *brokenWriter) Write(b []byte) (int, error) {
	if w.left -= len(b); w.left < 0 {
		return 0, io.ErrShortWrite
	}
	return len(b), nil
}

// A full disk must not pass for a report.
func TestWriteErrorsAreTold(t *testing.T) {
	for _, left := range []int{0, 100_000} {
		s := manyConnections(200)
		require.ErrorIs(t, JSON(&brokenWriter{left}, s, Options{}), io.ErrShortWrite)
	}
	require.ErrorIs(t, Text(&brokenWriter{100}, snapshottest.Healthy(), Options{}), io.ErrShortWrite)
}

func TestJSONRoundTrip(t *testing.T) {
	want := filled(t)
	var got analysis.Snapshot
	d := json.NewDecoder(bytes.NewReader(toJSON(t, want, Options{})))
	d.DisallowUnknownFields()
	require.NoError(t, d.Decode(&got))
	require.Equal(t, want, &got)
}

func TestJSONUnknownIsNull(t *testing.T) {
	var doc map[string]any
	require.NoError(t, json.Unmarshal(toJSON(t, snapshottest.Cut(), Options{}), &doc))
	c := doc["connections"].([]any)[0].(map[string]any)
	flow := c["flows"].([]any)[0].(map[string]any)
	for _, name := range []string{"retransmitted_packets", "naks", "rnr_naks", "episodes", "recovery_scheme", "cnp_packets"} {
		v, there := flow[name]
		assert.True(t, there, name)
		assert.Nil(t, v, name)
	}
	assert.Equal(t, []any{}, flow["recoveries"])
	assert.Equal(t, map[string]any{}, flow["pcp"])
	assert.Nil(t, c["a"].(map[string]any)["qpn"])
	assert.NotContains(t, flow, "tcp", "iWARP only")
	assert.NotContains(t, flow, "terminates", "iWARP only")

	require.NoError(t, json.Unmarshal(toJSON(t, snapshottest.IWARP(), Options{}), &doc))
	flow = doc["connections"].([]any)[0].(map[string]any)["flows"].([]any)[0].(map[string]any)
	assert.Contains(t, flow, "tcp")
	assert.Equal(t, []any{}, flow["terminates"], "iWARP has them, none came")
}

func TestJSONNoListIsNull(t *testing.T) {
	out := string(toJSON(t, &analysis.Snapshot{}, Options{Compact: true}))
	for _, name := range []string{"inputs", "findings", "conformance", "connections", "sources", "spreads", "violations", "storms", "hosts", "io", "grade_reasons"} {
		assert.Contains(t, out, `"`+name+`":[]`)
	}
	for _, name := range []string{"decode_stops", "evictions", "contents"} {
		assert.Contains(t, out, `"`+name+`":{}`)
	}
	assert.Equal(t, 1, strings.Count(out, "\n"))
}

func TestJSONFiltersStayReadable(t *testing.T) {
	out := string(toJSON(t, withFindings(), Options{}))
	assert.Contains(t, out, `eth.src==b8:ce:f6:11:22:33 && macc.cbfc.enbv.c3==1`)
	assert.NotContains(t, out, `\u0026`)
}

func TestJSONLimitsConnections(t *testing.T) {
	s := base(100)
	for i := range 30 {
		s.Connections = append(s.Connections, pair(fmt.Sprintf("c%02d", i), "10.0.0.1", "10.0.0.2", int64(i), int64(i+100)))
	}
	s.Connections[17].Flows[0].Naks.RemoteAccessError = 1
	s.Connections[5].Flows[0].PSNGapPackets = analysis.Int(3)
	s.ConnectionsTotal = 40 // the engine kept 30

	ids := func(o Options) (list []string, omitted int64) {
		var got analysis.Snapshot
		require.NoError(t, json.Unmarshal(toJSON(t, s, o), &got))
		for _, c := range got.Connections {
			list = append(list, c.ID)
		}
		return list, got.ConnectionsOmitted
	}
	list, omitted := ids(Options{Connections: 2})
	assert.Equal(t, []string{"c05", "c17"}, list, "the worst, in the order of the report")
	assert.EqualValues(t, 38, omitted)
	list, omitted = ids(Options{Connections: -1})
	assert.Len(t, list, 30)
	assert.EqualValues(t, 10, omitted)
	list, _ = ids(Options{})
	assert.Len(t, list, 30)
	assert.Len(t, s.Connections, 30, "the snapshot itself is never changed")
}

// filled gives every field of the snapshot a value that is not its zero, by
// reflection, so that no field of the contract escapes the tests.
func filled(t testing.TB) *analysis.Snapshot {
	var s analysis.Snapshot
	fill(t, reflect.ValueOf(&s).Elem(), "")
	s.Schema = analysis.SchemaName
	s.ConnectionsTotal = s.ConnectionsOmitted + int64(len(s.Connections))
	return &s
}

func fill(t testing.TB, v reflect.Value, enum string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if !v.Type().Field(i).IsExported() {
				continue
			}
			fill(t, v.Field(i), v.Type().Field(i).Tag.Get("enum"))
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), enum)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0), enum)
	case reflect.Map:
		v.Set(reflect.MakeMap(v.Type()))
		key, val := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(t, key, "")
		fill(t, val, "")
		v.SetMapIndex(key, val)
	case reflect.String:
		text, _, _ := strings.Cut(enum, "|")
		if text == "" {
			text = "some <text> & more"
		}
		v.SetString(text)
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int64:
		v.SetInt(1_234_567_890_123_456_789 >> 3)
	case reflect.Int8:
		v.SetInt(5)
	case reflect.Float64:
		v.SetFloat(0.123456789)
	default:
		require.Fail(t, "no rule for "+v.Type().String())
	}
}

func TestFilledFillsAll(t *testing.T) {
	var doc any
	require.NoError(t, json.Unmarshal(toJSON(t, filled(t), Options{}), &doc))
	var walk func(path string, v any)
	walk = func(path string, v any) {
		switch v := v.(type) {
		case nil:
			assert.Fail(t, "null", path)
		case map[string]any:
			for _, k := range slices.Sorted(maps.Keys(v)) {
				walk(path+"."+k, v[k])
			}
		case []any:
			assert.NotEmpty(t, v, path)
			for _, e := range v {
				walk(path+"[]", e)
			}
		}
	}
	walk("", doc)
}
