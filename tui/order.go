package tui

import (
	"cmp"
	"slices"
)

// sortRows orders the rows 0…n-1 by a column: the numbers or the texts are
// taken once, what is unknown comes last either way, and rows that are equal
// keep their order.
func sortRows[R any](rows []int32, at func(int32) R, c *column[R], desc bool) {
	if c.num != nil {
		sortNumbers(rows, func(i int32) (int64, bool) { return c.num(at(i)) }, desc)
		return
	}
	type keyed struct {
		text string
		row  int32
		nth  int32
	}
	keys := make([]keyed, len(rows))
	for k, i := range rows {
		keys[k] = keyed{c.text(at(i)), i, int32(k)}
	}
	slices.SortFunc(keys, func(a, b keyed) int {
		if (a.text == unknown) != (b.text == unknown) {
			if a.text == unknown {
				return 1
			}
			return -1
		}
		d := cmp.Compare(a.text, b.text)
		if desc {
			d = -d
		}
		return cmp.Or(d, cmp.Compare(a.nth, b.nth))
	})
	for k := range keys {
		rows[k] = keys[k].row
	}
}

func sortNumbers(rows []int32, num func(int32) (int64, bool), desc bool) {
	type keyed struct {
		n   int64
		row int32
		nth int32
	}
	keys := make([]keyed, 0, len(rows))
	var none []int32
	for k, i := range rows {
		n, ok := num(i)
		if !ok {
			none = append(none, i)
			continue
		}
		keys = append(keys, keyed{n, i, int32(k)})
	}
	up := func(a, b keyed) int { return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(a.nth, b.nth)) }
	down := func(a, b keyed) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.nth, b.nth)) }
	if desc {
		slices.SortFunc(keys, down)
	} else {
		slices.SortFunc(keys, up)
	}
	for k := range keys {
		rows[k] = keys[k].row
	}
	copy(rows[len(keys):], none)
}
