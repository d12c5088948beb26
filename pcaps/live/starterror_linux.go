package live

import (
	"errors"

	"golang.org/x/sys/unix"
)

// startError turns what the system said into what the user can do.
func startError(name string, err error) error {
	var own *StartError
	if errors.As(err, &own) {
		return own
	}
	e := &StartError{Interface: name, Reason: err.Error(), Err: err}
	switch {
	case errors.Is(err, unix.EPERM), errors.Is(err, unix.EACCES):
		e.Reason = "no permission to capture"
		e.Help = []string{
			"sudo setcap cap_net_raw,cap_net_admin+ep $(command -v rdmascope)",
			"or: sudo tcpdump -i " + name + " -w - | rdmascope live -r -",
		}
	case errors.Is(err, unix.ENODEV), errors.Is(err, unix.ENXIO):
		e.Reason = "no such interface"
		e.Help = []string{"ip -br link lists them"}
	case errors.Is(err, unix.ENETDOWN):
		e.Reason = "the interface is down"
		e.Help = []string{"sudo ip link set " + name + " up"}
	case errors.Is(err, unix.ENOMEM):
		e.Reason = "no memory for the ring: try a smaller -B"
	case errors.Is(err, unix.EINVAL):
		e.Reason = "the kernel refused the ring or the filter: " + err.Error()
	}
	return e
}
