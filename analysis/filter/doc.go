// Package filter compiles Wireshark's display filters, for packets and for the
// flows of a snapshot.
//
// # Language
//
// Comparisons (== != > < >= <= and eq ne gt lt ge le, === and !== as all_eq and
// any_ne), in {a, b..c}, contains, matches, the existence of a field, and not,
// and, xor, or, which bind in this order. Arithmetic (+ - * / % and unary minus,
// which bind as usual, and & below them), grouped by braces or parentheses;
// functions (abs, count, len, lower, max, min, string, upper); slices of octets,
// text, headers and addresses ([i], [i:n], [i-j], [:n], [i:], joined by commas,
// from the end where negative). A field may occur several times in a packet: a
// comparison holds when it holds for one of them, != and === when they hold for
// all, any and all in front say which, and an absent field fails all of them.
// Fields are those of wire.Tree under Wireshark's names, some more of
// Wireshark's made from them, and our own (rdma.analysis.*, finding.*); flows
// have flow.* and finding.*.
//
// # What differs from Wireshark 4.0
//
// The results are those of tshark 4.0.17 (tshark_test.go), but for these:
//
//   - Integers have 64 bits and a sign whatever the field's width, so that a
//     product of 16 bits doesn't overflow and a negative number is one beside an
//     unsigned field too, where 4.0 multiplies and divides it without its sign.
//     A result with more bits is none, as with Wireshark.
//   - A constant may have more bits than the field and may stand on the left. A
//     constant divisor of 0 is refused, and so is a negative constant for an
//     unsigned field alone.
//   - Sets take expressions on the left, parentheses group arithmetic, functions
//     and slices may be nested, max and min mix widths, flows mix integers with
//     decimals.
//   - abs works for negative times, which 4.0 returns as they are.
//   - Not there: layers (ip.src#1), raw octets (@ip.src), references (${…}), and
//     len and slices of numbers, of which the width is not known here.
//
// # How it runs
//
// Every comparison of numbers, addresses and times with a constant is the
// question whether a value of 128 bits lies in one of some ranges (value.go,
// nodes.go): CIDR blocks, sets and orders are the same to it. Fields of the usual
// headers are read from wire.Packet without allocation (packetfields.go). What
// only a tree holds (connection management, tunnels, stacked tags, octets of
// headers) is looked up in wire.Tree, built at most once a packet and only
// where the packet can have the field at all.
//
// A comparison with arithmetic, a function or a slice becomes a program of
// expr-lang/expr (program.go, term.go), made once and run for every combination
// of the values of its fields; an AND asks all other terms first.
//
// # Why expr runs these and not all
//
// For comparisons expr 1.17.8 was measured against this compiler with the first
// three filters of BenchmarkPacketFilter, written by hand as it wants them: 270,
// 390 and 1,750 ns and 2 to 8 allocations, where nodes.go took 16, 41 and 52 ns
// and made none. And its syntax has none of what makes a filter Wireshark's:
// unquoted addresses, ranges in sets, octets, absent and repeated fields. So the
// parser and the types are ours (math.go, mathtypes.go, function.go), which also
// lets every fault point at its column; expr gets a source in which nothing is
// left of the user's text, checks it again and runs it.
//
// Its operators are replaced by ours (operators.go): its integers are Go's int,
// in which a kernel's virtual address is negative and a sum wraps in silence.
// They are constants of the program, of Go types that its virtual machine calls
// directly, and their values live in registers of the term: a term takes 90 to
// 270 ns and allocates nothing. Compiling one takes 30 to 80 µs. Linking expr costs
// 1.4 MB of program and 1 to 2 ms of start.
//
// # Bounds
//
// Neither time nor memory is without a bound. Programs have no loops: of expr's language
// only calls are used, its functions are disabled. The operators of a filter, its
// programs, the fields of a term and the parts of a slice are bounded, and so are
// the combinations of repeated fields that a term looks at for one packet
// (16,384: any holds, and all fails, only for those) and what a slice may copy
// (program.go, termvalue.go).
package filter
