package vethtest

import (
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mmsghdr is struct mmsghdr of sendmmsg(2).
type mmsghdr struct {
	hdr unix.Msghdr
	len uint32
	_   [4]byte
}

// Batch sends many frames with one system call each time: as fast as a sender
// without a ring of its own can.
type Batch struct {
	s    *Sender
	name unix.RawSockaddrLinklayer
	msgs []mmsghdr
	iovs []unix.Iovec
}

// NewBatch prepares to send as many frames at a time, past the queueing
// discipline, which has nothing to decide here.
func (s *Sender) NewBatch(t testing.TB, frames int) *Batch {
	t.Helper()
	if err := unix.SetsockoptInt(s.fd, unix.SOL_PACKET, unix.PACKET_QDISC_BYPASS, 1); err != nil {
		t.Fatal(err)
	}
	b := &Batch{s: s, msgs: make([]mmsghdr, frames), iovs: make([]unix.Iovec, frames),
		name: unix.RawSockaddrLinklayer{Family: unix.AF_PACKET, Ifindex: int32(s.addr.Ifindex), Halen: 6}}
	for i := range b.msgs {
		b.msgs[i].hdr.Name = (*byte)(unsafe.Pointer(&b.name))
		b.msgs[i].hdr.Namelen = unix.SizeofSockaddrLinklayer
		b.msgs[i].hdr.Iov = &b.iovs[i]
		b.msgs[i].hdr.SetIovlen(1)
	}
	return b
}

// Send sends frames, at most as many as were prepared for.
func (b *Batch) Send(frames [][]byte) error {
	for i, f := range frames {
		b.iovs[i].Base = &f[0]
		b.iovs[i].SetLen(len(f))
	}
	for at := 0; at < len(frames); {
		n, _, errno := unix.Syscall6(unix.SYS_SENDMMSG, uintptr(b.s.fd), uintptr(unsafe.Pointer(&b.msgs[at])), uintptr(len(frames)-at), 0, 0, 0)
		switch {
		case errno == unix.ENOBUFS || errno == unix.EAGAIN:
			time.Sleep(100 * time.Microsecond)
		case errno != 0:
			return errno
		default:
			at += int(n)
		}
	}
	return nil
}
