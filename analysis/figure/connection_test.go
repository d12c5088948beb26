package figure

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/analysis"
)

func TestOperation(t *testing.T) {
	for opcode, want := range map[string]string{
		"RC RDMA Write First": "WRITE", "RC RDMA Write Last Immediate": "WRITE", "RC Send Only Invalidate": "SEND",
		"RC RDMA Read Request": "READ", "RC RDMA Read Response Middle": "", "RC Acknowledge": "", "RC Atomic Acknowledge": "",
		"RC Cmp Swap": "ATOMIC", "RC Fetch Add": "ATOMIC", "RC Atomic Write": "ATOMIC WRITE", "RC Flush": "FLUSH", "CNP": "",
		"RDMA_WRITE": "WRITE", "READ_REQUEST": "READ", "READ_RESPONSE": "", "SEND_SE_INV": "SEND", "TERMINATE": "TERMINATE",
		"ATOMIC_REQUEST": "ATOMIC", "ATOMIC_RESPONSE": "", "IMMEDIATE_SE": "IMMEDIATE", "Unknown (0xe1)": "",
	} {
		assert.Equal(t, want, operation(opcode), opcode)
	}
}

func TestConnectionNames(t *testing.T) {
	c := &analysis.Connection{Transport: "rocev1", Service: "xrc", A: analysis.Endpoint{QPN: analysis.Int(0x12)}, Flows: analysis.List[analysis.Flow]{
		{Opcodes: analysis.Counts{"RC RDMA Write First": 2, "RC Acknowledge": 90, "RC Atomic Write": 3}},
		{Opcodes: analysis.Counts{"RC RDMA Write Last": 2}},
	}}
	assert.Equal(t, "XRC v1", Service(c))
	assert.Equal(t, "WRITE ATOMIC WRITE", Operations(c), "the most frequent first")
	assert.Equal(t, "0x000012", EndName(c, &c.A))
	assert.Equal(t, Unknown, EndName(c, &c.B))
	w := &analysis.Connection{Transport: "iwarp", A: analysis.Endpoint{Port: analysis.Int(4420)}}
	assert.Equal(t, "iWARP", Service(w))
	assert.Equal(t, Unknown, Operations(w))
	assert.Equal(t, ":4420", EndName(w, &w.A))
	assert.Equal(t, Unknown, Address(""))
}
