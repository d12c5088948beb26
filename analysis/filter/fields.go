package filter

import (
	"cmp"
	"slices"
	"strings"
	"sync"
)

// Fields returns all names, those of packets first, each sorted.
func Fields() []Field { return slices.Clone(allFields()) }

var allFields = sync.OnceValue(func() []Field {
	var list []Field
	for _, f := range packetFields() {
		list = append(list, f.Field)
	}
	for _, f := range flowFields() {
		list = append(list, f.Field)
	}
	slices.SortFunc(list, func(a, b Field) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), strings.Compare(a.Name, b.Name))
	})
	return list
})

// Complete returns the names of a scope that begin with prefix, sorted.
func Complete(prefix string, in Scope) []string {
	var names []string
	all := allFields()
	for i := range all {
		if f := &all[i]; f.Scope == in && strings.HasPrefix(f.Name, prefix) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Word is the name that is being written at the end of a filter, for Complete.
func Word(expr string) string {
	return strings.TrimLeft(expr[strings.LastIndexAny(expr, wordEnds+mathSigns)+1:], "-")
}
