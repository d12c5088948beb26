package tui

import "time"

// meter works out how fast the input is read. It looks back some seconds, so
// that the time left doesn't jump about.
type meter struct {
	at             time.Time
	bytes          int64
	bytesPerSecond int64
}

func (m *meter) take(p Progress, now time.Time) {
	if p.Done {
		m.bytesPerSecond = 0
		return
	}
	if m.at.IsZero() {
		m.at, m.bytes = now, p.ReadBytes
		return
	}
	passed := now.Sub(m.at)
	if passed < time.Second {
		return
	}
	speed := int64(float64(p.ReadBytes-m.bytes) / passed.Seconds())
	if m.bytesPerSecond > 0 {
		speed = (3*m.bytesPerSecond + speed) / 4
	}
	m.at, m.bytes, m.bytesPerSecond = now, p.ReadBytes, speed
}
