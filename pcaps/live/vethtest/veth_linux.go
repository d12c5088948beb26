package vethtest

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

const inside = "RDMASCOPE_TEST_NETNS"

// InNamespace runs the calling test in a process with a network namespace of
// its own, where it is root, and tells whether this is that process. The test
// returns at once when it isn't. Where the system allows no such thing, the
// test is skipped.
func InNamespace(t testing.TB) bool {
	t.Helper()
	if os.Getenv(inside) != "" {
		run(t, "ip", "link", "set", "lo", "up")
		return true
	}
	if _, err := exec.LookPath("ip"); err != nil {
		t.Skip("no ip command to make interfaces with")
	}
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	if err := (&exec.Cmd{Path: "/proc/self/exe", Args: []string{"true", "-test.run=^$"}, SysProcAttr: attr, Env: os.Environ()}).Run(); err != nil {
		t.Skipf("no network namespace to be had here: %v", err)
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v", "-test.timeout=5m"}
	if _, bench := t.(*testing.B); bench {
		args = []string{"-test.run=^$", "-test.bench=^" + t.Name() + "$", "-test.timeout=5m"}
	}
	cmd := exec.Command(os.Args[0], args...)
	cmd.SysProcAttr, cmd.Env = attr, append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("in the namespace: %v\n%s", err, out)
	}
	if _, bench := t.(*testing.B); bench {
		_, _ = os.Stdout.Write(out) // of a benchmark's log the testing package shows ten lines
	} else {
		t.Logf("in the namespace:\n%s", out)
	}
	return false
}

// Pair makes a pair of interfaces joined by a virtual cable and returns their
// names. Neither says anything of its own accord.
func Pair(t testing.TB, n int) (from, to string) {
	t.Helper()
	from, to = fmt.Sprintf("from%d", n), fmt.Sprintf("to%d", n)
	run(t, "ip", "link", "add", from, "mtu", "65535", "type", "veth", "peer", "name", to, "mtu", "65535")
	for _, name := range []string{from, to} {
		run(t, "ip", "link", "set", name, "addrgenmode", "none") // no IPv6, no solicitations
		run(t, "ip", "link", "set", name, "up")
	}
	WaitUp(t, from)
	WaitUp(t, to)
	return from, to
}

// WaitUp waits until the interface sends: for a moment after it went up it
// loses frames without a word.
func WaitUp(t testing.TB, name string) {
	t.Helper()
	for range 200 {
		out, err := exec.Command("ip", "-o", "link", "show", "dev", name).Output()
		if err == nil && strings.Contains(string(out), " state UP ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("%s doesn't come up", name)
}

// SmallDisk makes a directory with room for so many octets.
func SmallDisk(t testing.TB, bytes int) string {
	t.Helper()
	dir := t.TempDir()
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		t.Skipf("no mount of one's own to be had here: %v", err)
	}
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("no mount of one's own to be had here: %v", err)
	}
	t.Cleanup(func() { _ = unix.Unmount(dir, unix.MNT_DETACH) })
	return dir
}

// IP runs the ip command.
func IP(t testing.TB, args ...string) {
	t.Helper()
	run(t, "ip", args...)
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %v: %v\n%s", name, args, err, out)
	}
}

// Sender puts frames on an interface as they are.
type Sender struct {
	fd   int
	addr unix.SockaddrLinklayer
}

// NewSender opens an interface for sending.
func NewSender(t testing.TB, name string) *Sender {
	t.Helper()
	fd, err := unix.Socket(unix.AF_PACKET, unix.SOCK_RAW|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = unix.Close(fd) })
	req, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, req); err != nil {
		t.Fatal(err)
	}
	return &Sender{fd, unix.SockaddrLinklayer{Ifindex: int(req.Uint32()), Halen: 6}}
}

// Send sends one frame.
func (s *Sender) Send(t testing.TB, frame []byte) {
	t.Helper()
	if err := s.TrySend(frame); err != nil {
		t.Fatalf("sending %d octets: %v", len(frame), err)
	}
}

// TrySend sends one frame; it waits while the interface's queue is full.
func (s *Sender) TrySend(frame []byte) error {
	for {
		err := unix.Sendto(s.fd, frame, 0, &s.addr)
		if err != unix.ENOBUFS {
			return err
		}
		time.Sleep(100 * time.Microsecond)
	}
}
