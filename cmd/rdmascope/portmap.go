package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"rdmascope/analysis"
)

// portMapFile is the layout of a port map.
type portMapFile struct {
	Port []mappedPort `toml:"port"`
}

type mappedPort struct {
	Interface string `toml:"interface"`
	EthSrc    mac    `toml:"eth_src"`
	Direction way    `toml:"direction"`
	Device    string `toml:"device"`
	Peer      string `toml:"peer"`
}

// mac is a MAC address in the report's spelling, way a direction of a file.
// They are structs, as the decoder passes over UnmarshalText of strings.
type (
	mac struct{ text string }
	way struct{ text string }
)

func (m *mac) UnmarshalText(b []byte) error {
	hw, err := net.ParseMAC(string(b))
	if err != nil || len(hw) != 6 {
		return fmt.Errorf("eth_src %q is not a MAC address such as 52:54:00:12:34:56", b)
	}
	m.text = hw.String()
	return nil
}

func (w *way) UnmarshalText(b []byte) error {
	if !oneOf(string(b), "inbound", "outbound") {
		return fmt.Errorf("direction %q is neither inbound nor outbound", b)
	}
	w.text = string(b)
	return nil
}

// readPortMap reads a port map; an error names the line.
func readPortMap(data []byte) (analysis.PortMap, error) {
	var file portMapFile
	d := toml.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(&file); err != nil {
		var strict *toml.StrictMissingError
		if errors.As(err, &strict) && len(strict.Errors) > 0 {
			line, _ := strict.Errors[0].Position()
			return nil, fmt.Errorf("line %d: no key %s (a [[port]] has interface, eth_src, direction, device, peer)", line, strings.Join(strict.Errors[0].Key(), "."))
		}
		return nil, errors.New(configError(err))
	}
	lines := portLines(data)
	if len(file.Port) == 0 || len(file.Port) != len(lines) {
		return nil, errors.New("no [[port]] in it; each names an interface, and a device and its peer")
	}
	m := make(analysis.PortMap, len(file.Port))
	for i, p := range file.Port {
		for _, need := range [...]struct{ key, value string }{{"interface", p.Interface}, {"device", p.Device}, {"peer", p.Peer}} {
			if need.value == "" {
				return nil, fmt.Errorf("line %d: this [[port]] has no %s", lines[i], need.key)
			}
		}
		if p.Device == p.Peer {
			return nil, fmt.Errorf("line %d: %s can't be its own peer", lines[i], p.Device)
		}
		m[i] = analysis.MappedPort{Interface: p.Interface, EthSrc: p.EthSrc.text, Direction: p.Direction.text, Device: p.Device, Peer: p.Peer, Line: lines[i]}
		for k := range i {
			if o := &m[k]; o.Interface == m[i].Interface && (o.EthSrc == "" || o.EthSrc == m[i].EthSrc) && (o.Direction == "" || o.Direction == m[i].Direction) {
				return nil, fmt.Errorf("line %d: never reached, since the [[port]] of line %d fits all that this one does", lines[i], o.Line)
			}
		}
	}
	return m, nil
}

// portLines are the lines of the [[port]] headers, in order: the decoder tells
// positions of faults alone.
func portLines(data []byte) (lines []int) {
	for i, line := range strings.Split(string(data), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if strings.ReplaceAll(strings.TrimSpace(line), " ", "") == "[[port]]" {
			lines = append(lines, i+1)
		}
	}
	return lines
}

// warnPortMap tells of entries that the capture can't have used.
func warnPortMap(w io.Writer, from setting, m analysis.PortMap, s *analysis.Snapshot) {
	for _, p := range m.Absent(s) {
		fmt.Fprintf(w, "rdmascope: warning: %s: line %d: the capture has no interface %s\n", from, p.Line, p.Interface)
	}
}
