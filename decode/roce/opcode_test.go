package roce

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The table of IBTA 9.2.1 and the annexes, written out once more by hand: opcode,
// name (that of Wireshark's Info column) and headers after the BTH.
const opcodeList = `
00 RC Send First
01 RC Send Middle
02 RC Send Last
03 RC Send Last Immediate: ImmDt
04 RC Send Only
05 RC Send Only Immediate: ImmDt
06 RC RDMA Write First: RETH
07 RC RDMA Write Middle
08 RC RDMA Write Last
09 RC RDMA Write Last Immediate: ImmDt
0a RC RDMA Write Only: RETH
0b RC RDMA Write Only Immediate: RETH ImmDt
0c RC RDMA Read Request: RETH
0d RC RDMA Read Response First: AETH
0e RC RDMA Read Response Middle
0f RC RDMA Read Response Last: AETH
10 RC RDMA Read Response Only: AETH
11 RC Acknowledge: AETH
12 RC Atomic Acknowledge: AETH AtomicAckETH
13 RC Compare Swap: AtomicETH
14 RC Fetch Add: AtomicETH
16 RC Send Last Invalidate: IETH
17 RC Send Only Invalidate: IETH
1c RC Flush: FETH RETH
1d RC Atomic Write: RETH
20 UC Send First
21 UC Send Middle
22 UC Send Last
23 UC Send Last Immediate: ImmDt
24 UC Send Only
25 UC Send Only Immediate: ImmDt
26 UC RDMA Write First: RETH
27 UC RDMA Write Middle
28 UC RDMA Write Last
29 UC RDMA Write Last Immediate: ImmDt
2a UC RDMA Write Only: RETH
2b UC RDMA Write Only Immediate: RETH ImmDt
40 RD/DC Send First: RDETH DETH
41 RD/DC Send Middle: RDETH DETH
42 RD/DC Send Last: RDETH DETH
43 RD/DC Send Last Immediate: RDETH DETH ImmDt
44 RD/DC Send Only: RDETH DETH
45 RD/DC Send Only Immediate: RDETH DETH ImmDt
46 RD/DC RDMA Write First: RDETH DETH RETH
47 RD/DC RDMA Write Middle: RDETH DETH
48 RD/DC RDMA Write Last: RDETH DETH
49 RD/DC RDMA Write Last Immediate: RDETH DETH ImmDt
4a RD/DC RDMA Write Only: RDETH DETH RETH
4b RD/DC RDMA Write Only Immediate: RDETH DETH RETH ImmDt
4c RD/DC RDMA Read Request: RDETH DETH RETH
4d RD/DC RDMA Read Response First: RDETH AETH
4e RD/DC RDMA Read Response Middle: RDETH
4f RD/DC RDMA Read Response Last: RDETH AETH
50 RD/DC RDMA Read Response Only: RDETH AETH
51 RD/DC Acknowledge: RDETH AETH
52 RD/DC Atomic Acknowledge: RDETH AETH AtomicAckETH
53 RD/DC Compare Swap: RDETH DETH AtomicETH
54 RD/DC Fetch Add: RDETH DETH AtomicETH
55 RD/DC Resync: RDETH DETH
5c RD/DC Flush: RDETH FETH RETH
64 UD Send Only: DETH
65 UD Send Only Immediate: DETH ImmDt
81 CNP: CNP
a0 XRC Send First: XRCETH
a1 XRC Send Middle: XRCETH
a2 XRC Send Last: XRCETH
a3 XRC Send Last Immediate: XRCETH ImmDt
a4 XRC Send Only: XRCETH
a5 XRC Send Only Immediate: XRCETH ImmDt
a6 XRC RDMA Write First: XRCETH RETH
a7 XRC RDMA Write Middle: XRCETH
a8 XRC RDMA Write Last: XRCETH
a9 XRC RDMA Write Last Immediate: XRCETH ImmDt
aa XRC RDMA Write Only: XRCETH RETH
ab XRC RDMA Write Only Immediate: XRCETH RETH ImmDt
ac XRC RDMA Read Request: XRCETH RETH
ad XRC RDMA Read Response First: AETH
ae XRC RDMA Read Response Middle
af XRC RDMA Read Response Last: AETH
b0 XRC RDMA Read Response Only: AETH
b1 XRC Acknowledge: AETH
b2 XRC Atomic Acknowledge: AETH AtomicAckETH
b3 XRC Compare Swap: XRCETH AtomicETH
b4 XRC Fetch Add: XRCETH AtomicETH
b6 XRC Send Last Invalidate: XRCETH IETH
b7 XRC Send Only Invalidate: XRCETH IETH
bc XRC Flush: XRCETH FETH RETH
bd XRC Atomic Write: XRCETH RETH
`

