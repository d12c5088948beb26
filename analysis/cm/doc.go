// Package cm follows the dialogues of InfiniBand connection management (IBTA
// vol. 1 chapter 12): REQ, REP, RTU, REJ, MRA, DREQ, DREP and the SIDR pair,
// which travel as MADs to queue pair 1.
//
// A dialogue is what one REQ (or SIDR_REQ) began: its key is the interface, the
// addresses, the initiator's communication ID and the transaction ID. A message
// names the communication IDs as "local" and "remote" from its *sender's* point
// of view, so both swap with the direction, and a REJ of a REQ that led to
// nothing has local ID 0.
//
// A tracker reads what was captured, which may be half of it: one direction
// only, a handshake that began before the capture, MADs cut by the snaplen. So
// nothing waits for a message in order to believe a later one; the state is the
// furthest step that any message proves, and a step back never happens. An RTU
// may be lost, or overtaken by data, without consequence.
//
// The tracker also tells the engine, by callback, what it may rely on when it
// pairs flows: Connect when both QPNs are known (or as much as will ever be),
// Disconnect when one end said that it is leaving.
//
// The state is bounded: the least recently active dialogue is dropped when the
// table is full, or when it was idle for long (Options.IdleNS), and counted.
// There is one goroutine, no lock.
package cm
