package live

import (
	"sync/atomic"
	"unsafe"

	"golang.org/x/net/bpf"
	"golang.org/x/sys/unix"
)

const (
	// ringBlock is the unit that the kernel hands over: a multiple of the page
	// size, and big enough for the longest frame (a BIG TCP super-frame has
	// 512 KiB).
	ringBlock = 1 << 20

	// retireMS is after how many ms the kernel hands over a block that isn't
	// full. It looks twice before it does: the tail comes within 2 × retireMS.
	retireMS = 20

	// ringFrame only has to satisfy the kernel's arithmetic: version 3 packs
	// frames by their length.
	ringFrame = 2048
)

// Offsets in a block descriptor (struct tpacket_block_desc, packet(7) and
// linux/if_packet.h).
const (
	blockStatus  = 8
	blockPackets = 12
	blockFirst   = 16
	blockLength  = 20
	blockLast    = 40 // time of its last packet
)

// ring is one AF_PACKET socket and its TPACKET_V3 ring.
type ring struct {
	fd     int
	iface  uint16
	link   uint16
	mem    []byte
	blocks int
	cur    int // block that is read now, or next

	// Of the block that is being read; left is 0 when none is.
	block   []byte
	left    int   // frames not yet taken
	at      int   // offset of the next one
	time    int64 // its time
	end     int   // offset behind the last one
	last    int64 // its time
	readyNS int64 // monotonic, when the block was first seen ready

	loans loans

	hardware bool // times are to be the network card's
	loopback bool
	snapLen  uint32
}

// newRing makes the socket and its ring. The filter is attached before the
// socket is bound: no packet gets in that it wouldn't let pass.
//
// A ring of which blocks are lent has that many more: the kernel fills the
// blocks strictly in turn, and drops everything when the next one is out. So it
// has as much room ahead as if none was lent, however late they come back. A
// ring that would more than double lends nothing.
func newRing(bytes, held int, filter *Filter, snapLen int) (*ring, error) {
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC|unix.SOCK_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	r := &ring{fd: fd, blocks: max(2, bytes/ringBlock), snapLen: uint32(snapLen)}
	if held <= r.blocks {
		r.blocks += held
		r.loans.most = held
	}
	r.loans.readers = make([]int, r.blocks)
	if err := r.setUp(filter, snapLen); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *ring) setUp(filter *Filter, snapLen int) error {
	if err := unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_VERSION, unix.TPACKET_V3); err != nil {
		return err
	}
	if code := filter.code(snapLen); code != nil {
		if err := r.attach(code); err != nil {
			return err
		}
	}
	req := unix.TpacketReq3{
		Block_size: ringBlock, Block_nr: uint32(r.blocks),
		Frame_size: ringFrame, Frame_nr: uint32(r.blocks * (ringBlock / ringFrame)),
		Retire_blk_tov: retireMS,
	}
	if err := unix.SetsockoptTpacketReq3(r.fd, unix.SOL_PACKET, unix.PACKET_RX_RING, &req); err != nil {
		return err
	}
	var err error
	r.mem, err = unix.Mmap(r.fd, 0, r.blocks*ringBlock, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	return err
}

// attach puts a filter into the kernel; a second one replaces the first.
func (r *ring) attach(code []bpf.RawInstruction) error {
	f := make([]unix.SockFilter, len(code))
	for i, c := range code {
		f[i] = unix.SockFilter{Code: c.Op, Jt: c.Jt, Jf: c.Jf, K: c.K}
	}
	return unix.SetsockoptSockFprog(r.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &unix.SockFprog{Len: uint16(len(f)), Filter: &f[0]})
}

// bind begins the capture on an interface.
func (r *ring) bind(index int) error {
	return unix.Bind(r.fd, &unix.SockaddrLinklayer{Protocol: htons(unix.ETH_P_ALL), Ifindex: index})
}

func htons(v uint16) uint16 { return v<<8 | v>>8 }

// promiscuous asks for frames to any address, for as long as the socket lives.
func (r *ring) promiscuous(index int) error {
	return unix.SetsockoptPacketMreq(r.fd, unix.SOL_PACKET, unix.PACKET_ADD_MEMBERSHIP,
		&unix.PacketMreq{Ifindex: int32(index), Type: unix.PACKET_MR_PROMISC})
}

// rejectAll makes the kernel take no more packets.
func (r *ring) rejectAll() error {
	return r.attach([]bpf.RawInstruction{{Op: unix.BPF_RET | unix.BPF_K}})
}

// counts returns the packets and drops since the last call: the kernel starts
// anew each time.
func (r *ring) counts() (received, dropped int64) {
	st, err := unix.GetsockoptTpacketStatsV3(r.fd, unix.SOL_PACKET, unix.PACKET_STATISTICS)
	if err != nil {
		return 0, 0
	}
	return int64(st.Packets), int64(st.Drops)
}

func (r *ring) descriptor(i int) []byte { return r.mem[i*ringBlock : (i+1)*ringBlock] }

// status is the word by which the kernel and we hand a block to each other.
func status(block []byte) *uint32 { return (*uint32)(unsafe.Pointer(&block[blockStatus])) }

// ready tells whether there is a frame to take, going on to the next block
// when it can.
func (r *ring) ready(now int64) bool {
	for r.left == 0 {
		if !r.handed(r.cur) {
			return false
		}
		b := r.descriptor(r.cur)
		r.hold(r.cur)
		r.block, r.left, r.at, r.readyNS = b, int(word(b, blockPackets)), int(word(b, blockFirst)), now
		r.end = min(int(word(b, blockLength)), len(b))
		r.last = int64(word(b, blockLast))*1e9 + int64(word(b, blockLast+4))
		if r.left == 0 || !r.look() {
			r.done()
		}
	}
	return true
}

// handed tells whether the kernel handed over a block that wasn't read yet.
func (r *ring) handed(i int) bool {
	word := status(r.descriptor(i))
	ours := func() bool { return atomic.LoadUint32(word)&unix.TP_STATUS_USER != 0 }
	return ours() && !r.taken(i) && ours() // else it may have gone back in between
}

// done lets go of the block that was read and goes on to the next one.
func (r *ring) done() {
	r.letGo(r.cur)
	r.block, r.left = nil, 0
	r.cur = (r.cur + 1) % r.blocks
}

// filling tells whether half of the ring waits to be read.
func (r *ring) filling() bool { return r.handed((r.cur + r.blocks/2) % r.blocks) }

// close ends the capture. The memory goes when all that is out is back.
func (r *ring) close() {
	r.loans.mu.Lock()
	defer r.loans.mu.Unlock()
	if r.loans.closed = true; r.loans.out == 0 {
		r.unmap()
	}
	_ = unix.Close(r.fd)
}

func (r *ring) unmap() {
	if r.mem != nil {
		_ = unix.Munmap(r.mem)
		r.mem = nil
	}
}

// word and half read the host's byte order, in which the kernel writes.
func word(b []byte, off int) uint32 { return *(*uint32)(unsafe.Pointer(&b[off : off+4][0])) }

func half(b []byte, off int) uint16 { return *(*uint16)(unsafe.Pointer(&b[off : off+2][0])) }
