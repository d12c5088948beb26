package rc

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestTakeClosed(t *testing.T) {
	closed := func(id int32, last int64) Connection {
		return Connection{Flows: [2]*FlowFigures{{ID: id}, {ID: id + 100}}, LastTime: last}
	}
	ids := func(list []Connection) (out []int32) {
		for i := range list {
			out = append(out, list[i].Flows[0].ID)
		}
		return out
	}
	s := NewShard(Options{})
	s.closed = []Connection{closed(1, 50), closed(2, 10), closed(3, 60), closed(4, 70), closed(5, 20), {Flows: [2]*FlowFigures{{ID: 6}}, LastTime: 80}}
	assert.Equal(t, []int32{2, 5}, ids(s.TakeClosed(30, nil, 10)), "idle")
	assert.Equal(t, []int32{4}, ids(s.TakeClosed(30, []int32{104, 9}, 10)), "of a flow that is forgotten, by its other direction too")
	assert.Equal(t, []int32{1}, ids(s.TakeClosed(30, nil, 2)), "the oldest beyond those kept")
	assert.Equal(t, []int32{3, 6}, ids(s.closed))
	assert.Empty(t, s.TakeClosed(30, nil, 2))
}
