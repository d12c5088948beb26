package analysis

import "rdmascope/decode/wire"

// management counts packets to queue pairs 0 and 1 by who sent them to whom.
// They belong to no connection, but the NICs at both ends count them.
type management map[managementKey]int64

type managementKey struct {
	iface    uint16
	src, dst wire.Addr
}

// maxManagement bounds the pairs of one partition.
const maxManagement = 1 << 14

// packet counts one; false when there is no room for its pair.
func (m management) packet(p *wire.Packet) bool {
	k := managementKey{p.Iface, p.Src, p.Dst}
	n, ok := m[k]
	if !ok && len(m) >= maxManagement {
		return false
	}
	m[k] = n + 1
	return true
}

// managementOf adds up what all partitions counted, by address: a pair that
// several interfaces saw counts at the one that saw most of it.
func managementOf(r *merged) (sent, received map[string]int64) {
	type pair struct{ src, dst wire.Addr }
	most := map[pair]int64{}
	for i := range r.partitions {
		for k, n := range r.partitions[i].management {
			p := pair{k.src, k.dst}
			most[p] = max(most[p], n)
		}
	}
	sent, received = map[string]int64{}, map[string]int64{}
	for p, n := range most {
		sent[p.src.String()] += n
		received[p.dst.String()] += n
	}
	return sent, received
}
