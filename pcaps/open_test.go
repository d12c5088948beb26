package pcaps

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	put := func(name string, data string) string {
		path := filepath.Join(dir, name)
		writeFile(t, path, []byte(data))
		return path
	}
	for _, c := range []struct{ path, want string }{
		{filepath.Join(dir, "missing.pcap"), "no such file"},
		{dir, "is a directory"},
		{put("empty", ""), "empty"},
		{put("notes.txt", "hi\n"), "not a pcap or pcapng file (starts 68 69 0a)"},
		{put("longer.txt", "hello, world\n"), "not a pcap or pcapng file (starts 68 65 6c 6c 6f 2c 20 77)"},
		{put("pcap.gz", string(gzipped(t, []byte("hi\n")))), "not a pcap or pcapng file (starts 68 69 0a)"},
		{put("empty.gz", string(gzipped(t, nil))), "empty"},
		{put("cut.gz", "\x1f\x8b\x08\x00"), "cut short in the gzip header"},
		{put("twice.gz", string(gzipped(t, gzipped(t, []byte("hi\n"))))), "gzip inside gzip: decompress it first"},
		{put("xz", "\xfd7zXZ\x00\x00\x04"), "xz: decompress it first: xz -dc " + dir + "/xz | rdmascope -"},
		{put("two words.bz2", "BZh91AY"), "bzip2: decompress it first: bzip2 -dc '" + dir + "/two words.bz2' | rdmascope -"},
		{put("s.cap", "TRSNIFF data    \x1a\x02"), "Sniffer (DOS) capture: convert it first: editcap -F pcap " + dir + "/s.cap OUT.pcap"},
		{put("snoop", "snoop\x00\x00\x00\x00\x00\x00\x02"), "snoop capture: convert it first: editcap -F pcap " + dir + "/snoop OUT.pcap"},
		{put("netmon", "GMBU\x00\x02\x01\x00"), "Network Monitor 2 capture: convert it first: editcap -F pcap " + dir + "/netmon OUT.pcap"},
		{put("tar", string(make([]byte, 257))+"ustar\x0000"), "tar archive: decompress it first: tar -xOf " + dir + "/tar | rdmascope -"},
		{put("text", "No.     Time           Source"), "text printed by Wireshark: not a capture: give the pcap or pcapng that it was made from"},
		{put("json", `[{"_index": "packets-2024-01-01"`), "JSON written by Wireshark: not a capture: give the pcap or pcapng that it was made from"},
		{put("pdml", `<?xml version="1.0"?><pdml version="0">`), "XML written by Wireshark: not a capture: give the pcap or pcapng that it was made from"},
		{put("p1", "\xd4\xc3\xb2\xa1\x02\x00"), "cut short in the pcap file header"},
		{put("p2", string(newBuilder(true).header(magicMicros, 1, 4, 0, 1).b)), "pcap of version 1.4, not read (2.x and 543.0 are)"},
		{put("n1", "\x0a\x0d\x0d\x0a\x1c\x00"), "cut short in the pcapng section header"},
		{put("n2", string(newBuilder(true).shb().b[:27])), "cut short in the pcapng section header"},
		{put("n3", "\x0a\x0d\x0d\x0a\x1c\x00\x00\x00????"), "not a pcapng file: section header without a byte-order magic"},
		{put("n4", string(newBuilder(false).u32(blockSection, 0xfffffffc, byteOrderMagic).b)), "damaged: pcapng section header says 4,294,967,292 bytes"},
		{put("n5", string(newBuilder(false).u32(blockSection, 28, byteOrderMagic, 1, 0, 0, 29).b)), "damaged pcapng: before the first packet: block says 28 bytes at its start, 29 at its end"},
	} {
		_, err := Open([]string{c.path}, Options{})
		var ue *UnreadableError
		require.True(t, errors.As(err, &ue), "%s: %v", c.path, err)
		assert.Equal(t, c.path, ue.Path)
		assert.Equal(t, c.path+": "+c.want, err.Error())
		assert.NotContains(t, err.Error(), "\n")
	}
	_, err := Open([]string{Stdin}, Options{Stdin: strings.NewReader("BZh91")})
	assert.EqualError(t, err, "stdin: bzip2: decompress it first: … | bzip2 -dc | rdmascope -")
	_, err = Open([]string{Stdin}, Options{Stdin: strings.NewReader("")})
	assert.EqualError(t, err, "stdin: empty")
	_, err = Open([]string{Stdin, Stdin}, Options{Stdin: strings.NewReader("")})
	assert.EqualError(t, err, "stdin: named twice")
	_, err = Open([]string{filepath.Join(dir, "missing.pcap")}, Options{})
	assert.ErrorIs(t, err, os.ErrNotExist)
}

