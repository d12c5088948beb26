package synth

import "slices"

// Frame is one captured frame.
type Frame struct {
	Time  int64 // ns since 1970
	Data  []byte
	Wire  int // length on the wire; 0 is that of Data
	Iface int
	Dir   uint8 // pcapng's epb_flags direction: 0 unknown, 1 inbound, 2 outbound
}

// WireLen is the frame's length on the wire.
func (f *Frame) WireLen() int {
	if f.Wire == 0 {
		return len(f.Data)
	}
	return f.Wire
}

// Scenario is a capture in the making: frames in capture order, which is not
// necessarily that of their times.
type Scenario struct {
	Link   uint32 // LINKTYPE_ of the frames; 0 means Ethernet (for NULL see LinkNull)
	Frames []Frame
}

// Add appends a frame.
func (s *Scenario) Add(at int64, frame []byte) {
	s.Frames = append(s.Frames, Frame{Time: at, Data: frame})
}

// Sort orders the frames by time; equal times keep their order.
func (s *Scenario) Sort() {
	slices.SortStableFunc(s.Frames, func(a, b Frame) int {
		switch {
		case a.Time < b.Time:
			return -1
		case a.Time > b.Time:
			return 1
		}
		return 0
	})
}

// Clone copies the list of frames; the bytes are shared and must not be
// changed in place.
func (s *Scenario) Clone() *Scenario {
	return &Scenario{Link: s.Link, Frames: slices.Clone(s.Frames)}
}

// Merge adds the frames of others and sorts.
func (s *Scenario) Merge(others ...*Scenario) *Scenario {
	for _, o := range others {
		s.Frames = append(s.Frames, o.Frames...)
	}
	s.Sort()
	return s
}

// Wrapped is a copy with every frame put through w, of another link type.
// Frames must be whole.
func (s *Scenario) Wrapped(link uint32, w Wrap) *Scenario {
	c := s.Clone()
	c.Link = link
	for i := range c.Frames {
		c.Frames[i].Data = w(c.Frames[i].Data)
		c.Frames[i].Wire = 0
	}
	return c
}

// Snapped is a copy with every frame cut to n octets.
func (s *Scenario) Snapped(n int) *Scenario {
	c := s.Clone()
	for i := range c.Frames {
		c.Cut(i, n)
	}
	return c
}

// Cut shortens frame i to n octets and keeps its length on the wire.
func (s *Scenario) Cut(i, n int) {
	f := &s.Frames[i]
	if len(f.Data) > n {
		f.Wire = f.WireLen()
		f.Data = f.Data[:n]
	}
}

// Drop takes frame i out: the capture (or the network before the tap) lost it.
func (s *Scenario) Drop(i int) { s.Frames = slices.Delete(s.Frames, i, i+1) }

// Without is a copy that leaves out what drop names.
func (s *Scenario) Without(drop func(i int, f *Frame) bool) *Scenario {
	c := &Scenario{Link: s.Link}
	for i := range s.Frames {
		if !drop(i, &s.Frames[i]) {
			c.Frames = append(c.Frames, s.Frames[i])
		}
	}
	return c
}

// Duplicate repeats frame i after delay, directly behind it.
func (s *Scenario) Duplicate(i int, delay int64) {
	f := s.Frames[i]
	f.Time += delay
	s.Frames = slices.Insert(s.Frames, i+1, f)
}

// Doubled is a copy in which every frame comes twice, delay apart, as a mirror
// of both ports or of "any" shows it. change, if any, is applied to the copies.
func (s *Scenario) Doubled(delay int64, change Wrap) *Scenario {
	c := &Scenario{Link: s.Link}
	for _, f := range s.Frames {
		c.Frames = append(c.Frames, f)
		f.Time += delay
		if change != nil {
			f.Data = change(f.Data)
		}
		c.Frames = append(c.Frames, f)
	}
	c.Sort()
	return c
}

// Delay makes frame i come later by d and reorders.
func (s *Scenario) Delay(i int, d int64) {
	s.Frames[i].Time += d
	s.Sort()
}

// SwapData exchanges the bytes of two frames and keeps the times: they were
// reordered on their way.
func (s *Scenario) SwapData(i, j int) {
	a, b := &s.Frames[i], &s.Frames[j]
	a.Data, b.Data = b.Data, a.Data
	a.Wire, b.Wire = b.Wire, a.Wire
}

// Corrupt flips one bit of frame i, in a copy of its bytes.
func (s *Scenario) Corrupt(i, bit int) {
	f := &s.Frames[i]
	f.Data = slices.Clone(f.Data)
	f.Data[bit/8] ^= 1 << (bit % 8)
}
