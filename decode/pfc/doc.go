// Package pfc decodes the MAC control frames that stop a sender: 802.1Qbb
// priority flow control (IEEE 802.1Q clause 36, 802.3 annex 31D) and 802.3x
// PAUSE (annex 31B), and does the arithmetic of pause quanta.
//
// Frame is the hot path: one reused struct for both kinds, told the frame's
// destination and true length, so that malformed frames (which change no pause
// state) are told from cut ones. MACControl, PFC and PAUSE are the same headers
// as gopacket layers.
package pfc
