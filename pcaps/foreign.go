package pcaps

import "bytes"

// foreign is a format that is recognised and not read.
type foreign struct {
	magic string
	at    int // offset of magic
	name  string
	how   conversion
}

// conversion makes the advice that turns a file into one that is read.
type conversion func(path string) string

func unpackWith(cmd string) conversion {
	return func(path string) string {
		if path == Stdin {
			return "decompress it first: … | " + cmd + " | rdmascope -"
		}
		return "decompress it first: " + cmd + " " + shellName(path) + " | rdmascope -"
	}
}

func editcap(path string) string {
	if path == Stdin {
		return "convert it first: … | editcap -F pcap - - | rdmascope -"
	}
	return "convert it first: editcap -F pcap " + shellName(path) + " OUT.pcap"
}

func saveAgain(string) string { return "not a capture: give the pcap or pcapng that it was made from" }

func (f foreign) refuse(path string) string { return f.name + ": " + f.how(path) }

// foreignFormats is in order: the first that fits is it. Magic numbers are
// those of Wireshark's wiretap and of file(1).
var foreignFormats = []foreign{
	{"BZh", 0, "bzip2", unpackWith("bzip2 -dc")},
	{"\xfd7zXZ\x00", 0, "xz", unpackWith("xz -dc")},
	{"\x04\x22\x4d\x18", 0, "lz4", unpackWith("lz4 -dc")},
	{"LZIP", 0, "lzip", unpackWith("lzip -dc")},
	{"\x89LZO\x00\r\n\x1a\n", 0, "lzop", unpackWith("lzop -dc")},
	{"\x1f\x9d", 0, "compress (.Z)", unpackWith("gzip -dc")},
	{"PK\x03\x04", 0, "zip archive", unpackWith("unzip -p")},
	{"7z\xbc\xaf\x27\x1c", 0, "7z archive", unpackWith("7z x -so")},
	{"ustar", 257, "tar archive", unpackWith("tar -xOf")},

	{"TRSNIFF data    \x1a", 0, "Sniffer (DOS) capture", editcap},
	{"XCP\x00", 0, "Sniffer (Windows) or NetXRay capture", editcap},
	{"VL\x00\x00", 0, "NetXRay 1.0 capture", editcap},
	{"snoop\x00\x00\x00", 0, "snoop capture", editcap},
	{"RTSS", 0, "Network Monitor 1 capture", editcap},
	{"GMBU", 0, "Network Monitor 2 capture", editcap},
	{"iptrace 1.0", 0, "AIX iptrace 1 capture", editcap},
	{"iptrace 2.0", 0, "AIX iptrace 2 capture", editcap},
	{"TR\x00d\x00", 0, "HP-UX nettl capture", editcap},
	{"\x05VNF", 0, "Visual Networks capture", editcap},
	{"\x7fver", 0, "OmniPeek (WildPackets) capture", editcap},
	{"ObserverPktBuffe", 0, "Network Instruments Observer capture", editcap},
	{"\xaa\xaa\xaa\xaa", 0, "5Views capture", editcap},
	{"\x00\x00\x02\x00\x12\x05\x00\x10", 0, "Tektronix K12 capture", editcap},
	{"btsnoop\x00", 0, "btsnoop capture", editcap},
	{"LOGG", 0, "Vector BLF log", editcap},
	{"\xac\x01\x00\x1c", 0, "IXIA lcap capture", editcap},
	{"\x1c\x00\x01\xac", 0, "IXIA lcap capture", editcap},
	{"\xab\x01\x00\x1c", 0, "IXIA lcap capture", editcap},
	{"\x1c\x00\x01\xab", 0, "IXIA lcap capture", editcap},
	{"\xcd\x34\xb2\xa1", 0, "pcap of a variant with magic a1b234cd", editcap},
	{"\xa1\xb2\x34\xcd", 0, "pcap of a variant with magic a1b234cd", editcap},
	{"\x4d\x3c\x2b\xa1", 0, "pcap of a variant with magic a12b3c4d", editcap},
	{"\xa1\x2b\x3c\x4d", 0, "pcap of a variant with magic a12b3c4d", editcap},

	{"No.     Time", 0, "text printed by Wireshark", saveAgain},
	{"Frame 1: ", 0, "text printed by Wireshark", saveAgain},
	{"\"No.\",\"Time\"", 0, "CSV written by Wireshark", saveAgain},
}

func foreignFormat(b []byte) (foreign, bool) {
	for _, f := range foreignFormats {
		if len(b) > f.at && bytes.HasPrefix(b[f.at:], []byte(f.magic)) {
			return f, true
		}
	}
	start := b[:min(len(b), 1024)]
	switch {
	case bytes.HasPrefix(b, []byte("<?xml")) && (bytes.Contains(start, []byte("<pdml")) || bytes.Contains(start, []byte("<psml"))):
		return foreign{name: "XML written by Wireshark", how: saveAgain}, true
	case bytes.HasPrefix(b, []byte("[")) && bytes.Contains(start, []byte(`"_index": "packets-`)):
		return foreign{name: "JSON written by Wireshark", how: saveAgain}, true
	}
	return foreign{}, false
}
