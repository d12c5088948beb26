package wire

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
)

// mergedFrame puts PDUs into one datagram as UDP receive offload does: the
// first one's headers with new lengths. Each PDU has the iCRC that it had alone,
// with the given IP identification.
func mergedFrame(t testing.TB, v6 bool, pdus ...[]byte) []byte {
	t.Helper()
	head, carrier, net := unhex(t, macs, "0800", ip4ACK, udpACK), roce.CarrierIPv4, 14
	if v6 {
		head, carrier = unhex(t, macs, "86dd 60000000 0000 11 40 fd770000000000000000000000000001 fd770000000000000000000000000002", udpACK), roce.CarrierIPv6
	}
	lengths := func(b []byte, n int) {
		if v6 {
			binary.BigEndian.PutUint16(b[net+4:], uint16(8+n))
		} else {
			binary.BigEndian.PutUint16(b[net+2:], uint16(28+n))
		}
		binary.BigEndian.PutUint16(b[len(head)-4:], uint16(8+n))
	}
	frame := append([]byte(nil), head...)
	total := 0
	for _, pdu := range pdus {
		alone := append(append([]byte(nil), head...), pdu...)
		lengths(alone, len(pdu)+4)
		sum, ok := new(roce.ICRCChecker).Sum(carrier, alone[net:], len(head)-net)
		require.True(t, ok)
		frame = binary.LittleEndian.AppendUint32(append(frame, pdu...), sum)
		total += len(pdu) + 4
	}
	lengths(frame, total)
	return frame
}

// middle is a SEND Middle with n octets of payload.
func middle(t testing.TB, psn uint32, n int) []byte {
	b := unhex(t, "01 00 ffff 00 000013 00 000000")
	b[9], b[10], b[11] = byte(psn>>16), byte(psn>>8), byte(psn)
	for i := range n {
		b = append(b, byte(psn)+byte(i))
	}
	return b
}

func TestMerged(t *testing.T) {
	for _, v6 := range []bool{false, true} {
		for _, c := range []struct {
			name string
			pdus [][]byte
			want uint16
		}{
			{"one", [][]byte{middle(t, 7, 1024)}, 0},
			{"two", [][]byte{middle(t, 7, 1024), middle(t, 8, 1024)}, 2},
			{"last one short", [][]byte{middle(t, 7, 1024), middle(t, 8, 1024), middle(t, 9, 100)}, 3},
			{"PSN wraps", [][]byte{middle(t, 0xffffff, 256), middle(t, 0, 256)}, 2},
			{"beyond any PDU", [][]byte{middle(t, 1, 4096), middle(t, 2, 4096), middle(t, 3, 4096)}, 3},
			{"acknowledgements", [][]byte{unhex(t, bthACK, aethACK), unhex(t, "11 00 ffff 00 000013 00 1a0b0c", aethACK)}, 2},
		} {
			t.Run(c.name, func(t *testing.T) {
				b := mergedFrame(t, v6, c.pdus...)
				p := packetOf(Config{}, LinkEthernet, b, len(b))
				assert.Zero(t, p.Stop, p.Stop.String())
				assert.Equal(t, roce.ICRCOK, p.ICRC)
				assert.Equal(t, c.want > 0, p.Has(FlagMulti))
				assert.Equal(t, c.want, p.Merged)
				assert.Equal(t, uint32(len(c.pdus[0])+4), p.TransLen)
				assert.Equal(t, c.pdus[0][p.RoCE.Len:], p.Data[p.PayloadOff:int(p.PayloadOff)+p.RoCE.PayloadLen])
				cut := packetOf(Config{}, LinkEthernet, b[:80], len(b))
				assert.Equal(t, roce.ICRCUncheckable, cut.ICRC)
				assert.Equal(t, c.want > 0, cut.Has(FlagMulti), "cut, only its length tells")
				assert.Zero(t, cut.Merged)
				checkParts(t, p, c.pdus)
			})
		}
	}
}

// TestNotMerged: a damaged packet whose payload looks like a PDU stays damaged.
func TestNotMerged(t *testing.T) {
	payload := append(unhex(t, zeros(4)), middle(t, 8, 200)...)
	pdu := append(middle(t, 7, 0), payload...)
	b := mergedFrame(t, false, pdu)
	b[len(b)-1] ^= 1
	p := packetOf(Config{}, LinkEthernet, b, len(b))
	assert.Equal(t, roce.ICRCBad, p.ICRC)
	assert.False(t, p.Has(FlagMulti))
	assert.Equal(t, len(payload), p.RoCE.PayloadLen)

	// A hostile one that looks like a PDU everywhere costs no more than others.
	evil := middle(t, 7, 0)
	for range 300 {
		evil = append(evil, middle(t, 7, 0)...)
	}
	b = mergedFrame(t, false, evil)
	b[len(b)-1] ^= 1
	assert.Equal(t, roce.ICRCBad, packetOf(Config{}, LinkEthernet, b, len(b)).ICRC)
}

