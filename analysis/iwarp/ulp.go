package iwarp

import "encoding/binary"

// Ports that the protocols on RDMA are assigned or use by custom.
var ulpPorts = map[uint16]string{
	4420: "nvme", 8009: "nvme", 3260: "iser", 20049: "nfs", 2049: "nfs", 5445: "smbdirect", 445: "smbdirect",
}

// ulp guesses what rides on the connection: the private data of an NVMe host
// say so (NVMe-oF RDMA binding: record format 0, queue id and two sizes in 32
// octets), else the port of the side that was called does.
func (c *conn) ulp() (name, from string) {
	for i := range c.dir {
		f := &c.dir[i].framing.frame
		if f.Seen && !f.Reply && nvmePrivate(f.Private()) {
			return "nvme", "private"
		}
	}
	ports := [2]uint16{c.key.APort, c.key.BPort}
	if i := int(c.initiator); i >= 0 {
		if u, ok := ulpPorts[ports[1-i]]; ok {
			return u, "port"
		}
		return "", ""
	}
	for _, p := range ports {
		if u, ok := ulpPorts[p]; ok {
			return u, "port"
		}
	}
	return "", ""
}

// nvmePrivate recognises an NVMe RDMA connect request: 32 octets, little
// endian: recfmt 0, qid, hrqsize, hsqsize, the rest reserved (cntlid since 1.1).
func nvmePrivate(b []byte) bool {
	if len(b) != 32 || binary.LittleEndian.Uint16(b) != 0 {
		return false
	}
	if binary.LittleEndian.Uint16(b[4:]) == 0 || binary.LittleEndian.Uint16(b[6:]) == 0 {
		return false
	}
	for _, x := range b[10:] {
		if x != 0 {
			return false
		}
	}
	return true
}
