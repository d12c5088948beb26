package pause

// Port is what the user's port map tells of the sender of a row: the device that
// it belongs to, and the one at the other end of the link, which its pauses
// stop. A device has a MAC for each port, or none that it shows in pause frames,
// so MACs alone don't tell which ports are of one device.
type Port struct{ Device, Peer string }

func (p Port) known() bool { return p.Device != "" && p.Peer != "" }

// Ports gives the port of a row; the zero Port where the map doesn't tell.
type Ports func(Key) Port

// portsOf asks for the ports of all rows; ports may be nil.
func portsOf(tl *TimelineResult, ports Ports) []Port {
	l := make([]Port, len(tl.rows))
	if ports != nil {
		for i := range l {
			if p := ports(tl.rows[i].key); p.known() {
				l[i] = p
			}
		}
	}
	return l
}

// leads tells whether a pause of row a stops the device that sends those of
// row b; told is false where the map knows either of them not.
func (m *merger) leads(a, b int) (leads, told bool) {
	p, q := &m.ports[a], &m.ports[b]
	if !p.known() || !q.known() {
		return false, false
	}
	return p.Peer == q.Device, true
}

// sameSender tells whether two rows are the same port, seen at two taps.
func (m *merger) sameSender(a, b int) bool {
	p, q := &m.ports[a], &m.ports[b]
	k, l := &m.tl.rows[a].key, &m.tl.rows[b].key
	return sameDevice(k, l) || k.Priority == l.Priority && p.known() && *p == *q
}
