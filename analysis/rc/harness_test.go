package rc

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// sharedDir finds the folder of captures beside the repository.
func sharedDir(t testing.TB) string {
	t.Helper()
	if d := os.Getenv("RDMASCOPE_SHARED"); d != "" {
		return d
	}
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if d := filepath.Join(dir, "..", "shared"); isDir(d) {
			return d
		}
	}
	t.Skip("no ../shared: the captures are not here")
	return ""
}

func isDir(d string) bool {
	s, err := os.Stat(d)
	return err == nil && s.IsDir()
}

// capture is a decoded capture file.
type capture struct {
	packets []wire.Packet
}

// loadCapture reads a pcap or pcapng file, gzipped or not.
func loadCapture(t testing.TB, name string) *capture {
	t.Helper()
	raw, err := os.ReadFile(name)
	require.NoError(t, err)
	if strings.HasSuffix(name, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		require.NoError(t, err)
		raw, err = io.ReadAll(z)
		require.NoError(t, err)
	}
	c := &capture{}
	if binary.LittleEndian.Uint32(raw) == 0x0a0d0d0a {
		c.readNg(t, raw)
	} else {
		c.readPcap(t, raw)
	}
	return c
}

func (c *capture) readPcap(t testing.TB, raw []byte) {
	r, err := pcapgo.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	link := uint16(binary.LittleEndian.Uint32(raw[20:])) // gopacket's LinkType has 8 bits
	for {
		data, ci, err := r.ReadPacketData()
		if err != nil {
			return
		}
		c.add(data, ci.Timestamp.UnixNano(), uint32(ci.Length), 0, link)
	}
}

func (c *capture) readNg(t testing.TB, raw []byte) {
	r, err := pcapgo.NewNgReader(bufio.NewReader(bytes.NewReader(raw)), pcapgo.NgReaderOptions{WantMixedLinkType: true})
	require.NoError(t, err)
	for {
		data, ci, err := r.ReadPacketData()
		if err != nil {
			return
		}
		c.add(data, ci.Timestamp.UnixNano(), uint32(ci.Length), uint16(ci.InterfaceIndex), 1)
	}
}

var testDecoder = wire.NewDecoder(wire.Config{})

func (c *capture) add(data []byte, ns int64, onWire uint32, iface, link uint16) {
	c.packets = append(c.packets, wire.Packet{Number: int64(len(c.packets) + 1), Time: ns, Data: data, Wire: onWire,
		Iface: iface, Link: link})
	testDecoder.Decode(&c.packets[len(c.packets)-1])
}

// feeder does for a shard what the engine does: it numbers flows and reads CM.
type feeder struct {
	s     *Shard
	ids   map[FlowKey]int32
	reqs  map[cmID]CMConnect
	noCM  bool
	check func(n int)
}

type cmID struct {
	host wire.Addr
	id   uint32
}

func newFeeder(o Options) *feeder {
	return &feeder{s: NewShard(o), ids: map[FlowKey]int32{}, reqs: map[cmID]CMConnect{}}
}

func (f *feeder) run(c *capture) *Result {
	for i := range c.packets {
		f.packet(&c.packets[i])
		if f.check != nil {
			f.check(i)
		}
	}
	return f.s.Result()
}

func (f *feeder) packet(p *wire.Packet) {
	if !p.Kind.IsRoCE() || !p.Has(wire.FlagBTH) {
		return
	}
	if p.RoCE.BTH.DestQP == roce.QPNGSI {
		if !f.noCM {
			f.cm(p)
		}
		return
	}
	k := FlowKey{p.Iface, p.Kind, p.Src, p.Dst, uint32(p.RoCE.BTH.DestQP)}
	id, ok := f.ids[k]
	if !ok {
		id = int32(len(f.ids))
		f.ids[k] = id
		f.s.AddFlow(id, k)
	}
	p.Print = Fingerprint(p)
	f.s.Packet(p, id)
}

func b24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

// cm reads REQ, REP and DREQ (IBTA 12.6): just enough to pair.
func (f *feeder) cm(p *wire.Packet) {
	m := p.Payload()
	if len(m) < 256 || m[1] != 7 {
		return
	}
	b := m[24:]
	id := binary.BigEndian.Uint32(b)
	switch binary.BigEndian.Uint16(m[16:]) {
	case 0x10:
		f.reqs[cmID{p.Src, id}] = CMConnect{Iface: p.Iface, A: p.Src, B: p.Dst, QPNA: b24(b[32:]), PSNA: b24(b[44:]),
			MTU: uint32(roce.MTU(b[50] >> 4).Bytes()), AckTimeoutExp: b[95] >> 3, RetryCount: b[47] & 7, RNRRetryA: b[50] & 7, RNRRetryB: b[50] & 7,
			ResponderResources: b[35], InitiatorDepth: b[39], FlowLabel: binary.BigEndian.Uint32(b[88:]) >> 12}
	case 0x13:
		c, ok := f.reqs[cmID{p.Dst, binary.BigEndian.Uint32(b[4:])}]
		if !ok {
			return
		}
		c.QPNB, c.PSNB, c.Time, c.Number = b24(b[12:]), b24(b[20:]), p.Time, p.Number
		f.s.CMConnect(c)
	case 0x15:
		f.s.CMDisconnect(CMDisconnect{Iface: p.Iface, From: p.Src, To: p.Dst, RemoteQPN: b24(b[8:]), Time: p.Time, Number: p.Number})
	}
}
