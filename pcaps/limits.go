package pcaps

import (
	"fmt"
	"strconv"
)

const (
	// blockBytes is the size of a block's buffer: big enough that a read
	// and a turn of whoever takes it cost nothing per packet, small enough
	// that what is under way doesn't fill the caches.
	blockBytes = 256 << 10

	// maxFrame is the longest frame believed. libpcap's own bound is 256 KiB
	// (MAXIMUM_SNAPLEN); a frame that GRO or BIG TCP merged may reach 512 KiB.
	// A record that says more is damage: no recorder writes it.
	maxFrame = 1 << 20

	// maxBlock bounds a pcapng block that has to be looked at as a whole: a
	// frame, with 64 KiB of options twice over. Other blocks are passed over
	// as they arrive and have no bound.
	maxBlock = maxFrame + 128<<10

	// maxInterfaces is what Record.Iface can number.
	maxInterfaces = 1 << 16

	// maxName bounds the text kept of an interface's name or description.
	maxName = 256
)

// comma writes n with thousands separators.
func comma(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

func errNotBelievable(packet, bytes int64) error {
	return fmt.Errorf("packet %s: record says %s bytes: not believable", comma(packet), comma(bytes))
}
