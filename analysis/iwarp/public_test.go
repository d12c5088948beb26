package iwarp_test

import (
	"testing"

	"rdmascope/analysis/iwarp"
	"rdmascope/decode"
)

func TestDumpPublic(t *testing.T) {
	captures(t, "captures-public/ajbanjara__Wireshark__iwarp_*.pcap", func(t *testing.T, name string, list []decode.Packet) {
		r := track(list, iwarp.Options{})
		for _, c := range r.Connections {
			t.Logf("CONN %v closed=%v rej=%v crc=%v hs=%v reply=%v ulp=%v", c.Key.BPort, c.Closed, c.Rejected, c.CRC, c.Handshake, c.ReplyTime, c.ULP)
			for _, f := range c.Flows {
				t.Logf("  %s:%d pk=%d pay=%d tcp=%d msgs=%d ops=%v unseen=%v reads=%+v q=%+v shared=%v faults=%v", f.Src, f.SrcPort, f.Packets, f.PayloadBytes, f.TCPPayloadBytes, f.Messages, f.Opcodes, f.UnseenBytes, f.Reads, f.Queues, f.SharedMSN, f.Faults)
				t.Logf("  tcp=%+v", f.TCP)
				t.Logf("  mpa=%+v", f.MPA)
				t.Logf("  lat ack=%+v rf=%+v rl=%+v term=%v", f.AckLatency, f.ReadFirst, f.ReadLast, f.Terminates)
			}
		}
	})
}
