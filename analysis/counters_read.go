package analysis

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path"
	"strconv"
	"strings"
)

// NICSnapshot is what a host's tools said of a NIC's counters at one moment.
type NICSnapshot struct {
	Device   string // "rxe0/1", "" where the text doesn't tell
	Counters map[string]int64
}

// maxSnapshotCounters bounds what is read: ethtool prints some thousand lines
// for a NIC of many queues.
const maxSnapshotCounters = 1 << 17

var errSnapshotTooLong = errors.New("more counters than any NIC has")

// ReadNICCounters reads a snapshot of counters in any of three layouts:
//
//	link rxe0/1 sent_pkts 21276 …      rdma statistic show link, on one line or several
//	sent_pkts: 21276                   the kernel's hw_counters, with or without a path (grep . hw_counters/*)
//	     rx_prio3_pause: 17            ethtool -S
//
// device picks one link of several, "" the only one. An empty text is one
// snapshot without counters: that is what a driver without any (siw) gives.
func ReadNICCounters(r io.Reader, device string) (NICSnapshot, error) {
	links, err := readLinks(r)
	if err != nil {
		return NICSnapshot{}, err
	}
	if device == "" {
		switch len(links) {
		case 0:
			return NICSnapshot{Counters: map[string]int64{}}, nil
		case 1:
			return links[0], nil
		}
	}
	var names []string
	for _, l := range links {
		if l.Device == device || strings.HasPrefix(l.Device, device+"/") {
			return l, nil
		}
		names = append(names, l.Device)
	}
	return NICSnapshot{}, fmt.Errorf("one device of several must be named: %s", strings.Join(names, ", "))
}

// readLinks reads all links of a text.
func readLinks(r io.Reader) ([]NICSnapshot, error) {
	var links []NICSnapshot
	total := 0
	add := func(name, value string) error {
		v, err := strconv.ParseInt(value, 10, 64)
		if err != nil || name == "lifespan" { // hw_counters' refresh interval
			return nil // headings, and what isn't a counter
		}
		if total++; total > maxSnapshotCounters {
			return errSnapshotTooLong
		}
		if len(links) == 0 {
			links = append(links, NICSnapshot{Counters: map[string]int64{}})
		}
		links[len(links)-1].Counters[name] = v
		return nil
	}
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) >= 2 && words[0] == "link" {
			links = append(links, NICSnapshot{Device: words[1], Counters: map[string]int64{}})
			words = words[2:]
		}
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && len(words) <= 2 {
			// A path may hold colons (PCI addresses), a counter's name none.
			if i := strings.LastIndexByte(lines.Text(), ':'); i > len(name) {
				name, value = lines.Text()[:i], lines.Text()[i+1:]
			}
			if err := add(path.Base(strings.TrimSpace(name)), strings.TrimSpace(value)); err != nil {
				return nil, err
			}
			continue
		}
		for ; len(words) >= 2; words = words[2:] {
			if err := add(words[0], words[1]); err != nil {
				return nil, err
			}
		}
	}
	if err := lines.Err(); err != nil {
		return nil, err
	}
	return links, nil
}
