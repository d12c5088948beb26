package analysis

import "rdmascope/analysis/pause"

// PortMap is what the user tells of the network: whose port sends the pauses
// that an interface of the capture sees, and which device they stop. A switch
// has another MAC on each of its ports, so a ring of pauses over three devices
// or more can't be seen without it.
type PortMap []MappedPort

// MappedPort is one sender of pauses. The first entry that fits a sender counts.
type MappedPort struct {
	Interface string // name, else number, as in the report
	EthSrc    string // MAC of the pause frames, "" is any
	Direction string // inbound or outbound, "" is either
	Device    string // that sends them
	Peer      string // at the other end of the link: stopped by them
	Line      int    // in the file, for messages
}

// find returns the port of a sender.
func (m PortMap) find(iface, ethSrc, direction string) pause.Port {
	for i := range m {
		p := &m[i]
		if p.Interface == iface && (p.EthSrc == "" || p.EthSrc == ethSrc) && (p.Direction == "" || p.Direction == direction) {
			return pause.Port{Device: p.Device, Peer: p.Peer}
		}
	}
	return pause.Port{}
}

// Absent returns the entries whose interface the capture hasn't.
func (m PortMap) Absent(s *Snapshot) []MappedPort {
	there := map[string]bool{}
	for _, name := range s.ifaces {
		there[name] = true
	}
	var list []MappedPort
	for _, p := range m {
		if !there[p.Interface] {
			list = append(list, p)
		}
	}
	return list
}

// Priorities is the priority of untagged packets by DSCP.
type Priorities [64]uint8

// UsualPriorities are those of most devices: the upper three bits of DSCP.
func UsualPriorities() (p Priorities) {
	for dscp := range p {
		p[dscp] = uint8(dscp >> 3)
	}
	return p
}
