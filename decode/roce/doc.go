// Package roce decodes the InfiniBand transport as RoCEv2, RoCEv1 and native
// InfiniBand carry it: BTH, every extension header, GRH, LRH, the invariant
// CRC and the management datagrams (MAD, CM) of QP0 and QP1.
//
// There are two ways in, over the same code:
//
//   - Headers decodes a BTH and its extension headers in one call into one
//     reused, pointer-free struct. It is the hot path: it allocates nothing and
//     knows the true length of the packet, so that a packet that the capture
//     cut (snaplen) is told from one whose own lengths leave no room.
//   - Every header is also a gopacket DecodingLayer with its own LayerType.
//     BTH, RETH and so on are a BaseLayer around the pointer-free BTHFields,
//     RETHFields …, which are what Headers holds.
//
// An extension header doesn't say what follows it; only the opcode in the BTH
// does (IBTA 9.2, 9.4). So gopacket.NewPacket is served by a decoder that walks
// the whole chain by the opcode table, and a DecodingLayerParser by Transport,
// one layer for BTH and extension headers together.
//
// Nothing here is entered into gopacket's tables of ports and EtherTypes; that
// happens only on request, in package decode.
//
// Clause numbers "IBTA x" are those of the InfiniBand Architecture
// Specification volume 1; A16 and A17 are its RoCE and RoCEv2 annexes, A19 the
// memory placement extensions.
package roce
