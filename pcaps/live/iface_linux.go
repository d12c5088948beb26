package live

import (
	"errors"
	"fmt"
	"runtime"
	"unsafe"

	"golang.org/x/sys/unix"
)

// ARPHRD_ values that are not Ethernet's and can be captured: frames of a
// loopback interface have an Ethernet header, those of a tun none.
var linkTypes = map[uint16]uint16{
	unix.ARPHRD_ETHER:    linkEthernet,
	unix.ARPHRD_LOOPBACK: linkEthernet,
	unix.ARPHRD_NONE:     linkRaw,
}

// port is a network interface as the system describes it.
type port struct {
	name     string
	index    int
	link     uint16
	loopback bool
	speedBps uint64 // 0 unknown
	group    int    // of its rings, -1 none yet
}

// ifreq is struct ifreq with a pointer, for SIOCETHTOOL.
type ifreq struct {
	name [unix.IFNAMSIZ]byte
	data unsafe.Pointer
	_    [24 - unsafe.Sizeof(uintptr(0))]byte
}

// lookUp finds an interface by its name.
func lookUp(fd int, name string) (*port, error) {
	req, err := unix.NewIfreq(name)
	if err != nil {
		return nil, unix.ENODEV
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, req); err != nil {
		return nil, err
	}
	p := &port{name: name, index: int(req.Uint32()), group: -1}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFHWADDR, req); err != nil {
		return nil, err
	}
	arp := req.Uint16() // sa_family of ifr_hwaddr
	link, ok := linkTypes[arp]
	if !ok {
		return nil, &StartError{Interface: name, Reason: fmt.Sprintf("interface type %d (ARPHRD) is neither Ethernet nor IP: its frames can't be read", arp)}
	}
	p.link, p.loopback = link, arp == unix.ARPHRD_LOOPBACK
	return p, nil
}

// state tells whether the interface still exists under its index, and whether
// it is up and has a carrier.
func (p *port) state(fd int) (up, gone bool) {
	req, err := unix.NewIfreq(p.name)
	if err != nil {
		return false, true
	}
	err = unix.IoctlIfreq(fd, unix.SIOCGIFINDEX, req)
	if errors.Is(err, unix.ENODEV) || err == nil && int(req.Uint32()) != p.index {
		// Gone, or another one has its name: the ring is bound to the old one.
		return false, true
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, req); err != nil {
		return false, false
	}
	flags := req.Uint16()
	return flags&unix.IFF_UP != 0 && flags&unix.IFF_RUNNING != 0, false
}

// ethtool runs one command of SIOCETHTOOL, whose answer is in value.
func ethtool(fd int, name string, value unsafe.Pointer) error {
	var req ifreq
	copy(req.name[:unix.IFNAMSIZ-1], name)
	req.data = value
	_, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL, uintptr(unsafe.Pointer(&req)))
	runtime.KeepAlive(value)
	if errno != 0 {
		return errno
	}
	return nil
}

// ethtoolValue reads one number (struct ethtool_value).
func ethtoolValue(fd int, name string, cmd uint32) uint32 {
	v := struct{ cmd, data uint32 }{cmd: cmd}
	if ethtool(fd, name, unsafe.Pointer(&v)) != nil {
		return 0
	}
	return v.data
}

// speed is the speed of the link in bit/s, 0 where there is none (struct
// ethtool_cmd; the kernel answers this old command for every driver).
func (p *port) speed(fd int) uint64 {
	v := struct {
		cmd, supported, advertising uint32
		speed                       uint16
		_                           [12]byte // duplex … maxrxpkt
		speedHigh                   uint16
		_                           [12]byte
	}{cmd: unix.ETHTOOL_GSET}
	if ethtool(fd, p.name, unsafe.Pointer(&v)) != nil {
		return 0
	}
	mbit := uint32(v.speedHigh)<<16 | uint32(v.speed)
	if mbit == 0xffffffff || mbit == 0xffff { // SPEED_UNKNOWN
		return 0
	}
	return uint64(mbit) * 1e6
}

// Bits of ETHTOOL_GFLAGS (enum ethtool_flags).
const (
	flagRxVLAN = 1 << 8
	flagLRO    = 1 << 15
)

// offloads names, as ethtool -K does, what the card or its driver does to
// frames before they are captured.
func (p *port) offloads(fd int) []string {
	if p.link != linkEthernet || p.loopback {
		return nil
	}
	var on []string
	if ethtoolValue(fd, p.name, unix.ETHTOOL_GGRO) != 0 {
		on = append(on, "gro")
	}
	flags := ethtoolValue(fd, p.name, unix.ETHTOOL_GFLAGS)
	if flags&flagLRO != 0 {
		on = append(on, "lro")
	}
	if flags&flagRxVLAN != 0 {
		on = append(on, "rxvlan")
	}
	return on
}

// hardwareTime turns on the card's time stamps for every frame.
func (p *port) hardwareTime(r *ring) error {
	cfg := unix.HwTstampConfig{Rx_filter: unix.HWTSTAMP_FILTER_ALL}
	if err := unix.IoctlSetHwTstamp(r.fd, p.name, &cfg); err != nil {
		return err
	}
	return unix.SetsockoptInt(r.fd, unix.SOL_PACKET, unix.PACKET_TIMESTAMP, unix.SOF_TIMESTAMPING_RAW_HARDWARE)
}
