package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

func TestPortMap(t *testing.T) {
	m, err := readPortMap([]byte(`# links of pod 3
[[port]]
interface = "leaf1-p3"
eth_src = "52-54-00-00-00-0A"
device = "leaf1"
peer = "spine1"

[[port]] # no MAC: whoever else pauses there
interface = "leaf1-p3"
direction = "inbound"
device = "spine1"
peer = "leaf1"
`))
	require.NoError(t, err)
	assert.Equal(t, analysis.PortMap{
		{Interface: "leaf1-p3", EthSrc: "52:54:00:00:00:0a", Device: "leaf1", Peer: "spine1", Line: 2},
		{Interface: "leaf1-p3", Direction: "inbound", Device: "spine1", Peer: "leaf1", Line: 8},
	}, m)
}

// TestPortMapFaults: a map that says less than its author thinks is an error
// that names the line.
func TestPortMapFaults(t *testing.T) {
	port := "[[port]]\ninterface = \"a\"\ndevice = \"x\"\npeer = \"y\"\n"
	for _, c := range []struct{ text, want string }{
		{"", "no [[port]] in it; each names an interface, and a device and its peer"},
		{"[[port]]\ninterface = \"a\"\npeer = \"y\"\n", "line 1: this [[port]] has no device"},
		{port + "\n[[port]]\ndevice = \"x\"\npeer = \"y\"\n", "line 6: this [[port]] has no interface"},
		{port + "mac = \"52:54:00:00:00:0a\"\n", "line 5: no key port.mac (a [[port]] has interface, eth_src, direction, device, peer)"},
		{port + "eth_src = \"52:54\"\n", "line 5: toml: eth_src \"52:54\" is not a MAC address such as 52:54:00:12:34:56"},
		{port + "direction = \"in\"\n", "line 5: toml: direction \"in\" is neither inbound nor outbound"},
		{port + port, "line 5: never reached, since the [[port]] of line 1 fits all that this one does"},
		{"[[port]]\ninterface = \"a\"\ndevice = \"x\"\npeer = \"x\"\n", "line 1: x can't be its own peer"},
		{"[[port]\n", "line 1: "},
	} {
		_, err := readPortMap([]byte(c.text))
		if assert.Error(t, err, c.text) {
			assert.Contains(t, err.Error(), c.want)
		}
	}
}

func TestPriorities(t *testing.T) {
	p, err := parsePriorities("")
	require.NoError(t, err)
	assert.Nil(t, p)
	p, err = parsePriorities("26=4, 0=1")
	require.NoError(t, err)
	assert.Equal(t, []uint8{1, 4, 3, 7}, []uint8{p[0], p[26], p[27], p[63]})
	for _, bad := range []string{"26", "26=8", "64=1", "x=1", "26=", "26=4,"} {
		_, err := parsePriorities(bad)
		assert.ErrorContains(t, err, "is not DSCP=PRIORITY", bad)
	}
}

// TestPortMapFlag: through the command, with a capture whose interfaces the map
// names right and wrong.
func TestPortMapFlag(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "ports.toml")
	require.NoError(t, os.WriteFile(path, []byte("[[port]]\ninterface = \"nowhere\"\ndevice = \"x\"\npeer = \"y\"\n"), 0o600))
	file := testdata("pfc_propagation.pcapng.gz")
	r := runArgs("analyze", "--port-map", path, file)
	assert.Zero(t, r.code)
	assert.Contains(t, r.errors, "ports.toml: line 1: the capture has no interface nowhere")
	r = runArgs("analyze", "--port-map", filepath.Join(dir, "none.toml"), file)
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.errors, "--port-map: open")
	r = runArgs("analyze", "--dscp-priority", "26", file)
	assert.Equal(t, exitUsage, r.code)
}
