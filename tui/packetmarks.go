package tui

import (
	"maps"
	"slices"

	"rdmascope/analysis"
)

// marksResent are the packets that were sent again.
const marksResent = analysis.MarkRetransmission | analysis.MarkRepeatedResponse

// markNames are the words for marks, shown before what the packet is.
var markNames = []struct {
	mark analysis.PacketMark
	word string
}{
	{marksResent, "↻ resent"}, {analysis.MarkOutOfOrder, "late"}, {analysis.MarkDuplicate, "copy"}, {analysis.MarkDuplicateAck, "ACK of nothing new"},
}

func markWords(m analysis.PacketMark) string {
	out := ""
	for _, n := range markNames {
		if m&n.mark != 0 {
			out += n.word + "  "
		}
	}
	return out
}

// packetMarks are what the analysis says about a packet.
func (u *ui) packetMarks(n int64) analysis.PacketMark {
	if u.opt.Marks == nil {
		return 0
	}
	return u.opt.Marks.Marks(n)
}

// isResent tells whether a packet was sent again; without marks, whether it is
// the first of a recovery that was kept.
func (p *packetsPage) isResent(u *ui, n int64) bool {
	if u.opt.Marks == nil {
		return p.resent[n]
	}
	return u.packetMarks(n)&marksResent != 0
}

// nextResent moves to the next packet that was sent again, within what is
// listed.
func (p *packetsPage) nextResent(u *ui, dir int) {
	switch {
	case u.opt.Marks == nil:
		p.nextOf(u, slices.Sorted(maps.Keys(p.resent)), dir > 0, "recovery")
	case p.list.all:
		if n, ok := u.opt.Marks.Next(p.number(), dir, marksResent); ok && n >= p.list.first && n <= p.list.total {
			p.goPacket(u, n)
			return
		}
		u.say("no more packets sent again that way")
	default:
		for i := p.g.cursor + dir; i >= 0 && i < len(p.list.list); i += dir {
			if u.packetMarks(p.list.list[i])&marksResent != 0 {
				p.goPacket(u, p.list.list[i])
				return
			}
		}
		u.say("no more packets sent again that way")
	}
}
