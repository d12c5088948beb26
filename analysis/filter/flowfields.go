package filter

import (
	"math"
	"net/netip"
	"reflect"
	"strconv"
	"strings"
	"sync"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
)

type flowField = field[*flowEnv]

// flowFields is every name that a filter over flows may use: the figures of
// Flow and Connection under the names that they have in the report, and some
// more made of them. Like the other tables of names it is made when a filter is
// first compiled: at start that would cost every command a millisecond or two.
var flowFields = sync.OnceValue(makeFlowFields)

func makeFlowFields() map[string]*flowField {
	b := flowBuilder{m: make(map[string]*flowField)}
	b.walk("flow", reflect.TypeFor[analysis.Flow](), func(e *flowEnv) reflect.Value { return reflect.ValueOf(e.f).Elem() })
	b.walk("flow", reflect.TypeFor[analysis.Connection](), func(e *flowEnv) reflect.Value { return reflect.ValueOf(e.c).Elem() })
	b.more()
	b.packetNames()
	return b.m
}

type flowBuilder struct{ m map[string]*flowField }

func (b *flowBuilder) add(f *flowField) {
	f.Scope = ScopeFlow
	b.m[f.Name] = f
}

// walk adds the fields of a struct of the report under their JSON names.
func (b *flowBuilder) walk(prefix string, t reflect.Type, at func(*flowEnv) reflect.Value) {
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" || name == "flows" || name == "reasons" {
			continue
		}
		get := func(e *flowEnv) reflect.Value {
			v := at(e)
			if v.IsValid() {
				v = v.Field(i)
				if v.Kind() == reflect.Pointer {
					v = v.Elem() // invalid when nil
				}
			}
			return v
		}
		typ := f.Type
		if typ.Kind() == reflect.Pointer {
			typ = typ.Elem()
		}
		doc := f.Tag.Get("doc")
		if _, outer, nested := strings.Cut(prefix, "."); nested { // "code 0" says nothing alone
			doc = strings.ReplaceAll(outer, ".", " ") + ": " + doc
		}
		b.leaf(prefix+"."+name, doc, typ, get)
	}
}

var (
	typeTime     = reflect.TypeFor[analysis.Time]()
	typeByNumber = reflect.TypeFor[analysis.ByNumber]()
)

// leaf adds a field by its type.
func (b *flowBuilder) leaf(name, doc string, t reflect.Type, get func(*flowEnv) reflect.Value) {
	last := name[strings.LastIndexByte(name, '.')+1:]
	one := func(typ Type, conv func(reflect.Value) (num, bool)) {
		b.number(name, doc, typ, func(e *flowEnv) (num, bool) {
			v := get(e)
			if !v.IsValid() {
				return num{}, false
			}
			return conv(v)
		})
	}
	switch {
	case t == typeTime:
		one(TypeTime, func(v reflect.Value) (num, bool) { return intNum(v.Int()), v.Int() != 0 })
	case t == typeByNumber:
		b.many(name, doc, func(e *flowEnv, buf []num) []num { return numbersOf(get(e), buf) })
	case t.Kind() == reflect.Struct:
		b.walk(name, t, get)
	case t.Kind() == reflect.Int64:
		one(TypeInt, func(v reflect.Value) (num, bool) { return intNum(v.Int()), true })
	case t.Kind() == reflect.Bool:
		one(TypeBool, func(v reflect.Value) (num, bool) { return boolNum(v.Bool()), true })
	case t.Kind() == reflect.Float64:
		one(TypeFloat, func(v reflect.Value) (num, bool) { return floatNum(v.Float()), !math.IsNaN(v.Float()) })
	case t.Kind() == reflect.String && (last == "ip" || strings.HasSuffix(last, "_ip")):
		one(TypeIP, func(v reflect.Value) (num, bool) { return hostNum(v.String()) })
	case t.Kind() == reflect.String && last == "mac":
		one(TypeMAC, func(v reflect.Value) (num, bool) {
			n, err := macAddress(v.String())
			return n, err == nil
		})
	case t.Kind() == reflect.String:
		b.text(name, doc, func(e *flowEnv, buf []string) []string {
			if v := get(e); v.IsValid() && v.Len() > 0 {
				buf = append(buf, v.String())
			}
			return buf
		})
	case t.Kind() == reflect.Map:
		b.text(name, doc+": one value a name", func(e *flowEnv, buf []string) []string { return keysOf(get(e), buf) })
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Int64:
		b.many(name, doc, func(e *flowEnv, buf []num) []num { return numbersOf(get(e), buf) })
	case t.Kind() == reflect.Slice:
		one(TypeInt, func(v reflect.Value) (num, bool) { return intNum(int64(v.Len())), true })
		b.m[name].Doc = "how many: " + doc
	}
}

func (b *flowBuilder) number(name, doc string, t Type, get func(*flowEnv) (num, bool)) {
	b.add(&flowField{Field: Field{Name: name, Type: t, Doc: doc}, get: []func(*flowEnv) (num, bool){get}})
}

func (b *flowBuilder) many(name, doc string, all func(*flowEnv, []num) []num) {
	b.add(&flowField{Field: Field{Name: name, Type: TypeInt, Doc: doc + ": one value each"}, all: all})
}

func (b *flowBuilder) text(name, doc string, texts func(*flowEnv, []string) []string) {
	b.add(&flowField{Field: Field{Name: name, Type: TypeText, Doc: doc}, texts: texts})
}

// numbersOf appends the elements of a list, or the keys of a map by number.
func numbersOf(v reflect.Value, buf []num) []num {
	if !v.IsValid() {
		return buf
	}
	switch list := v.Addr().Interface().(type) {
	case *analysis.ByNumber:
		for n := range *list {
			buf = append(buf, intNum(int64(n)))
		}
	case *analysis.List[int64]:
		for _, n := range *list {
			buf = append(buf, intNum(n))
		}
	}
	return buf
}

// keysOf appends the keys of a map by name.
func keysOf(v reflect.Value, buf []string) []string {
	if !v.IsValid() {
		return buf
	}
	switch m := v.Addr().Interface().(type) {
	case *analysis.Counts:
		for k := range *m {
			buf = append(buf, k)
		}
	case *analysis.Map[string]:
		for k := range *m {
			buf = append(buf, k)
		}
	}
	return buf
}

// hostNum reads an address of a report: IPv4, IPv6, a GID, or lid:17.
func hostNum(s string) (num, bool) {
	if lid, ok := strings.CutPrefix(s, "lid:"); ok {
		v, err := strconv.ParseUint(lid, 10, 16)
		return addrNum(wire.AddrLID(uint16(v))), err == nil
	}
	ip, err := netip.ParseAddr(s)
	return ipNum(ip), err == nil
}
