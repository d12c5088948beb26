// Package pause keeps the time line of pauses: IEEE 802.1Qbb priority flow
// control and 802.3x PAUSE (METRICS §6).
//
// There are three parts, because pause frames concern every connection while
// data are split among shards:
//
//   - Timeline takes pause frames only. Every shard has one and feeds it all
//     pause frames of the capture in order, so all of them are equal, and each
//     can answer "is priority p paused now" while its own data pass.
//   - Traffic takes one shard's data frames: which pause intervals they fell
//     into, which flows went quiet.
//   - Merge joins one Timeline's result with all Traffics' results: storms, their
//     victims, spread and roots, violations, watchdog verdicts.
//
// A row is (interface, direction, source MAC, priority or all). It pauses the
// *neighbour's* sending: frames that travel towards that MAC. A time in a frame
// is in quanta of 512 bit times; a frame replaces the time left, it doesn't add
// to it; 0 ends the pause. Arithmetic is exact: a quantum at 25 Gbit/s is
// 20.48 ns, so the end of a pause is kept in picoseconds.
//
// A pause that nobody ends expires, so state is evaluated at the times of later
// events, never by a clock. All state is bounded: rows, intervals kept of each,
// windows (which widen), quiet flows; what was dropped is counted.
package pause