// TestSuperFrame: lengths that offloading rewrote are no reason to call an iCRC
// bad.
func TestSuperFrame(t *testing.T) {
	b := mergedFrame(t, false, middle(t, 7, 1024))
	b[16], b[17] = 0, 0
	p := packetOf(Config{}, LinkEthernet, b, len(b))
	assert.True(t, p.Has(FlagSuperFrame))
	assert.Equal(t, roce.ICRCUncheckable, p.ICRC)
}

// checkParts holds the PDUs of a merged datagram against what it was made of.
func checkParts(t *testing.T, p *Packet, pdus [][]byte) {
	t.Helper()
	d := NewDecoder(Config{})
	for k := 1; k < int(p.Merged); k++ {
		var q Packet
		require.True(t, d.Part(p, k, &q))
		assert.True(t, q.Has(FlagPart|FlagMulti|FlagBTH|FlagNet|FlagPorts))
		assert.Equal(t, roce.ICRCOK, q.ICRC)
		assert.Zero(t, q.Stop)
		assert.Equal(t, p.Number, q.Number)
		assert.Equal(t, uint32(len(pdus[k])+4), q.TransLen)
		assert.Equal(t, p.L4Off+8+q.TransLen, q.Wire)
		assert.Equal(t, string(pdus[k][q.RoCE.Len:]), string(q.Payload()))
		assert.Equal(t, be32(pdus[k], 8)&0xffffff, uint32(q.RoCE.BTH.PSN))
		bth, ok := Find(Tree(&q), "infiniband.bth.psn")
		require.True(t, ok)
		assert.Equal(t, uint64(q.RoCE.BTH.PSN), bth.Raw)
	}
	var q Packet
	assert.False(t, d.Part(p, 0, &q))
	assert.False(t, d.Part(p, max(1, int(p.Merged)), &q), "no more than there are")
}

// TestMergedDamaged: behind a good first PDU the borders are certain, so a
// damaged one is a packet with a bad iCRC, and what is no PDU ends the list.
func TestMergedDamaged(t *testing.T) {
	d := NewDecoder(Config{})
	for _, c := range []struct {
		name string
		at   int // octet of the second PDU
		flip byte
		want roce.ICRCState
		ok   bool
	}{
		{"payload", 40, 1, roce.ICRCBad, true},
		{"transport version", 1, 1, roce.ICRCBad, false},
		{"opcode", 0, 0x1e, roce.ICRCBad, false},
		{"nothing", 0, 0, roce.ICRCOK, true},
	} {
		b := mergedFrame(t, false, middle(t, 7, 256), middle(t, 8, 256), middle(t, 9, 256))
		p := packetOf(Config{}, LinkEthernet, b, len(b))
		b[int(p.TransOff+p.TransLen)+c.at] ^= c.flip
		p = packetOf(Config{}, LinkEthernet, b, len(b))
		require.EqualValues(t, 3, p.Merged, c.name)
		var q Packet
		assert.Equal(t, c.ok, d.Part(p, 1, &q), c.name)
		assert.Equal(t, c.want, q.ICRC, c.name)
		assert.True(t, d.Part(p, 2, &q), c.name)
		assert.Equal(t, roce.ICRCOK, q.ICRC, c.name)
	}
}

// TestMergedQueuePairs: GRO goes by the ports, so the packets of one datagram
// may be to several queue pairs.
func TestMergedQueuePairs(t *testing.T) {
	other := func(b []byte) []byte { b[7] ^= 0x40; return b }
	only := func(psn uint32, n int) []byte { b := middle(t, psn, n); b[0] = 4; return b }
	for name, pdus := range map[string][][]byte{
		"acknowledgements":       {unhex(t, bthACK, aethACK), other(unhex(t, bthACK, aethACK))},
		"path MTU":               {middle(t, 7, 1024), other(middle(t, 900, 1024))},
		"messages of one size":   {only(7, 700), other(only(90000, 700)), only(8, 700)},
		"messages, the last cut": {only(7, 700), only(8, 100)},
	} {
		b := mergedFrame(t, false, pdus...)
		p := packetOf(Config{}, LinkEthernet, b, len(b))
		assert.EqualValues(t, len(pdus), p.Merged, name)
		checkParts(t, p, pdus)
		// The flag --no-icrc leaves the checks out, not the splitting where a
		// length is impossible.
		if pdus[0][0] != 4 {
			assert.EqualValues(t, len(pdus), packetOf(Config{SkipICRC: true}, LinkEthernet, b, len(b)).Merged, name)
		}
	}
}