func TestOpcodeTable(t *testing.T) {
	type row struct{ name, headers string }
	want := map[int]row{}
	for line := range strings.Lines(strings.TrimSpace(opcodeList)) {
		var o int
		_, err := fmt.Sscanf(line, "%02x", &o)
		require.NoError(t, err)
		name, headers, _ := strings.Cut(strings.TrimSpace(line[3:]), ": ")
		want[o] = row{name, headers}
	}
	require.Len(t, want, 88)
	for o := range 256 {
		op, info := Opcode(o), Opcode(o).Info()
		r, known := want[o]
		require.Equal(t, known, op.Known(), "%02x", o)
		if !known {
			assert.Equal(t, fmt.Sprintf("Unknown (0x%02x)", o), op.String())
			assert.Zero(t, info.Count)
			assert.Zero(t, info.Flags)
			assert.Equal(t, OperationUnknown, op.Operation())
			assert.Equal(t, o >= 0xc0, op.Service() == ServiceVendor)
			continue
		}
		assert.Equal(t, r.name, op.String())
		var names []string
		var length int
		set := HeaderSet(1 << HeaderBTH)
		for _, h := range info.Headers[:info.Count] {
			names = append(names, h.String())
			length += h.Len()
			set |= 1 << h
		}
		assert.Equal(t, r.headers, strings.Join(names, " "), op)
		assert.EqualValues(t, length, info.ExtLen)
		assert.Equal(t, set, info.Set)
		checkOpcodeFlags(t, op)
	}
}

// checkOpcodeFlags: the flags are what the name says.
func checkOpcodeFlags(t *testing.T, op Opcode) {
	name, info := op.String(), op.Info()
	has := func(s string) bool { return strings.Contains(name, s) }
	f := info.Flags
	assert.Equal(t, has(" First"), f.Has(FlagFirst), name)
	assert.Equal(t, has(" Middle"), f.Has(FlagMiddle), name)
	assert.Equal(t, has(" Last"), f.Has(FlagLast), name)
	assert.Equal(t, has(" Only"), f.Has(FlagOnly), name)
	assert.Equal(t, has(" Immediate"), f.Has(FlagImmediate), name)
	assert.Equal(t, has(" Immediate"), info.Set.Has(HeaderImmDt), name)
	assert.Equal(t, has(" Invalidate"), f.Has(FlagInvalidate), name)
	assert.Equal(t, has(" Invalidate"), info.Set.Has(HeaderIETH), name)
	assert.Equal(t, info.Set.Has(HeaderAtomicETH), f.Has(FlagAtomic), name)
	response := has("Response") || has("Acknowledge")
	assert.Equal(t, response, op.IsResponse(), name)
	assert.Equal(t, !response && op != OpcodeCNP, f.Has(FlagRequest), name)
	assert.Equal(t, has("Read Request") || has("Compare") || has("Fetch") || has("Flush") || has("Atomic Write"), f.Has(FlagRead), name)
	assert.Equal(t, has("Send") || has("RDMA Write") || has("Read Response") || has("Atomic Write"), f.Has(FlagPayload), name)
	if op != OpcodeCNP {
		assert.True(t, strings.HasPrefix(name, op.Service().String()+" "+op.Operation().String()), name)
	}
}

func TestOpcodeNames(t *testing.T) {
	for op, want := range map[Opcode]string{
		OpcodeRCSendFirst: "RC Send First", OpcodeRCSendMiddle: "RC Send Middle", OpcodeRCSendLast: "RC Send Last",
		OpcodeRCSendLastImm: "RC Send Last Immediate", OpcodeRCSendOnly: "RC Send Only",
		OpcodeRCSendOnlyImm: "RC Send Only Immediate", OpcodeRCWriteFirst: "RC RDMA Write First",
		OpcodeRCWriteMiddle: "RC RDMA Write Middle", OpcodeRCWriteLast: "RC RDMA Write Last",
		OpcodeRCWriteLastImm: "RC RDMA Write Last Immediate", OpcodeRCWriteOnly: "RC RDMA Write Only",
		OpcodeRCWriteOnlyImm: "RC RDMA Write Only Immediate", OpcodeRCReadRequest: "RC RDMA Read Request",
		OpcodeRCReadResponseFirst:  "RC RDMA Read Response First",
		OpcodeRCReadResponseMiddle: "RC RDMA Read Response Middle",
		OpcodeRCReadResponseLast:   "RC RDMA Read Response Last",
		OpcodeRCReadResponseOnly:   "RC RDMA Read Response Only", OpcodeRCAcknowledge: "RC Acknowledge",
		OpcodeRCAtomicAcknowledge: "RC Atomic Acknowledge", OpcodeRCCompareSwap: "RC Compare Swap",
		OpcodeRCFetchAdd: "RC Fetch Add", OpcodeRCSendLastInv: "RC Send Last Invalidate",
		OpcodeRCSendOnlyInv: "RC Send Only Invalidate", OpcodeRCFlush: "RC Flush", OpcodeRCAtomicWrite: "RC Atomic Write",
		OpcodeUDSendOnly: "UD Send Only", OpcodeUDSendOnlyImm: "UD Send Only Immediate", OpcodeCNP: "CNP",
		0x80: "Unknown (0x80)",
	} {
		assert.Equal(t, want, op.String())
	}
	assert.Equal(t, "Unknown", Service(99).String())
	assert.Equal(t, "Unknown", Operation(99).String())
	assert.Equal(t, "invalid", Header(99).String())
	assert.Zero(t, Header(99).Len())
	assert.True(t, ServiceXRC.Reliable())
	assert.False(t, ServiceUD.Reliable())
}
