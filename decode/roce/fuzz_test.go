package roce

import (
	"errors"
	"testing"

	"github.com/google/gopacket"
)

// oneClass fails if an error isn't of exactly one class.
func oneClass(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	n := 0
	for _, class := range []error{ErrTruncated, ErrMalformed, ErrUnknown} {
		if errors.Is(err, class) {
			n++
		}
	}
	if n != 1 {
		t.Fatalf("%v is of %d classes", err, n)
	}
}

func FuzzHeaders(f *testing.F) {
	for _, v := range allVectors(f) {
		c := scan(f, v)
		f.Add(c.transport, len(c.transport))
		f.Add(c.transport[:len(c.transport)/2], len(c.transport))
	}
	f.Fuzz(func(t *testing.T, b []byte, wireLen int) {
		var h Headers
		err := h.Decode(b, wireLen)
		oneClass(t, err)
		have := max(0, min(len(b), wireLen))
		if h.Len > have || h.PayloadCaptured > h.PayloadLen || h.Len+h.PayloadCaptured > have {
			t.Fatalf("beyond the bytes: %+v", h)
		}
		if errors.Is(err, ErrTruncated) && (!h.Truncated || len(b) >= wireLen) {
			t.Fatal("called cut without being cut")
		}
		if err == nil && h.Len+h.PayloadLen+int(h.BTH.PadCnt)+ICRCLen != wireLen {
			t.Fatalf("lengths don't add up: %+v", h)
		}
		// The result depends on the packet only, not on the one before.
		again := Headers{RETH: RETHFields{VA: 1}, Present: ^HeaderSet(0), Len: 99, PayloadLen: 99, PayloadCaptured: 99}
		if err2 := again.Decode(b, wireLen); err2 != err || again.Present != h.Present || again.Len != h.Len ||
			again.PayloadLen != h.PayloadLen || again.PayloadCaptured != h.PayloadCaptured {
			t.Fatalf("%+v then %+v", h, again)
		}
		if h.Present.Has(HeaderBTH) {
			_ = h.BTH.Opcode.String()
		}
		_, _ = h.RETH.Offset(h.AtomicETH.VA, h.AtomicETH.SwapAdd)
		_ = h.AETH.Syndrome.String()
	})
}

func FuzzMAD(f *testing.F) {
	for _, v := range loadVectors(f, "testdata/cm.json") {
		b := scan(f, v).transport
		f.Add(b[20:len(b)-4], MADLen)
		f.Add(b[20:90], MADLen)
	}
	f.Fuzz(func(t *testing.T, b []byte, wireLen int) {
		var mad MADFields
		err := mad.Decode(b, wireLen)
		oneClass(t, err)
		if err != nil || wireLen < MADLen {
			return
		}
		var cm CM
		oneClass(t, cm.Decode(&mad, b[MADHeaderLen:], wireLen-MADHeaderLen))
		if cm.Captured > CMLen || cm.Captured > len(b)-MADHeaderLen {
			t.Fatal(cm.Captured)
		}
		_ = cm.REQ.ConsumerPrivateData()
		_ = cm.SIDRREQ.ConsumerPrivateData()
		if h, ok := cm.REQ.IPCM(); ok && !h.SrcAddr().IsValid() {
			t.Fatal("no address")
		}
		_, _, _ = mad.MgmtClass.String(), mad.Method.String(), cm.REJ.Reason.String()
	})
}

func FuzzGRH(f *testing.F) {
	for _, v := range loadVectors(f, "testdata/rocev1.json") {
		f.Add(v.frame[18:])
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var g GRH
		err := g.DecodeFromBytes(b, nil)
		oneClass(t, err)
		if err == nil && len(g.Payload) > int(g.PayLen) {
			t.Fatal("payload beyond PayLen")
		}
		_, _ = g.Src(), g.Dst()
	})
}

func FuzzLRH(f *testing.F) {
	for _, v := range loadVectors(f, "testdata/native_ib.json") {
		f.Add(v.frame)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var l LRH
		oneClass(t, l.DecodeFromBytes(b, nil))
		VCRCSum(b)
	})
}

func FuzzICRC(f *testing.F) {
	for _, v := range allVectors(f) {
		c := scan(f, v)
		f.Add(c.packet, uint8(c.carrier), c.bth, len(c.packet))
	}
	f.Fuzz(func(t *testing.T, b []byte, k uint8, bth, wireLen int) {
		before := string(b)
		var c ICRCChecker
		state := c.Check(Carrier(k), b, bth, wireLen)
		if string(b) != before {
			t.Fatal("the packet was written to")
		}
		if state != ICRCUncheckable && (wireLen > len(b) || bth+BTHLen+ICRCLen > wireLen) {
			t.Fatal("checked what isn't there")
		}
		if state == ICRCUncheckable {
			return
		}
		if want := slowICRC(Carrier(k), b[:wireLen-ICRCLen], bth); (state == ICRCOK) != (want == le32(b[wireLen-ICRCLen:])) {
			t.Fatal("differs from the definition")
		}
	})
}

func le32(b []byte) uint32 {
	return uint32(b[0]) | uint32(b[1])<<8 | uint32(b[2])<<16 | uint32(b[3])<<24
}

// FuzzPacket: gopacket's recover is off, so that a panic is a panic.
func FuzzPacket(f *testing.F) {
	for _, v := range allVectors(f) {
		c := scan(f, v)
		f.Add(c.transport, uint8(0))
		f.Add(c.packet, uint8(1))
		f.Add(v.frame, uint8(3))
	}
	f.Fuzz(func(t *testing.T, b []byte, entry uint8) {
		var first gopacket.Decoder
		switch entry % 4 {
		case 0:
			first = LayerTypeBTH
		case 1:
			first = LayerTypeGRH
		case 2:
			first = LayerTypeLRH
		case 3:
			first = LayerTypeMAD
		}
		p := gopacket.NewPacket(b, first, gopacket.DecodeOptions{NoCopy: true, SkipDecodeRecovery: true})
		if e := p.ErrorLayer(); e != nil {
			oneClass(t, e.Error())
		}
	})
}
