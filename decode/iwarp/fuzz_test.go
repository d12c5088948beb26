package iwarp_test

import (
	"encoding/json"
	"os"
	"testing"

	"github.com/google/gopacket"

	"rdmascope/decode/iwarp"
)

// checker is a Handler that fails where the promises of Handler are broken.
type checker struct {
	t     *testing.T
	begun bool
	end   uint64
}

func (c *checker) MPA(_ *iwarp.Stream, _ uint64, m *iwarp.MPAFrame, _ error) {
	if len(m.Private) > iwarp.MPAMaxPrivate {
		c.t.Fatal("private data too long")
	}
}

func (c *checker) BeginFPDU(_ *iwarp.Stream, f *iwarp.FPDU) {
	if c.begun {
		c.t.Fatal("two FPDUs at a time")
	}
	c.begun = true
	_ = f.Body()
}

func (c *checker) EndFPDU(_ *iwarp.Stream, f *iwarp.FPDU) {
	if !c.begun {
		c.t.Fatal("an end without a begin")
	}
	c.begun = false
	if f.State == iwarp.Aborted {
		return
	}
	if f.Start < c.end {
		c.t.Fatalf("FPDU at %d overlaps the one before, which ends at %d", f.Start, c.end)
	}
	if f.End-f.Start < uint64(f.Octets()) || f.End-f.Start > uint64(f.Octets())*128/127+8 {
		c.t.Fatalf("FPDU of %d octets spans [%d, %d)", f.Octets(), f.Start, f.End)
	}
	if f.State == iwarp.Whole && (f.Missing != 0 || f.HeaderCut) || f.CRC == iwarp.CRCGood && f.Missing != 0 {
		c.t.Fatal("octets are missing of a whole FPDU")
	}
	c.end = f.End
	var r iwarp.ReadRequest
	var a iwarp.AtomicRequest
	var ar iwarp.AtomicResponse
	var i iwarp.Immediate
	var x iwarp.Terminate
	_, _, _, _, _ = f.ReadRequest(&r), f.AtomicRequest(&a), f.AtomicResponse(&ar), f.Immediate(&i), f.Terminate(&x)
}

func (c *checker) Notice(*iwarp.Stream, iwarp.Notice) {}

// FuzzStream reads a script: each step is two octets (direction and kind, a
// length or a jump) before the octets it feeds.
func FuzzStream(f *testing.F) {
	script := func(b []byte, n int) (s []byte) {
		for len(b) > 0 {
			k := min(n, len(b), 255)
			s = append(append(s, 0, byte(k)), b[:k]...)
			b = b[k:]
		}
		return s
	}
	for _, flag := range []byte{0, 0x40, 0x80, 0xc0} {
		w := &builder{crc: flag&0x40 != 0}
		if flag&0x80 != 0 {
			w.marker = everyPeriod
		}
		variety(w)
		reply := append([]byte{1, 20}, mpaFrame(true, flag, 1, "")...)
		f.Add(append(reply, script(append(mpaFrame(false, flag, 1, "x"), w.b[:3000]...), 200)...))
		f.Add(script(w.b[100:3000], 250))
	}
	f.Fuzz(func(t *testing.T, s []byte) {
		p := iwarp.NewPair()
		h := [2]checker{{t: t}, {t: t}}
		at := [2]uint64{1 << 20, 1 << 33}
		for len(s) >= 2 {
			dir, kind, n := s[0]&1, s[0]>>1, int(s[1])
			s = s[2:]
			k := min(n, len(s))
			seg := iwarp.Segment{Offset: at[dir], Payload: s[:k]}
			switch kind & 7 {
			case 1: // a hole before it
				seg.Offset += uint64(n) * uint64(kind)
			case 2: // it overlaps what was fed
				seg.Offset -= uint64(n)
			case 3: // cut by the capture
				seg.Wire = k + int(kind)*16
			case 4: // a hostile jump
				seg.Offset += uint64(kind) << 56
			case 5:
				p.Streams[dir].Skip(at[dir]+uint64(n), 0, &h[dir])
			}
			s = s[k:]
			before := p.Streams[dir].Next()
			p.Streams[dir].Feed(seg, &h[dir])
			if next := p.Streams[dir].Next(); next < before {
				t.Fatalf("the stream went back from %d to %d", before, next)
			}
			at[dir] = max(at[dir], seg.Offset+uint64(max(k, seg.Wire)))
		}
		p.Streams[0].Close()
		p.Streams[1].Close()
	})
}

func FuzzHeaders(f *testing.F) {
	for _, c := range headerCases() {
		f.Add(unhex(c.bytes))
	}
	if b, err := os.ReadFile("testdata/iwarp.json"); err == nil {
		var vs []vector
		if json.Unmarshal(b, &vs) == nil {
			for _, v := range vs {
				f.Add(unhex(v.Hex)[54:])
			}
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, c := range headerCases() {
			err := c.into.DecodeFromBytes(b, gopacket.NilDecodeFeedback)
			if n := len(c.into.LayerContents()) + len(c.into.LayerPayload()); err == nil && n > len(b) {
				t.Fatal("more octets than there are")
			}
			if x, ok := c.into.(*iwarp.Terminate); ok {
				_ = x.String()
			}
		}
		var fp iwarp.FPDUHeader
		_ = fp.DecodeFromBytes(b, gopacket.NilDecodeFeedback)
		_ = iwarp.CheckCRC(b)
		gopacket.NewPacket(b, iwarp.LayerTypeMPA, gopacket.DecodeOptions{NoCopy: true, SkipDecodeRecovery: true})
	})
}
