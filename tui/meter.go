package tui

import "time"

// meter works out how fast the input is read. It looks back some seconds, so
// that the time left doesn't jump about.
type meter struct {
	at             time.Time
	bytes          int64
	bytesPerSecond int64

	packets          int64
	packetsPerSecond int64
}

func (m *meter) take(p Progress, now time.Time) {
	if p.Done {
		m.bytesPerSecond, m.packetsPerSecond = 0, 0
		return
	}
	if m.at.IsZero() {
		m.at, m.bytes, m.packets = now, p.ReadBytes, p.Packets
		return
	}
	passed := now.Sub(m.at)
	if passed < time.Second {
		return
	}
	seconds := passed.Seconds()
	m.packetsPerSecond = int64(float64(p.Packets-m.packets) / seconds) // of a capture: what is, not what was
	speed := int64(float64(p.ReadBytes-m.bytes) / seconds)
	if m.bytesPerSecond > 0 {
		speed = (3*m.bytesPerSecond + speed) / 4
	}
	m.at, m.bytes, m.packets, m.bytesPerSecond = now, p.ReadBytes, p.Packets, speed
}
