package live

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"
)

// missedOffset is the place of rx_missed_errors in struct rtnl_link_stats64:
// "packets missed by the host for lack of buffers" (linux/if_link.h).
const missedOffset = 15 * 8

// nicDrops returns rx_missed_errors by interface index: what the network card
// threw away before anybody could capture it. Nil when the system won't tell.
func nicDrops() map[int]int64 {
	data, err := syscall.NetlinkRIB(unix.RTM_GETLINK, unix.AF_UNSPEC)
	if err != nil {
		return nil
	}
	msgs, err := syscall.ParseNetlinkMessage(data)
	if err != nil {
		return nil
	}
	missed := map[int]int64{}
	for i := range msgs {
		m := &msgs[i]
		if m.Header.Type != unix.RTM_NEWLINK || len(m.Data) < unix.SizeofIfInfomsg {
			continue
		}
		attrs, err := syscall.ParseNetlinkRouteAttr(m)
		if err != nil {
			continue
		}
		index := int(int32(binary.NativeEndian.Uint32(m.Data[4:])))
		for _, a := range attrs {
			if a.Attr.Type == unix.IFLA_STATS64 && len(a.Value) >= missedOffset+8 {
				missed[index] = int64(binary.NativeEndian.Uint64(a.Value[missedOffset:]))
			}
		}
	}
	return missed
}
