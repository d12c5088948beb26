package pcaps

import (
	"bytes"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var testFrames = [][]byte{
	[]byte("a frame of twenty-eight bytes"), {}, bytes.Repeat([]byte{0xee}, 1501), []byte("odd"),
}

func TestWriterRoundTrip(t *testing.T) {
	ifaces := []Interface{
		{Name: "eth7", Description: "tor3 uplink", Link: LinkEthernet, SnapLen: 2000, SpeedBps: 400e9, Received: -1, Dropped: -1, FCSBytes: -1, Nanos: true},
		{ID: 1, Name: "ib0", Link: LinkInfiniBand, Received: -1, Dropped: -1, FCSBytes: -1, Nanos: true},
	}
	in := []Record{
		{Time: 1_700_000_000_123_456_789, Wire: 64, Iface: 0, Link: LinkEthernet, Dir: DirInbound},
		{Time: 1_700_000_000_123_456_789, Wire: 9000, Iface: 1, Link: LinkInfiniBand, Dir: DirOutbound, Lost: 65535},
		{Time: 1_700_000_001_000_000_001, Wire: 1501, Iface: 0, Link: LinkEthernet, Flags: FlagRxError},
		{Time: 0, Wire: 3, Iface: 1, Link: LinkInfiniBand},
	}
	var b bytes.Buffer
	w, err := NewPcapngWriter(&b, ifaces)
	require.NoError(t, err)
	for i, r := range in {
		require.NoError(t, w.Write(r, testFrames[i], fmt.Sprintf("packet %d of the original", i+1)))
	}
	require.NoError(t, w.Flush())

	f := openBytes(t, b.Bytes())
	recs, frames := drain(t, f)
	require.Equal(t, ifaces, f.Interfaces())
	require.Len(t, recs, len(in))
	for i, r := range recs {
		want := in[i]
		want.Off, want.Cap = r.Off, uint32(len(testFrames[i]))
		assert.Equal(t, want, r, "record %d", i)
		assert.Equal(t, testFrames[i], append([]byte{}, frames[i]...), "frame %d", i)
	}
	assert.Equal(t, []Input{{Path: "-", Format: FormatPcapng, SizeBytes: -1, Complete: true, Packets: 4}}, f.Inputs())
}

func TestPcapWriterRoundTrip(t *testing.T) {
	data := pcapOf(t, LinkRaw, 5, 6, 7)
	f := openBytes(t, data)
	recs, _ := drain(t, f)
	require.Len(t, recs, 3)
	for i, r := range recs {
		assert.Equal(t, int64(5+i), r.Time)
		assert.EqualValues(t, LinkRaw, r.Link)
	}
	assert.True(t, f.Interfaces()[0].Nanos)
}

func TestWriterRefuses(t *testing.T) {
	w, err := NewPcapWriter(&bytes.Buffer{}, LinkEthernet, 0)
	require.NoError(t, err)
	assert.ErrorContains(t, w.Write(Record{Link: 101}, nil, ""), "link type 101")
	assert.ErrorContains(t, w.Write(Record{Link: 1, Time: -1}, nil, ""), "before 1970")
	assert.ErrorContains(t, w.Write(Record{Link: 1, Time: 1 << 62}, nil, ""), "after 2106")
	assert.ErrorContains(t, w.Write(Record{Link: 1}, make([]byte, maxFrame+1), ""), "believes")
	w, err = NewPcapngWriter(&bytes.Buffer{}, []Interface{{Link: 1}})
	require.NoError(t, err)
	assert.ErrorContains(t, w.Write(Record{Link: 1, Iface: 1}, nil, ""), "interface 1 of 1")
	assert.ErrorContains(t, w.Write(Record{Link: 247}, nil, ""), "link type 247")
	_, err = NewPcapngWriter(&bytes.Buffer{}, nil)
	assert.Error(t, err)
}

// Another reader must see what was written: tshark, where it is installed.
func TestWriterIsReadByTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("tshark is not installed")
	}
	path := filepath.Join(t.TempDir(), "w.pcapng")
	var b bytes.Buffer
	w, err := NewPcapngWriter(&b, []Interface{{Name: "eth7", Link: LinkEthernet}})
	require.NoError(t, err)
	require.NoError(t, w.Write(Record{Time: 1_700_000_000_123_456_789, Wire: 777, Link: LinkEthernet, Dir: DirInbound, Lost: 3}, make([]byte, 61), "was 8,120"))
	require.NoError(t, w.Flush())
	writeFile(t, path, b.Bytes())
	out, err := exec.Command(tshark, "-r", path, "-T", "fields", "-E", "separator=|", "-e", "frame.time_epoch", "-e", "frame.len", "-e", "frame.cap_len",
		"-e", "frame.interface_name", "-e", "frame.packet_flags_direction", "-e", "frame.comment").Output()
	require.NoError(t, err)
	got := strings.Split(strings.TrimSpace(string(out)), "|")
	require.Len(t, got, 6)
	assert.Equal(t, []string{"1700000000.123456789", "777", "61", "eth7"}, got[:4])
	assert.Contains(t, got[4], "1")
	assert.Equal(t, "was 8,120", got[5])
}
