package synth

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/gopacket/pcapgo"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// captureTruth is the part of a truth file that is checked here.
type captureTruth struct {
	Name, File, Description string
	Tshark                  struct{ Packets int }
	Derived                 struct {
		OK  int `json:"icrc_ok"`
		Bad int `json:"icrc_bad"`
	}
}

// openCapture gives the packets of a capture of pcaps/testdata.
func openCapture(t *testing.T, file string) (packetReader, uint32) {
	t.Helper()
	raw, err := os.ReadFile(file)
	require.NoError(t, err)
	if strings.HasSuffix(file, ".gz") {
		z, err := gzip.NewReader(bytes.NewReader(raw))
		require.NoError(t, err)
		raw, err = io.ReadAll(z)
		require.NoError(t, err)
	}
	if be.Uint32(raw) == 0x0a0d0d0a {
		r, err := pcapgo.NewNgReader(bytes.NewReader(raw), pcapgo.DefaultNgReaderOptions)
		require.NoError(t, err)
		return r, uint32(r.LinkType())
	}
	r, err := pcapgo.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	return r, le.Uint32(raw[20:]) // pcapgo keeps eight bits of the link type
}

// TestTestdata holds every capture of pcaps/testdata against its truth: it is
// described, has the packets it should have, and the ICRCs that an independent
// parser called good are those that this package would have written.
func TestTestdata(t *testing.T) {
	dir := filepath.Join("..", "testdata")
	truths, err := filepath.Glob(filepath.Join(dir, "*.truth.json"))
	require.NoError(t, err)
	require.NotEmpty(t, truths)
	for _, file := range truths {
		name := strings.TrimSuffix(filepath.Base(file), ".truth.json")
		t.Run(name, func(t *testing.T) {
			raw, err := os.ReadFile(file)
			require.NoError(t, err)
			var truth captureTruth
			require.NoError(t, json.Unmarshal(raw, &truth))
			assert.Equal(t, name, truth.Name)
			text, err := os.ReadFile(filepath.Join(dir, name+".md"))
			require.NoError(t, err)
			assert.Contains(t, string(text), truth.Description)
			r, link := openCapture(t, filepath.Join(dir, truth.File))
			packets, good, bad := 0, 0, 0
			for {
				data, info, err := r.ReadPacketData()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				packets++
				if info.CaptureLength < info.Length {
					continue
				}
				switch checkICRC(data, link) {
				case 1:
					good++
				case -1:
					bad++
				}
			}
			assert.Equal(t, truth.Tshark.Packets, packets)
			if truth.Derived.OK > 0 {
				assert.Equal(t, truth.Derived.OK, good)
				assert.Equal(t, truth.Derived.Bad, bad)
			}
		})
	}
}

// checkICRC is 1 for a RoCEv2 packet with a good ICRC, -1 for a bad one, 0 for
// everything else. It knows just what these captures hold.
func checkICRC(f []byte, link uint32) int {
	head := 14
	if link == LinkSLL2 {
		head = 20
	} else if be.Uint16(f[12:]) == EtherVLAN {
		head = 18
	}
	ip := f[head:]
	size, udp := 0, 20
	switch {
	case len(ip) >= 28 && ip[0] == 0x45 && ip[9] == ProtoUDP:
		size = int(be.Uint16(ip[2:]))
	case len(ip) >= 48 && ip[0]>>4 == 6 && ip[6] == ProtoUDP:
		size, udp = 40+int(be.Uint16(ip[4:])), 40
	default:
		return 0
	}
	if be.Uint16(ip[udp+2:]) != RoCEPort || size > len(ip) || size < udp+8+12+4 {
		return 0
	}
	crc := icrcIPv6
	if udp == 20 {
		crc = icrcIPv4
	}
	c := crc(ip[:size-4], ip[udp:size-4])
	if bytes.Equal(c[:], ip[size-4:size]) {
		return 1
	}
	return -1
}
