package iwarp_test

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/iwarp"
)

// sharedDir finds the folder of shared captures beside the repository.
func sharedDir(t testing.TB) string {
	t.Helper()
	if d := os.Getenv("RDMASCOPE_SHARED"); d != "" {
		return d
	}
	dir, err := os.Getwd()
	require.NoError(t, err)
	for dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		dir = filepath.Dir(dir)
	}
	d := filepath.Join(filepath.Dir(dir), "shared")
	if _, err := os.Stat(d); err != nil {
		t.Skip("no shared captures beside the repository")
	}
	return d
}

// tcpSegment is one captured TCP packet of a direction.
type tcpSegment struct {
	flow     string // "ip:port > ip:port"
	back     string
	seq, ack uint32
	syn, fin bool
	payload  []byte
	wire     int
	at       int64
}

// readCapture returns the TCP packets of a pcap file. With checked, packets
// with a bad TCP checksum are left out (their receiver drops them).
func readCapture(t testing.TB, path string, checked bool) []tcpSegment {
	t.Helper()
	f, err := os.Open(path)
	require.NoError(t, err)
	defer f.Close()
	var r io.Reader = bufio.NewReader(f)
	if strings.HasSuffix(path, ".gz") {
		r, err = gzip.NewReader(r)
		require.NoError(t, err)
	}
	var file [24]byte // only little-endian files with Ethernet frames are read here
	_, err = io.ReadFull(r, file[:])
	require.NoError(t, err)
	require.EqualValues(t, layers.LinkTypeEthernet, file[20])
	var segs []tcpSegment
	for {
		var rec [16]byte
		if _, err := io.ReadFull(r, rec[:]); errors.Is(err, io.EOF) {
			return segs
		}
		data := make([]byte, binary.LittleEndian.Uint32(rec[8:]))
		_, err = io.ReadFull(r, data)
		require.NoError(t, err)
		at := int64(binary.LittleEndian.Uint32(rec[:]))*1e9 + int64(binary.LittleEndian.Uint32(rec[4:]))
		p := gopacket.NewPacket(data, layers.LayerTypeEthernet, gopacket.DecodeOptions{NoCopy: true})
		tcp, _ := p.Layer(layers.LayerTypeTCP).(*layers.TCP)
		if tcp == nil || p.NetworkLayer() == nil {
			continue
		}
		if checked && badChecksum(p, tcp) {
			continue
		}
		src, dst := p.NetworkLayer().NetworkFlow().Endpoints()
		a := fmt.Sprintf("%s:%d", longForm(src), uint16(tcp.SrcPort))
		b := fmt.Sprintf("%s:%d", longForm(dst), uint16(tcp.DstPort))
		segs = append(segs, tcpSegment{flow: a + " > " + b, back: b + " > " + a, seq: tcp.Seq, ack: tcp.Ack,
			syn: tcp.SYN, fin: tcp.FIN, payload: tcp.LayerPayload(), at: at})
	}
}

// longForm writes an address as the captures' JSON does.
func longForm(e gopacket.Endpoint) string {
	a, _ := netip.AddrFromSlice(e.Raw())
	return a.StringExpanded()
}

func badChecksum(p gopacket.Packet, tcp *layers.TCP) bool {
	src, dst := p.NetworkLayer().NetworkFlow().Endpoints()
	seg := append(append([]byte{}, tcp.LayerContents()...), tcp.LayerPayload()...)
	b := append(append([]byte{}, src.Raw()...), dst.Raw()...)
	b = append(b, 0, 6, byte(len(seg)>>8), byte(len(seg)))
	b = append(b, seg...)
	if len(b)%2 == 1 {
		b = append(b, 0)
	}
	sum := uint32(0)
	for i := 0; i < len(b); i += 2 {
		sum += uint32(b[i])<<8 | uint32(b[i+1])
	}
	for sum>>16 != 0 {
		sum = sum&0xffff + sum>>16
	}
	return sum != 0xffff
}

// held is a segment that waits for those before it.
type held struct {
	off uint64
	seg tcpSegment
}

// direction puts one direction's segments in order: a test's reassembler.
type direction struct {
	stream *iwarp.Stream
	known  bool
	first  uint32 // sequence number of offset origin
	buf    []held
	data   int // data segments
}

// origin of the offsets, so that octets before the first seen have one too.
const origin = 1 << 32

// reassembler feeds a capture's connections to Pairs.
type reassembler struct {
	dirs  map[string]*direction
	h     func(flow string) iwarp.Handler
	hs    map[string]iwarp.Handler
	limit int // held segments at which the hole is given up
}

func newReassembler(h func(flow string) iwarp.Handler) *reassembler {
	return &reassembler{dirs: map[string]*direction{}, h: h, hs: map[string]iwarp.Handler{}, limit: 200}
}

func (r *reassembler) dir(s *tcpSegment) *direction {
	if d := r.dirs[s.flow]; d != nil {
		return d
	}
	p := iwarp.NewPair()
	r.dirs[s.flow] = &direction{stream: &p.Streams[0]}
	r.dirs[s.back] = &direction{stream: &p.Streams[1]}
	r.hs[s.flow], r.hs[s.back] = r.h(s.flow), r.h(s.back)
	return r.dirs[s.flow]
}

func (r *reassembler) add(s tcpSegment) {
	d := r.dir(&s)
	if s.syn {
		d.known, d.first = true, s.seq+1
		return
	}
	if len(s.payload) == 0 {
		return
	}
	d.data++
	if !d.known {
		d.known, d.first = true, s.seq
	}
	off := uint64(int64(origin) + int64(int32(s.seq-d.first)))
	d.buf = append(d.buf, held{off, s})
	sort.SliceStable(d.buf, func(i, j int) bool { return d.buf[i].off < d.buf[j].off })
	next := d.stream.Next()
	if next == 0 {
		next = d.buf[0].off
	}
	r.drain(d, r.hs[s.flow], next)
}

func (r *reassembler) drain(d *direction, h iwarp.Handler, next uint64) {
	for len(d.buf) > 0 && (d.buf[0].off <= next || len(d.buf) > r.limit) {
		s := d.buf[0]
		d.buf = d.buf[1:]
		d.stream.Feed(iwarp.Segment{Offset: s.off, Payload: s.seg.payload, Wire: s.seg.wire, At: s.seg.at}, h)
		next = d.stream.Next()
	}
}

func (r *reassembler) flush() {
	limit := r.limit
	r.limit = -1
	for flow, d := range r.dirs {
		r.drain(d, r.hs[flow], 0)
		d.stream.Close()
	}
	r.limit = limit
}
