package live

import (
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// Offsets in a frame's header (struct tpacket3_hdr) and in the address behind
// it (struct sockaddr_ll).
const (
	frameNext     = 0
	frameSec      = 4
	frameNsec     = 8
	frameCaptured = 12
	frameLength   = 16
	frameStatus   = 20
	frameMAC      = 24
	frameTCI      = 32
	frameTPID     = 36
	frameAddr     = 48
	framePktType  = frameAddr + 10

	frameHeader = frameAddr + unix.SizeofSockaddrLinklayer
)

const (
	macBytes = 12 // both addresses: a VLAN tag's place is behind them
	tagBytes = 4

	linkEthernet = 1
	linkRaw      = 101
)

// look reads the time of the next frame. It is false when the kernel's words
// make no sense: never seen, but no reason to leave the block's memory.
func (r *ring) look() bool {
	if r.at < 0 || r.at > len(r.block)-frameHeader {
		return false
	}
	h := r.block[r.at:]
	r.time = int64(word(h, frameSec))*1e9 + int64(word(h, frameNsec))
	return true
}

// take appends the next frame to buf and its record to recs, and goes on to
// the one after it. There must be one (see ready).
func (r *ring) take(buf []byte, recs []Record) ([]byte, []Record) {
	h := r.block[r.at:]
	stat, mac, captured := word(h, frameStatus), int(half(h, frameMAC)), int(word(h, frameCaptured))
	if mac <= len(h) && captured <= len(h)-mac && !r.twin(h[framePktType]) {
		rec := Record{
			Time: r.time, Off: uint32(len(buf)), Wire: word(h, frameLength),
			Iface: r.iface, Link: r.link, Dir: dirIn,
		}
		if h[framePktType] == unix.PACKET_OUTGOING {
			rec.Dir = dirOut
		}
		if r.hardware && stat&unix.TP_STATUS_TS_RAW_HARDWARE == 0 {
			// The kernel fell back to its own clock, which isn't the card's.
			rec.Time, rec.Flags = 0, flagNoTime
		}
		data := h[mac : mac+captured]
		if tci := half(h, frameTCI); (stat&unix.TP_STATUS_VLAN_VALID != 0 || tci != 0) && r.link == linkEthernet && captured >= macBytes {
			tpid := uint16(unix.ETH_P_8021Q)
			if stat&unix.TP_STATUS_VLAN_TPID_VALID != 0 {
				tpid = half(h, frameTPID)
			}
			buf = append(buf, data[:macBytes]...)
			buf = binary.BigEndian.AppendUint16(buf, tpid)
			buf = binary.BigEndian.AppendUint16(buf, tci)
			buf = append(buf, data[macBytes:]...)
			rec.Wire += tagBytes
		} else {
			buf = append(buf, data...)
		}
		rec.Cap = uint32(len(buf)) - rec.Off
		if r.snapLen != 0 && rec.Cap > r.snapLen { // by the tag
			rec.Cap = r.snapLen
			buf = buf[:rec.Off+rec.Cap]
		}
		rec.Wire = max(rec.Wire, rec.Cap)
		recs = append(recs, rec)
	}
	r.next(int(word(h, frameNext)))
	return buf, recs
}

// twin tells of the frames of a loopback interface that come twice, once going
// out and once coming in.
func (r *ring) twin(pktType byte) bool { return r.loopback && pktType == unix.PACKET_OUTGOING }

// next goes on by n octets, or gives the block back after its last frame.
func (r *ring) next(n int) {
	r.left--
	if r.left > 0 && n > 0 {
		r.at += n
		if r.look() {
			return
		}
	}
	r.release()
}
