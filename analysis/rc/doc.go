// Package rc tells the truth about reliable connections: which two one-way
// flows belong together, what was sent again and why, on which side of the tap
// packets were lost, and how long operations took.
//
// # Layers
//
// A Shard holds all flows of the host pairs that it was given and is fed their
// packets in capture order by one goroutine. A packet passes these stages:
//
//	event.go       wire.Packet → event, a compact fact without pointers
//	ahead.go       asks for the cache lines that packets are going to touch
//	copies.go      is it the same packet again (captured or delivered twice)?
//	pairing_*.go   which flow answers this one: CM, source port, PSN windows;
//	               until that is known events wait in a bounded store (pending.go,
//	               eventstore.go) and are replayed once
//	requester.go   the send queue of one queue pair in capture order: requests go
//	               in, responses of the paired flow complete them (messages.go,
//	               reads.go, latency.go)
//	responder.go   what a responder at the tap would expect and answer; it tells
//	               a loss before the tap from one behind it
//	sendorder.go   puts requests back into the order of sending
//	episodes.go    steps back of the sender, their trigger and kind
//	lostwhere.go   what each of them lost, and where
//	result.go      figures of a moment, without disturbing the tracking
//	mark.go        which packets were sent again, late, copies, for whoever asks
//	forget.go      one connection's figures, and its end: ids are used again
//
// # Two PSN spaces
//
// Requests and the responses to them share the requester's PSN space; the
// opcode tells which is which (IBTA 9.7.2). So a requester is fed by two flows:
// requests of its own flow, responses of the paired one. Figures stand at the
// flow that METRICS §2 names.
//
// # Two orders
//
// Everything that a responder or a clock would see happens in capture order and
// at once: messages, latencies, the expected PSN at the tap, which NAK it
// foretells. What the sender did (retransmitted or merely late, a step back)
// is decided in the order of sending, which a packet that overtook others
// reveals only later. While a connection is clean both orders are the same and
// nothing waits; from the first PSN out of sequence on, events pass through a
// bounded window sorted by IP identification.
//
// # Memory
//
// State per connection is bounded: rings with a cap, sketches that grow with
// the spread of the values and not with their number, trouble state that is
// allocated when trouble begins. A connection whose requests go one way and
// that had no trouble takes 1,120 octets (BenchmarkManyConnections), the CM dialogue included: two flows of
// 256 octets and a requester of 384. What a packet touches comes first in each,
// in whole cache lines; with 100,000 connections a packet costs what its lines
// cost. Latencies gather in the requester before they go to their sketches, so
// that one that has few needs none.
package rc
