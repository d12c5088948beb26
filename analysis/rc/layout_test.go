package rc

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// TestLayout pins what the speed rests on: whole cache lines, and the fields of
// one line together. Objects of 256 and 448 octets begin at a line's border.
func TestLayout(t *testing.T) {
	const line = 64
	var f flow
	var r requester
	assert.EqualValues(t, 4*line, unsafe.Sizeof(f))
	assert.EqualValues(t, 1*line, unsafe.Offsetof(f.near))
	assert.EqualValues(t, 2*line, unsafe.Offsetof(f.table))
	assert.EqualValues(t, 7*line-16, unsafe.Sizeof(r))
	assert.EqualValues(t, 1*line, unsafe.Offsetof(r.reads))
	assert.EqualValues(t, 2*line, unsafe.Offsetof(r.msgs)+unsafe.Offsetof(r.msgs.first))
	assert.EqualValues(t, 3*line, unsafe.Offsetof(r.acks))
	assert.EqualValues(t, 5*line, unsafe.Offsetof(r.f))
	assert.EqualValues(t, 48, unsafe.Sizeof(storedEvent{}), "events that wait")
}
