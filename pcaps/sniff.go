package pcaps

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"
	"os"
)

// headBytes is how much of an input may be looked at to tell its format. Only
// what the format needs is waited for: a stream may be slow.
const headBytes = 64 << 10

// head is the start of an input, read ahead as far as needed.
type head struct {
	src io.Reader
	buf []byte
	err error // why there is no more, io.EOF at the end
}

// need waits until n bytes are there, and says whether they are.
func (h *head) need(n int) bool {
	for len(h.buf) < n && h.err == nil {
		if cap(h.buf) < n {
			grown := make([]byte, len(h.buf), n)
			copy(grown, h.buf)
			h.buf = grown
		}
		var m int
		m, h.err = h.src.Read(h.buf[len(h.buf):n])
		h.buf = h.buf[:len(h.buf)+m]
	}
	return len(h.buf) >= n
}

// rest reads the input from its start again.
func (h *head) rest() io.Reader {
	return io.MultiReader(bytes.NewReader(h.buf), h.tail())
}

// tail reads what follows the head.
func (h *head) tail() io.Reader {
	if h.err != nil {
		return failedReader{h.err}
	}
	return h.src
}

type failedReader struct{ err error }

func (r failedReader) Read([]byte) (int, error) { return 0, r.err }

// compressionOf recognises the compressions that are read here.
func compressionOf(h *head) string {
	if !h.need(4) {
		return ""
	}
	switch magic := binary.LittleEndian.Uint32(h.buf); {
	case magic&0xffff == 0x8b1f:
		return "gzip"
	case magic == 0xfd2fb528, magic&^0xf == 0x184d2a50: // a frame, a skippable frame (RFC 8878 §3.1)
		return "zstd"
	}
	return ""
}

// formatOf recognises the container, and makes its walker. What is left of
// the head afterwards is the start of the first record.
func formatOf(h *head, path string, input int, tab *ifaceTable) (walker, string, error) {
	if !h.need(1) {
		if h.err != io.EOF {
			return nil, "", unreadableHead(path, h.err)
		}
		return nil, "", unreadable(path, "empty")
	}
	if h.need(4) {
		magic := binary.LittleEndian.Uint32(h.buf)
		switch {
		case isPcapMagic(magic):
			return openPcap(h, path, input, tab)
		case magic == blockSection:
			return openPcapng(h, path, input, tab)
		}
	}
	h.need(headBytes)
	if h.err != nil && h.err != io.EOF {
		return nil, "", unreadableHead(path, h.err)
	}
	if f, ok := foreignFormat(h.buf); ok {
		return nil, "", unreadable(path, f.refuse(path))
	}
	if looksERF(h.buf, len(h.buf) < headBytes) {
		return newERF(input, tab), FormatERF, nil
	}
	return nil, "", unreadable(path, fmt.Sprintf("not a pcap or pcapng file (starts % x)", h.buf[:min(len(h.buf), 8)]))
}

func unreadableHead(path string, err error) error {
	if isRead(err) {
		return unreadableSystem(path, err)
	}
	return &UnreadableError{Path: path, Reason: "cannot be decompressed: " + err.Error(), Err: err}
}

// isRead tells errors of the file itself from those of decompression.
func isRead(err error) bool {
	var pe *os.PathError
	return errors.As(err, &pe)
}

func isPcapMagic(m uint32) bool {
	if m&0xff == 0xa1 {
		m = bits.ReverseBytes32(m)
	}
	return m == magicMicros || m == magicNanos || m == magicModified
}

func openPcap(h *head, path string, input int, tab *ifaceTable) (walker, string, error) {
	if !h.need(pcapHeaderLen) {
		return nil, "", cutHeader(h, path, "the pcap file header")
	}
	w, err := newPcap(h.buf, input, tab)
	if err != nil {
		return nil, "", unreadable(path, err.Error())
	}
	h.buf = h.buf[pcapHeaderLen:]
	return w, FormatPcap, nil
}

// openPcapng checks that the first section header is there and whole; the
// walker reads it again.
func openPcapng(h *head, path string, input int, tab *ifaceTable) (walker, string, error) {
	const what = "the pcapng section header"
	w := newPcapng(input, tab)
	if !h.need(blockMinLen) {
		return nil, "", cutHeader(h, path, what)
	}
	if err := w.order(h.buf[8:]); err != nil {
		return nil, "", unreadable(path, fmt.Sprintf("not a pcapng file: %v", err))
	}
	total := w.u32(h.buf[4:])
	if total < sectionMinLen || total%4 != 0 || total > maxBlock {
		return nil, "", unreadable(path, fmt.Sprintf("damaged: pcapng section header says %s bytes", comma(int64(total))))
	}
	for want := blockMinLen; want < int(total); { // in steps, as long as bytes arrive
		want = min(want+headBytes, int(total))
		if !h.need(want) {
			return nil, "", cutHeader(h, path, what)
		}
	}
	if _, _, err := newPcapng(input, &ifaceTable{}).walk(h.buf[:total], 0, nil); err != nil {
		return nil, "", unreadable(path, "damaged pcapng: "+err.Error())
	}
	return w, FormatPcapng, nil
}

func cutHeader(h *head, path, what string) error {
	if h.err != io.EOF {
		return unreadableHead(path, h.err)
	}
	return unreadable(path, "cut short in "+what)
}
