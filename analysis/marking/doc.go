// Package marking follows what routers and hosts write into packets for quality
// of service: DSCP, ECN, PCP and VLAN per flow and kind of packet, CE marks and
// the congestion notification packets (CNP) that answer them (METRICS §5, §7).
//
// A flow is one direction. CE marks are seen on a data flow, the CNPs that
// answer them travel in the flow back: a CNP's destination QPN is that of the
// data *sender*. Which flows belong together is often known only at the end of a
// capture. So when a CNP passes, every flow that may be meant (those from its
// receiver to its sender) notes it for itself, one record for each pair of
// (data flow, CNP flow), and the result takes those of the true pairs. Where the
// engine knows a pair early it says so (SetPeer), which saves the work.
//
// A flow costs 128 bytes or less until its first CE mark or CNP.
package marking
