package roce

// UDPPort is RoCEv2's UDP destination port (A17.3.2). The source port is
// entropy for ECMP and says nothing about the queue pair.
const UDPPort = 4791

// EtherType is RoCEv1's: a GRH follows it (A16).
const EtherType = 0x8915

// FlowLabelUDPSourcePort returns the source port that Linux gives the data
// packets of a connection with this 20-bit flow label
// (rdma_flow_label_to_udp_sport): 0xc000 to 0xffff. A convention: some hardware
// draws random ports, some CNPs have 0.
func FlowLabelUDPSourcePort(flowLabel uint32) uint16 {
	flowLabel &= 0xfffff
	return uint16(flowLabel&0x3fff^flowLabel>>14) | 0xc000
}

// QPFlowLabel returns the flow label that Linux computes for a connected pair
// that has none (rdma_calc_flow_label). It is symmetric.
func QPFlowLabel(a, b QPN) uint32 {
	v := uint64(a) * uint64(b)
	v ^= v >> 20
	v ^= v >> 40
	return uint32(v & 0xfffff)
}

// UDPSourcePort returns the source port of both directions of a connected pair
// whose path has the given flow label; 0 stands for none.
func UDPSourcePort(flowLabel uint32, a, b QPN) uint16 {
	if flowLabel&0xfffff == 0 {
		flowLabel = QPFlowLabel(a, b)
	}
	return FlowLabelUDPSourcePort(flowLabel)
}