func TestOpenNothing(t *testing.T) {
	f, err := Open(nil, Options{})
	require.NoError(t, err)
	recs, _ := drain(t, f)
	assert.Empty(t, recs)
}

func TestCompressed(t *testing.T) {
	plain := pcapOf(t, 1, 1, 2, 3)
	dir := t.TempDir()
	for name, data := range map[string][]byte{
		"":     plain,
		"gzip": append(gzipped(t, plain[:50]), gzipped(t, plain[50:])...), // two members
		"zstd": append([]byte("\x52\x2a\x4d\x18\x03\x00\x00\x00abc"), zstded(t, plain)...),
	} {
		path := filepath.Join(dir, "x.pcap") // recognised by content
		writeFile(t, path, data)
		f, err := Open([]string{path}, Options{})
		require.NoError(t, err, name)
		recs, _ := drain(t, f)
		require.Len(t, recs, 3)
		assert.Equal(t, []Input{{Path: path, Format: FormatPcap, Compression: name, SizeBytes: int64(len(data)), Complete: true, Packets: 3}}, f.Inputs())
		read, total := f.Progress()
		assert.EqualValues(t, len(data), read)
		assert.EqualValues(t, len(data), total)
		require.NoError(t, f.Close())
	}
}

func TestDamagedCompression(t *testing.T) {
	plain := pcapOf(t, 1, 1, 2, 3)
	damage := func(z []byte, fromEnd int) []byte { z[len(z)-fromEnd] ^= 1; return z }
	for _, c := range []struct {
		name string
		data []byte
		recs int
		want string
	}{
		{"gzip checksum", damage(gzipped(t, plain), 6), 3, "damaged after packet 3: gzip stream: "},
		{"garbage after gzip", append(gzipped(t, plain), "garbage that is no gzip"...), 3, "damaged after packet 3: gzip stream: "},
		{"zstd checksum of the second frame", append(zstded(t, plain[:50]), damage(zstded(t, plain[50:]), 1)...), 1, "damaged in packet 2: zstd stream: "},
	} {
		f := openBytes(t, c.data)
		recs, _ := drain(t, f)
		assert.Len(t, recs, c.recs, c.name)
		assert.Contains(t, f.Inputs()[0].Error, c.want, c.name)
		assert.False(t, f.Inputs()[0].Complete)
	}
	_, err := Open([]string{Stdin}, Options{Stdin: bytes.NewReader(damage(zstded(t, plain), 1))})
	assert.EqualError(t, err, "stdin: cannot be decompressed: CRC check failed")
}

// A read error is a property of one input: what came before it counts.
func TestReadError(t *testing.T) {
	plain := pcapOf(t, 1, 1, 2, 3)
	src := io.MultiReader(bytes.NewReader(plain[:len(plain)-1]), failedReader{&os.PathError{Op: "read", Path: "x", Err: errors.New("input/output error")}})
	f, err := Open([]string{Stdin}, Options{Stdin: src})
	require.NoError(t, err)
	recs, _ := drain(t, f)
	assert.Len(t, recs, 2)
	assert.Equal(t, "read error in packet 3: input/output error", f.Inputs()[0].Error)
	_, total := f.Progress()
	assert.EqualValues(t, -1, total)
}

// A slow stream's packets come out as they arrive, not when a block is full.
func TestStreamIsPrompt(t *testing.T) {
	data := pcapOf(t, 1, 1, 2)
	r, w := io.Pipe()
	defer w.Close()
	go func() { _, _ = w.Write(data[:len(data)-5]) }() // and then silence
	f, err := Open([]string{Stdin}, Options{Stdin: r})
	require.NoError(t, err)
	got := make(chan int)
	go func() {
		_, recs, _ := f.ReadBlock(nil, nil)
		got <- len(recs)
	}()
	select {
	case n := <-got:
		assert.Equal(t, 1, n)
	case <-time.After(10 * time.Second):
		t.Fatal("the first packet waits for more to come")
	}
}

func TestLinkTypeName(t *testing.T) {
	assert.Equal(t, "ETHERNET", LinkTypeName(LinkEthernet))
	assert.Equal(t, "INFINIBAND", LinkTypeName(LinkInfiniBand))
	assert.Equal(t, "IEEE802_11_RADIOTAP", LinkTypeName(127))
	assert.Equal(t, "USER0", LinkTypeName(147))
	assert.Equal(t, "USER15", LinkTypeName(162))
	assert.Equal(t, "unassigned or unknown", LinkTypeName(9999))
}

func TestComma(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 81234568: "81,234,568", -1234: "-1,234", -123: "-123"} {
		assert.Equal(t, want, comma(n))
	}
}
