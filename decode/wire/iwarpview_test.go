package wire_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
)

// TestIWARPSummary has the line of each message of iwarpTalk, whose numbers stand
// there.
func TestIWARPSummary(t *testing.T) {
	var got []string
	for _, p := range iwarpTalk()[3:] {
		_, line, _ := strings.Cut(wire.Summary(&p), " → ")
		got = append(got, strings.TrimPrefix(strings.TrimPrefix(line, "7471 "), "40000 "))
	}
	assert.Equal(t, []string{
		"MPA Request rev 1", "MPA Reply rev 1",
		"SEND MSN 1 payload 13",
		"RDMA_WRITE STag 0x11223344 offset 0x10000000000 payload 50 …",
		"READ_RESPONSE STag 0x11223344 offset 0x7 payload 3",
		"READ_REQUEST 3 bytes of STag 0x00000004 to STag 0x00000001",
		"SEND_INV MSN 2 invalidates 0xabcdef01 payload 9",
		"SEND_SE MSN 3 offset 8 payload 9 …",
		"SEND_SE_INV MSN 3 invalidates 0x0000004d",
		"ATOMIC_REQUEST MSN 2", "ATOMIC_REQUEST MSN 3", "ATOMIC_RESPONSE MSN 1",
		"IMMEDIATE MSN 4 payload 8",
		"TERMINATE DDP tagged buffer error: invalid STag",
		"SEND MSN 5 payload 13; RDMA_WRITE STag 0x00000001 offset 0x2 payload 52",
	}, got)
}

// TestIWARPTree: every field of a tree is among the names, lies in the packet,
// and an FPDU that goes on elsewhere has none.
func TestIWARPTree(t *testing.T) {
	names := wire.FieldNames()
	seen := map[string]bool{}
	pkts := iwarpTalk()
	for i := range pkts {
		p := &pkts[i]
		for cut := len(p.Data); cut >= int(p.TransOff); cut -= 3 { // no prefix harms
			q := wire.Packet{Data: p.Data[:cut], Wire: p.Wire, Link: p.Link}
			wire.NewDecoder(wire.Config{}).Decode(&q)
			flat := map[string][]wire.Node{}
			flattenTree(wire.Tree(&q), flat)
			wire.Summary(&q)
			for name, list := range flat {
				for _, n := range list {
					require.LessOrEqual(t, n.Off+n.Len, cut, "%s of packet %d cut to %d", name, i, cut)
				}
				if strings.HasPrefix(name, "iwarp_") {
					seen[name] = true
					assert.True(t, slices.Contains(names, name), name)
				}
			}
		}
	}
	for _, name := range []string{"iwarp_mpa.pad", "iwarp_mpa.key.req", "iwarp_rdma.atomic.swap_mask", "iwarp_rdma.term_ddp_h", "iwarp_ddp.tagged_offset"} {
		assert.True(t, seen[name], name)
	}
}
