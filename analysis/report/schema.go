package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strings"

	"rdmascope/analysis"
)

// Schema returns the JSON Schema (draft 2020-12) of what JSON writes, made
// from the snapshot's types, so that it cannot fall behind them. It allows no
// names but those of the types, so that a stray one fails a test; readers of
// reports should be more lenient, since names may be added within version 1.
func Schema() []byte {
	g := generator{defs: map[string]*object{}}
	root := g.structure(reflect.TypeFor[analysis.Snapshot]())
	doc := newObject(
		"$schema", "https://json-schema.org/draft/2020-12/schema",
		"title", analysis.SchemaName,
		"description", "Report of rdmascope. A figure that the capture cannot give is null, never 0. Units are in the names; times are RFC 3339 in UTC with nine decimals. Names may be added within version 1, never changed or removed.",
	)
	doc.members = append(doc.members, root.members...)
	defs := &object{}
	for _, name := range g.order {
		defs.set(name, g.defs[name])
	}
	doc.set("$defs", defs)
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(doc); err != nil {
		panic(err) // the types are ours and fixed: a test runs this
	}
	return b.Bytes()
}

// object is a JSON object that keeps its order: the schema then reads in the
// order of the report.
type object struct{ members []member }

type member struct {
	name  string
	value any
}

func newObject(pairs ...any) *object {
	o := &object{}
	for i := 0; i+1 < len(pairs); i += 2 {
		o.set(pairs[i].(string), pairs[i+1])
	}
	return o
}

func (o *object) set(name string, value any) { o.members = append(o.members, member{name, value}) }

func (o *object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	b.WriteByte('{')
	for i, m := range o.members {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := enc.Encode(m.name); err != nil {
			return nil, err
		}
		b.WriteByte(':')
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

type generator struct {
	defs  map[string]*object
	order []string // names of defs as first met
}

var (
	timeType     = reflect.TypeFor[analysis.Time]()
	textType     = reflect.TypeFor[analysis.Text]()
	decimalType  = reflect.TypeFor[analysis.Decimal]()
	priorityType = reflect.TypeFor[analysis.Priority]()
	byNumberType = reflect.TypeFor[analysis.ByNumber]()
)

// of gives the schema of a type as encoding/json writes it.
func (g *generator) of(t reflect.Type) *object {
	switch t {
	case timeType:
		return newObject("type", []string{"string", "null"}, "format", "date-time",
			"pattern", `^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{9}Z$`)
	case textType:
		return newObject("type", []string{"string", "null"}, "minLength", 1)
	case decimalType:
		return newObject("type", "number")
	case priorityType:
		return newObject("enum", []any{0, 1, 2, 3, 4, 5, 6, 7, "all"})
	case byNumberType:
		return newObject("type", "object", "propertyNames", newObject("pattern", "^[0-9]+$"),
			"additionalProperties", g.of(reflect.TypeFor[int64]()))
	}
	switch t.Kind() {
	case reflect.Pointer:
		return nullable(g.of(t.Elem()))
	case reflect.Struct:
		return g.ref(t)
	case reflect.Slice:
		return newObject("type", "array", "items", g.of(t.Elem()))
	case reflect.Map:
		return newObject("type", "object", "additionalProperties", g.of(t.Elem()))
	case reflect.String:
		return newObject("type", "string")
	case reflect.Bool:
		return newObject("type", "boolean")
	case reflect.Int64:
		return newObject("type", "integer", "minimum", 0)
	}
	panic(fmt.Sprintf("report schema: no rule for %s", t))
}

// nullable allows null beside what the schema says.
func nullable(o *object) *object {
	for i, m := range o.members {
		if one, ok := m.value.(string); ok && m.name == "type" {
			o.members[i].value = []string{one, "null"}
			return o
		}
	}
	return newObject("anyOf", []any{o, newObject("type", "null")})
}

// ref enters a struct into $defs once and refers to it.
func (g *generator) ref(t reflect.Type) *object {
	name := t.Name()
	if _, ok := g.defs[name]; !ok {
		g.order = append(g.order, name)
		g.defs[name] = nil // before its fields, against endless recursion
		g.defs[name] = g.structure(t)
	}
	return newObject("$ref", "#/$defs/"+name)
}

func (g *generator) structure(t reflect.Type) *object {
	properties, required := &object{}, []string{}
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() {
			continue // the engine's own notes, not in the JSON either
		}
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" {
			panic(fmt.Sprintf("report schema: %s.%s has no JSON name", t, f.Name))
		}
		if opts == "" {
			required = append(required, name)
		}
		properties.set(name, g.field(f, name))
	}
	return newObject("type", "object", "additionalProperties", false, "required", required, "properties", properties)
}

func (g *generator) field(f reflect.StructField, name string) *object {
	o := g.of(f.Type)
	if list := f.Tag.Get("enum"); list != "" {
		var values []any
		for v := range strings.SplitSeq(list, "|") {
			values = append(values, v)
		}
		if f.Type == textType {
			values = append(values, nil)
		}
		o.set("enum", values)
	}
	if doc := f.Tag.Get("doc"); doc != "" {
		o.set("description", doc+unitOf(name))
	}
	return o
}

// unitOf spells out the unit that a name ends in.
func unitOf(name string) string {
	for _, u := range []struct{ suffix, words string }{
		{"_ns", "nanoseconds"}, {"_bytes", "bytes"}, {"_bps", "bits per second"},
		{"_per_s", "per second"}, {"_packets", "packets"}, {"_frames", "frames"}, {"_segments", "segments"},
	} {
		if strings.HasSuffix(name, u.suffix) {
			return " [" + u.words + "]"
		}
	}
	return ""
}
