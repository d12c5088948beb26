package analysis

import (
	"rdmascope/decode"
	"rdmascope/decode/roce"
)

// partition holds the flows and the trackers of a fixed share of all host
// pairs. One goroutine at a time uses it.
type partition struct {
	table flowTable
	flows []flow
	// Packets that opened no flow: what they say about themselves can't be
	// trusted (bad iCRC, bad IP checksum), or the table was full.
	untrusted int64
}

// partitionResult is a partition's part of a snapshot.
type partitionResult struct {
	keys      []FlowKey
	flows     []flow
	untrusted int64
	evicted   int64
}

func newPartition(opt Options) *partition {
	return &partition{table: newFlowTable(max(1, opt.MaxFlows/partitions))}
}

// packet takes the next packet of the partition, hash being its flow's.
func (p *partition) packet(pkt *decode.Packet, hash uint64) {
	if pkt.Kind == decode.KindTCP {
		return
	}
	if pkt.RoCE.BTH.DestQP <= 1 {
		p.management(pkt)
		return
	}
	p.roce(pkt, hash)
}

// management takes a packet to QP 0 or QP 1: a management datagram.
func (p *partition) management(*decode.Packet) {}

// roce takes a packet to any other queue pair.
func (p *partition) roce(pkt *decode.Packet, hash uint64) {
	key := flowKey(pkt)
	id := p.table.find(hash, &key)
	if id < 0 {
		if pkt.ICRC == roce.ICRCBad || pkt.Has(decode.FlagIPChecksumBad) || pkt.Stop.Reason.Malformed() {
			p.untrusted++
			return
		}
		if id = p.table.insert(hash, &key); id < 0 {
			return
		}
		p.flows = append(p.flows, flow{})
	}
	p.flows[id].packet(pkt)
}

func (p *partition) result(final bool) partitionResult {
	r := partitionResult{keys: p.table.keys, flows: p.flows, untrusted: p.untrusted, evicted: p.table.full}
	if !final {
		r.keys = append([]FlowKey(nil), r.keys...)
		r.flows = append([]flow(nil), r.flows...)
	}
	return r
}
