// Package decode enters the RDMA headers into gopacket's tables, for programs
// that decode with gopacket.NewPacket: Register for RoCE and pause frames,
// RegisterMPA for iWARP on the TCP ports that are named.
//
// The headers themselves are below: package roce has the InfiniBand transport,
// package pfc the pause frames and package iwarp what TCP carries, each with
// types that are gopacket layers. Package wire decodes whole frames, from the
// link header on, without gopacket; it is what this module's own analysis uses.
//
// They are apart because of the time that a program takes to start: the tables
// are in gopacket/layers, whose initialisation fills some 35 MB of them (65,536
// entries for every number space). Who imports no package but those below
// doesn't pay for that.
package decode
