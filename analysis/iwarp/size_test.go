package iwarp

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/assert"
)

// TestSizes: what a connection costs in each stage.
func TestSizes(t *testing.T) {
	t.Logf("entry %d, pending %d, connection %d octets", unsafe.Sizeof(entry{}), unsafe.Sizeof(pendingLog{}), unsafe.Sizeof(conn{}))
	assert.LessOrEqual(t, unsafe.Sizeof(entry{}), uintptr(64))
	assert.LessOrEqual(t, unsafe.Sizeof(pendingLog{}), uintptr(1536))
	assert.LessOrEqual(t, unsafe.Sizeof(conn{}), uintptr(16<<10))
}
