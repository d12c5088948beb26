package synth

// Flow is one direction of a queue pair: how its packets travel and to which
// QP. Its methods append whole RoCEv2 frames. AutoID counts the IP
// identification up, as Linux does, so that the order of sending shows.
type Flow struct {
	Path
	DestQP uint32
	MTU    int // path MTU; 0 means 1024
	MigReq bool
	AutoID bool
}

func (f *Flow) mtu() int {
	if f.MTU == 0 {
		return 1024
	}
	return f.MTU
}

// Append writes p to this flow's QP.
func (f *Flow) Append(dst []byte, p Packet) []byte {
	p.DestQP, p.MigReq = f.DestQP, f.MigReq
	dst = AppendRoCEv2(dst, &f.Path, &p)
	if f.AutoID {
		f.ID++
	}
	return dst
}

// Packets is how many packets, and so PSNs, size octets take (IBTA 9.7.2):
// at least one.
func (f *Flow) Packets(size int) int { return packetsOf(size, f.mtu()) }

func packetsOf(size, mtu int) int { return max(1, (size+mtu-1)/mtu) }

// part picks FIRST, MIDDLE, LAST or ONLY of a message for packet i of n.
func part(i, n int, first, middle, last, only uint8) uint8 {
	switch {
	case n == 1:
		return only
	case i == 0:
		return first
	case i == n-1:
		return last
	}
	return middle
}

// slice is the payload of packet i.
func slice(data []byte, i, mtu int) []byte {
	return data[min(len(data), i*mtu):min(len(data), (i+1)*mtu)]
}

// SendPacket is packet i of a SEND of data that starts at psn. The last packet
// asks for an acknowledgement.
func (f *Flow) SendPacket(psn uint32, data []byte, i int) Packet {
	n := f.Packets(len(data))
	return Packet{
		Opcode: part(i, n, SendFirst, SendMiddle, SendLast, SendOnly),
		PSN:    psn + uint32(i), AckReq: i == n-1, Payload: slice(data, i, f.mtu()),
	}
}

// WritePacket is packet i of an RDMA WRITE of data to va.
func (f *Flow) WritePacket(psn uint32, va uint64, rkey uint32, data []byte, i int) Packet {
	n := f.Packets(len(data))
	return Packet{
		Opcode: part(i, n, WriteFirst, WriteMiddle, WriteLast, WriteOnly),
		PSN:    psn + uint32(i), AckReq: i == n-1, Payload: slice(data, i, f.mtu()),
		VA: va, RKey: rkey, DMALen: uint32(len(data)),
	}
}

// ReadResponse is packet i of the answer to a READ that started at psn.
func (f *Flow) ReadResponse(psn, msn uint32, data []byte, i int) Packet {
	n := f.Packets(len(data))
	return Packet{
		Opcode: part(i, n, ReadRespFirst, ReadRespMiddle, ReadRespLast, ReadRespOnly),
		PSN:    psn + uint32(i), Syndrome: SyndromeACK, MSN: msn, Payload: slice(data, i, f.mtu()),
	}
}

// Read is an RDMA READ request for size octets.
func Read(psn uint32, va uint64, rkey uint32, size int) Packet {
	return Packet{Opcode: ReadRequest, PSN: psn, AckReq: true, VA: va, RKey: rkey, DMALen: uint32(size)}
}

// FetchAddRequest is an atomic fetch and add.
func FetchAddRequest(psn uint32, va uint64, rkey uint32, add uint64) Packet {
	return Packet{Opcode: FetchAdd, PSN: psn, AckReq: true, VA: va, RKey: rkey, SwapAdd: add}
}

// CompareSwapRequest is an atomic compare and swap.
func CompareSwapRequest(psn uint32, va uint64, rkey uint32, swap, compare uint64) Packet {
	return Packet{Opcode: CompareSwap, PSN: psn, AckReq: true, VA: va, RKey: rkey, SwapAdd: swap, Compare: compare}
}

// AtomicResponse answers either atomic.
func AtomicResponse(psn, msn uint32, original uint64) Packet {
	return Packet{Opcode: AtomicAck, PSN: psn, Syndrome: SyndromeACK, MSN: msn, Original: original}
}

// ACK acknowledges everything up to psn.
func ACK(psn, msn uint32) Packet { return AETHPacket(psn, msn, SyndromeACK) }

// NAK is a negative acknowledgement; syndrome is one of the NAK constants. For
// a sequence error psn is the expected one.
func NAK(psn, msn uint32, syndrome uint8) Packet { return AETHPacket(psn, msn, syndrome) }

// RNR asks the requester to wait, as there's no receive for psn.
func RNR(psn, msn uint32, timer uint8) Packet {
	return AETHPacket(psn, msn, SyndromeRNR|timer&0x1f)
}

// AETHPacket is an ACKNOWLEDGE with any syndrome.
func AETHPacket(psn, msn uint32, syndrome uint8) Packet {
	return Packet{Opcode: Acknowledge, PSN: psn, Syndrome: syndrome, MSN: msn}
}

// CNP is a congestion notification (IBTA A17.9.3): PSN 0, BECN set. Append it
// to the flow towards the data's sender.
func CNP() Packet { return Packet{Opcode: CongestionNotif, BECN: true} }
