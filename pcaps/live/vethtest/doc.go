// Package vethtest gives tests of live captures a network of their own: a
// namespace with pairs of virtual Ethernet interfaces, and a sender of raw
// frames. Nothing outside of the namespace is touched, and nothing stays.
package vethtest
