package analysis

import (
	"fmt"

	"rdmascope/analysis/taps"
)

var ruleQoSRewritten = Rule{
	Name:     "qos.rewritten",
	Severity: SeverityWarning,
	Title:    "DSCP is rewritten on the way",
	Meaning: "The same packets were seen at two interfaces with different DSCPs: a device between them classifies anew. " +
		"Behind it they travel in another queue, perhaps one without PFC or ECN.",
	Advice: "let the device between the two taps trust DSCP on the port where RoCE comes in, or set the same policy on both sides",
	find: func(f *finder) {
		f.tapFindings(func(c *tapChange) bool { return c.Field == taps.FieldDSCP }, func(c *tapChange) string {
			return fmt.Sprintf("DSCP %d at %s, %d at %s", c.Before, c.from, c.After, c.to)
		})
	},
}

var ruleECNBleached = Rule{
	Name:     "ecn.bleached",
	Severity: SeverityWarning,
	Title:    "ECN marks are lost on the way",
	Meaning: "The same packets were seen at two interfaces, and a CE mark, or the ECT that allows one, was gone at the second. " +
		"Congestion before that place is then unknown to the receiver: no CNP, and the sender doesn't slow down (RFC 3168, section 5, forbids it).",
	Advice: "look for a device between the two taps that writes the whole TOS octet, such as a tunnel end or a policy that sets DSCP",
	find: func(f *finder) {
		names := [...]string{"Not-ECT", "ECT(1)", "ECT(0)", "CE"}
		f.tapFindings(func(c *tapChange) bool { return c.Bleached() }, func(c *tapChange) string {
			return fmt.Sprintf("%s at %s, %s at %s", names[c.Before], c.from, names[c.After], c.to)
		})
	},
}

// tapFindings makes one finding of all flows to which the same happened between
// the same interfaces.
func (f *finder) tapFindings(want func(*tapChange) bool, what func(*tapChange) string) {
	type class struct {
		from, to      uint16
		before, after uint8
		sure          bool
	}
	at := map[class]int{}
	for i := range f.tapChanges {
		c := &f.tapChanges[i]
		if !want(c) {
			continue
		}
		conn := &f.Connections[c.conn]
		fl := &conn.Flows[c.flow]
		k := class{c.From, c.To, c.Before, c.After, c.ByTTL}
		n, seen := at[k]
		if !seen {
			n = len(f.found)
			at[k] = n
			add := flowFinding(conn, fl)
			add.FirstTime, add.LastTime = Time(c.FirstTime), Time(c.LastTime)
			add.Metrics = Map[Decimal]{"packets": 0, "flows": 0, "compared_packets": 0}
			add.Meaning = Text(flowName(fl) + ": " + what(c) + orderNote(c))
			add.Filters.Wireshark = Text(flowFilter(fl, conn.Transport))
			if !c.ByTTL {
				add.Confidence = ConfidenceMedium
			}
			f.add(add)
		}
		x := &f.found[n]
		x.Metrics["packets"] += Decimal(c.Packets)
		x.Metrics["compared_packets"] += Decimal(c.compared)
		x.Metrics["flows"]++
		x.weight += c.Packets
		x.LastTime = max(x.LastTime, Time(c.LastTime))
		if len(x.Packets) < maxEvidence {
			x.Packets = append(x.Packets, c.FirstPacket)
			x.FirstPacket, x.LastPacket = Int(min(orMax(x.FirstPacket), c.FirstPacket)), Int(max(orZero(x.LastPacket), c.FirstPacket))
		}
		if x.Metrics["flows"] > 1 { // no longer about one flow
			x.Subject = Subject{Kind: "capture"}
			x.Filters.Wireshark = Text(framesFilter(x.Packets))
			x.Meaning = Text(plural(int64(x.Metrics["flows"]), "flow") + ": " + what(c) + orderNote(c))
		}
	}
}

func orderNote(c *tapChange) string {
	if c.ByTTL {
		return ""
	}
	return "; no hop in between lowered the TTL, so which was first is told by the clocks alone"
}

func orMax(v *int64) int64 {
	if v == nil {
		return 1<<63 - 1
	}
	return *v
}
