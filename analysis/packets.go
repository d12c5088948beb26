package analysis

import (
	"errors"
	"io"

	"rdmascope/decode/wire"
)

// Packets decodes the packets of src one after the other and hands each to f
// until f returns false. The packet is valid during the call alone. Of a frame
// that receive offload merged from several packets each is handed on, with the
// frame's number; the first has the frame's length, the others (FlagPart) their
// own.
func Packets(src Source, c wire.Config, f func(*wire.Packet) bool) error {
	d := wire.NewDecoder(c)
	b := newBlock(0)
	var p, part wire.Packet
	for first := int64(1); ; first += int64(len(b.recs)) {
		buf, recs, err := src.ReadBlock(b.buf[:0], b.recs[:0])
		if err == nil {
			err = checkRecords(buf, recs)
		}
		b.buf, b.recs, b.first = buf, recs, first
		more := err == nil && b.each(d, &p, &part, f)
		b.buf = Release(src, b.buf)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		case !more:
			return nil
		}
	}
}

// each decodes the block's packets into p, or part, until f returns false.
func (b *block) each(d *wire.Decoder, p, part *wire.Packet, f func(*wire.Packet) bool) bool {
	for i := range b.recs {
		b.load(p, i)
		d.Decode(p)
		if !f(p) {
			return false
		}
		for k := 1; k < int(p.Merged) && d.Part(p, k, part); k++ {
			if !f(part) {
				return false
			}
		}
	}
	return true
}
