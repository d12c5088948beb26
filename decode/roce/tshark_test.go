package roce

import (
	"encoding/binary"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// The names are those of Wireshark's Info column, for the opcodes that it
// knows. It takes the RD group for NVIDIA's DC, and says DC.
func TestOpcodeNamesAgainstTshark(t *testing.T) {
	tshark, err := exec.LookPath("tshark")
	if err != nil {
		t.Skip("skipped: no tshark here")
	}
	path := filepath.Join(t.TempDir(), "opcodes.pcap")
	require.NoError(t, os.WriteFile(path, allOpcodes(), 0o600))
	out, err := exec.Command(tshark, "-r", path, "--disable-protocol", "rpcordma", "-T", "fields",
		"-e", "infiniband.bth.opcode", "-e", "_ws.col.Info").Output()
	require.NoError(t, err)
	compared := 0
	for line := range strings.Lines(string(out)) {
		number, info, _ := strings.Cut(strings.TrimSpace(line), "\t")
		o, err := strconv.Atoi(number)
		require.NoError(t, err, line)
		name, _, _ := strings.Cut(info, "QP=")
		name = strings.TrimSpace(name)
		switch {
		case strings.HasPrefix(name, "Unknown"), strings.HasSuffix(name, "Unknown Opcode"), name == "DC Last Immediate":
			continue // unknown to it, or its typing error for 0x43
		}
		name = strings.Replace(name, "DC ", "RD/DC ", 1)
		assert.Equal(t, name, Opcode(o).String(), "%02x", o)
		compared++
	}
	assert.GreaterOrEqual(t, compared, 23+12+20+2)
}

// allOpcodes makes a pcap with one packet of each opcode; the bytes behind the
// BTH are such that no other dissector takes them for its own.
func allOpcodes() []byte {
	file := binary.LittleEndian.AppendUint32(nil, 0xa1b2c3d4)
	file = append(file, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 1, 0, 0, 0)
	for o := range 256 {
		udp := []byte{0xc0, 0, 0x12, 0xb7, 0, 84, 0, 0}
		frame := append(make([]byte, 12), 8, 0)
		frame = append(frame, 0x45, 0, 0, 104, 0, 0, 0x40, 0, 64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2)
		frame = append(frame, udp...)
		frame = append(frame, byte(o), 0x40, 0xff, 0xff, 0, 0x45, 0x01, 0x23, 0, 0, 0, byte(o))
		for range 64 {
			frame = append(frame, 0x55)
		}
		for _, n := range []int{o, 0, len(frame), len(frame)} {
			file = binary.LittleEndian.AppendUint32(file, uint32(n))
		}
		file = append(file, frame...)
	}
	return file
}
