package live

import (
	"errors"
	"fmt"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

var errCgo = errors.New("giving up capabilities: not in a binary built with cgo")

// DropPrivileges gives up, for the whole process and for good, every
// capability that an open capture doesn't need: all of them, but for the one
// with which root writes into other people's directories when files are to be
// written. A fault in decoding hostile packets then has no more rights than
// the user who runs the program.
func DropPrivileges(writesFiles bool) error {
	var keep uint32
	if writesFiles && unix.Geteuid() == 0 {
		keep = 1 << unix.CAP_DAC_OVERRIDE
	}
	header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
	var have [2]unix.CapUserData
	if err := unix.Capget(&header, &have[0]); err != nil {
		return fmt.Errorf("reading the capabilities: %w", err)
	}
	want := [2]unix.CapUserData{{Effective: have[0].Effective & keep, Permitted: have[0].Permitted & keep}}
	if want == have {
		return nil
	}
	// Capabilities belong to threads: all of the process have to give them up.
	_, _, errno := syscall.AllThreadsSyscall(unix.SYS_CAPSET, uintptr(unsafe.Pointer(&header)), uintptr(unsafe.Pointer(&want[0])), 0)
	if errno == syscall.ENOTSUP {
		return errCgo
	}
	if errno != 0 {
		return fmt.Errorf("giving up capabilities: %w", errno)
	}
	return nil
}
