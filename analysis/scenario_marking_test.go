package analysis_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/pcaps/synth"
)

const (
	ectZero = 2
	ceMark  = 3
)

// congested is one receiver and several senders with some queue pairs each.
type congested struct {
	synth.Scenario
	conns []*synth.Conn // all of one sender after the other
}

// newCongested connects senders of so many queue pairs each to one receiver.
func newCongested(senders, qps int) *congested {
	c := &congested{}
	for i := range senders {
		for k := range qps {
			p := pathAB()
			p.Src = netip.AddrFrom4([4]byte{192, 0, 2, byte(10 + i)})
			p.SrcMAC = synth.MAC{2, 0, 0, 0, 1, byte(i)}
			p.SrcPort = uint16(50000 + 100*i + k)
			qpn := uint32(100*i + k + 16)
			conn := synth.NewConn(&c.Scenario, p, [2]uint32{qpn, qpn + 1000}, [2]uint32{qpn << 10, qpn << 11}, epoch)
			conn.Connect(5000, nil) // so that pairs are certain
			c.conns = append(c.conns, conn)
		}
	}
	return c
}

// mark sends a WRITE with CE at a time, and a CNP for it a bit later.
func (c *congested) mark(conn int, at, later int64) {
	x := c.conns[conn]
	x.Now = epoch + at
	x.Flow[synth.SideA].TOS = 26<<2 | ceMark
	x.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
	x.Flow[synth.SideA].TOS = 26<<2 | ectZero
	c.cnp(conn, at+later, nil)
}

// cnp sends a CNP to the sender of a connection.
func (c *congested) cnp(conn int, at int64, change func(*synth.Packet)) {
	f := c.conns[conn].Flow[synth.SideB]
	f.TOS = 48 << 2
	f.VLANs = []synth.VLAN{{PCP: 6, VID: 10}}
	p := synth.CNP()
	if change != nil {
		change(&p)
	}
	c.Add(epoch+at, f.Append(nil, p))
}

func (c *congested) play(t *testing.T) *analysis.Snapshot {
	return played(t, &c.Scenario, synth.PcapngOptions{}, analysis.Options{})
}

// dataFlow is the flow with the most data.
func dataFlow(t *testing.T, s *analysis.Snapshot) *analysis.Flow {
	t.Helper()
	var most *analysis.Flow
	eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
		if most == nil || f.PayloadBytes > most.PayloadBytes {
			most = f
		}
	})
	require.NotNil(t, most)
	return most
}

// pick is a number below n that differs from call to call, always in the same
// way.
func pick(state *uint32, n int) int {
	*state = *state*1664525 + 1013904223
	return int(*state>>16) % n
}

// TestScenarioPacing: a receiver that paces its CNPs by queue pair, by pair of
// addresses, or all that its port sends, every 4 µs and every 50 µs.
func TestScenarioPacing(t *testing.T) {
	const senders, qps, each = 2, 3, 120
	for _, interval := range []int64{4 * usec, 50 * usec} {
		for scope, schedule := range map[string]func(*congested){
			"qp": func(c *congested) { // each queue pair on its own, a bit apart
				for i := range c.conns {
					for k := range int64(each) {
						c.mark(i, 100*usec+k*interval+int64(i)*interval/16, interval/32)
					}
				}
			},
			"ip_pair": func(c *congested) { // one at a time for each sender
				for i := range senders {
					state := uint32(i)
					for k := range int64(each) {
						c.mark(i*qps+pick(&state, qps), 100*usec+k*interval+int64(i)*interval/16, interval/32)
					}
				}
			},
			"port": func(c *congested) { // one at a time
				state := uint32(7)
				for k := range int64(3 * each) {
					c.mark(pick(&state, senders*qps), 100*usec+k*interval, interval/32)
				}
			},
		} {
			c := newCongested(senders, qps)
			schedule(c)
			s := c.play(t)
			require.Len(t, s.Connections, senders*qps)
			least := int64(1 << 62)
			eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
				if value(f.CNP) == 0 {
					return
				}
				assert.Equal(t, scope, string(f.CNPScope), "%s %d", f.DstIP, interval)
				require.NotNil(t, f.CNPGapMinNS)
				least = min(least, *f.CNPGapMinNS)
			})
			assert.Equal(t, interval, least, "%s: the smallest gap of any queue pair", scope)
			assert.Empty(t, rulesOf(s, "ecn.", "qos."), "%s: all as it should be", scope)
		}
	}
}

// TestScenarioCEToCNP: ten marks answered after 1…10 µs.
func TestScenarioCEToCNP(t *testing.T) {
	c := newCongested(1, 1)
	for k := range int64(10) {
		c.mark(0, 100*usec+k*100*usec, (k+1)*usec)
	}
	f := dataFlow(t, c.play(t))
	assert.Equal(t, analysis.List[analysis.Marking]{{Kind: "data", DSCP: 26, ECN: "ce", PCP: analysis.Int(3), VLANID: analysis.Int(10), Packets: 10}}, f.Markings)
	require.NotNil(t, f.CEToCNP)
	assert.EqualValues(t, 10, f.ECNCE)
	assert.EqualValues(t, 10, value(f.CNP))
	assert.Equal(t, []int64{10, usec, 10 * usec, 5500}, []int64{f.CEToCNP.Count, f.CEToCNP.MinNS, f.CEToCNP.MaxNS, f.CEToCNP.MeanNS})
	assert.InEpsilon(t, 5*usec, f.CEToCNP.P50NS, 0.01)
	assert.InEpsilon(t, 9*usec, f.CEToCNP.P90NS, 0.01)
	assert.EqualValues(t, 99*usec+usec*2, *f.CNPGapMinNS, "100 µs and 1 µs later each time")
}

// TestScenarioECNRules: each rule about congestion notification at what it is
// for, and just below its threshold.
func TestScenarioECNRules(t *testing.T) {
	marks := func(c *congested, n int) {
		for k := range int64(n) {
			x := c.conns[0]
			x.Now = epoch + 100*usec + k*10*usec
			x.Flow[synth.SideA].TOS = 26<<2 | ceMark
			x.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		}
		c.Add(epoch+100*msec, synth.PadEthernet(synth.AppendEthernet(nil, macB, macA, 0x88b5), 0)) // their time to be answered is over
	}
	for _, sc := range []struct {
		name  string
		build func(*congested)
		want  []string
	}{
		{"10 CE marks, no CNP", func(c *congested) { marks(c, 10) }, []string{"ecn.no_cnp"}},
		{"9 CE marks, no CNP", func(c *congested) { marks(c, 9) }, []string{}},
		{"10 CNPs, no mark", func(c *congested) { cnps(c, 10, 26<<2|ectZero, nil) }, []string{"ecn.cnp_without_ce"}},
		{"9 CNPs, no mark", func(c *congested) { cnps(c, 9, 26<<2|ectZero, nil) }, []string{}},
		{"a CNP without BECN", func(c *congested) {
			c.mark(0, 100*usec, usec)
			c.cnp(0, 200*usec, func(p *synth.Packet) { p.BECN = false })
		}, []string{"ecn.cnp_malformed"}},
		{"a CNP with a PSN, which nobody reads", func(c *congested) {
			c.mark(0, 100*usec, usec)
			c.cnp(0, 200*usec, func(p *synth.Packet) { p.PSN = 9 })
		}, []string{}},
		{"the sender goes on as before", func(c *congested) { stream(c, false) }, []string{"ecn.deaf_sender"}},
		{"the sender slows down", func(c *congested) { stream(c, true) }, []string{}},
	} {
		t.Run(sc.name, func(t *testing.T) {
			c := newCongested(1, 1)
			sc.build(c)
			assert.Equal(t, sc.want, rulesOf(c.play(t), "ecn."))
		})
	}
}

// cnps sends data that carry tos, and n CNPs.
func cnps(c *congested, n int, tos uint8, change func(*synth.Packet)) {
	x := c.conns[0]
	x.Now = epoch + 100*usec
	x.Flow[synth.SideA].TOS = tos
	for range 10 {
		x.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
	}
	for k := range int64(n) {
		c.cnp(0, 2*msec+k*100*usec, change)
	}
}

// stream sends a packet every µs with a CE mark and a CNP every ms. A sender
// that heeds them sends half as much for 300 µs after each.
func stream(c *congested, heeds bool) {
	f := c.conns[0].Flow[synth.SideA]
	psn, cnp := c.conns[0].PSN[synth.SideA], int64(-1)
	for at := 100 * usec; at < 20*msec; at += usec {
		f.TOS = 26<<2 | ectZero
		if at%msec == 500*usec {
			f.TOS = 26<<2 | ceMark
			cnp = at + 3*usec
			c.cnp(0, cnp, nil)
		}
		if heeds && cnp >= 0 && at > cnp+5*usec && at < cnp+300*usec && at/usec%2 == 0 {
			continue
		}
		p := f.WritePacket(psn, 0x1000, 7, make([]byte, 512), 0)
		c.Add(epoch+at, f.Append(nil, p))
		psn++
	}
}

// TestScenarioSlowRestart: a CNP that follows a NAK is told apart.
func TestScenarioSlowRestart(t *testing.T) {
	c := newCongested(1, 1)
	x := c.conns[0]
	for k := range int64(12) {
		x.Now = epoch + msec + k*10*msec
		x.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		x.Emit(synth.SideB, synth.NAK(x.PSN[synth.SideA], x.MSN[synth.SideA], synth.NAKSequence), 10*usec)
		c.cnp(0, x.Now-epoch, nil)
	}
	s := c.play(t)
	require.Contains(t, rulesOf(s, "ecn."), "ecn.cnp_without_ce")
	for _, f := range s.Findings {
		if f.Rule == "ecn.cnp_without_ce" {
			assert.Equal(t, []analysis.Decimal{12, 12, 12}, []analysis.Decimal{f.Metrics["cnp_packets"], f.Metrics["without_ce"], f.Metrics["after_nak"]})
		}
	}
	h := hostOf(t, s, "192.0.2.10")
	assert.EqualValues(t, 12, *h.Counters["roce_slow_restart_cnps"].Value)
}

// TestScenarioMarking: each rule about marking at what it is for, alone; and
// nothing where all is as it should be.
func TestScenarioMarking(t *testing.T) {
	for _, sc := range []struct {
		name   string
		change func(*synth.Conn)
		want   []string
	}{
		{"as it should be", func(*synth.Conn) {}, []string{}},
		{"DSCP 0", func(c *synth.Conn) { class(c, 0, ectZero, 0) }, []string{"qos.default_class"}},
		{"Not-ECT", func(c *synth.Conn) { class(c, 26, 0, 3) }, []string{"qos.not_ect"}},
		{"PCP of another class", func(c *synth.Conn) { class(c, 26, ectZero, 4) }, []string{"qos.pcp_mismatch"}},
		{"the answers of another class", func(c *synth.Conn) {
			c.Flow[synth.SideB].TOS = 34<<2 | ectZero
			c.Flow[synth.SideB].VLANs = []synth.VLAN{{PCP: 4, VID: 10}}
		}, []string{"qos.direction"}},
	} {
		t.Run(sc.name, func(t *testing.T) {
			c := newCongested(1, 1)
			x := c.conns[0]
			sc.change(x)
			for range 5 {
				x.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
				x.Read(synth.SideA, 0x2000, 8, make([]byte, 64))
			}
			assert.Equal(t, sc.want, rulesOf(c.play(t), "qos.", "ecn."))
		})
	}
	t.Run("several DSCPs", func(t *testing.T) {
		c := newCongested(1, 1)
		x := c.conns[0]
		for _, dscp := range []uint8{26, 27, 26} {
			x.Flow[synth.SideA].TOS = dscp<<2 | ectZero
			x.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		}
		assert.Equal(t, []string{"qos.mixed_dscp"}, rulesOf(c.play(t), "qos."))
	})
	t.Run("CNPs in the class of the data", func(t *testing.T) {
		c := newCongested(1, 1)
		c.mark(0, 100*usec, usec)
		f := c.conns[0].Flow[synth.SideB]
		for k := range int64(3) { // more of them in the data's class than in their own
			c.Add(epoch+(200+100*k)*usec, f.Append(nil, synth.CNP()))
		}
		assert.Equal(t, []string{"ecn.cnp_class"}, rulesOf(c.play(t), "qos.", "ecn."))
	})
}

// class marks both directions.
func class(c *synth.Conn, dscp, ecn, pcp uint8) {
	for side := range c.Flow {
		c.Flow[side].TOS = dscp<<2 | ecn
		c.Flow[side].VLANs = []synth.VLAN{{PCP: pcp, VID: 10}}
	}
}

// TestScenarioTwoTaps: the same packets before and behind a hop, all compared:
// the file tells of both taps before the first one comes.
func TestScenarioTwoTaps(t *testing.T) {
	const packets = 20
	for _, sc := range []struct {
		name   string
		change func(h *synth.Headers) // what the hop does to data
		ce     int64                  // marks of the connection: any sighting counts
		want   []string
	}{
		{"an honest hop", func(*synth.Headers) {}, 0, []string{}},
		{"it marks", func(h *synth.Headers) { h.IP[1] |= 3 }, packets, []string{}},
		{"it rewrites DSCP", func(h *synth.Headers) { h.IP[1] &= 3 }, 0, []string{"qos.rewritten"}},
		{"it clears TOS", func(h *synth.Headers) { h.IP[1] = 0 }, 0, []string{"ecn.bleached", "qos.rewritten"}},
	} {
		for _, routed := range []bool{true, false} {
			s := &synth.Scenario{}
			p := pathAB()
			c := synth.NewConn(s, p, [2]uint32{17, 18}, [2]uint32{100, 200}, epoch)
			for range packets {
				c.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
			}
			behind := s.Rewritten(func(h *synth.Headers) {
				if routed {
					h.IP[8]--
				}
				if h.Opcode() == synth.WriteOnly {
					sc.change(h)
				}
			})
			for _, f := range behind.Frames {
				f.Iface, f.Time = 1, f.Time+700
				s.Frames = append(s.Frames, f)
			}
			snap := played(t, s, synth.PcapngOptions{Interfaces: []synth.NGInterface{{TSResol: 9, Name: "leaf"}, {TSResol: 9, Name: "spine"}}}, analysis.Options{})
			require.Len(t, snap.Connections, 1, sc.name)
			assert.Equal(t, sc.ce, dataFlow(t, snap).ECNCE, sc.name)
			assert.Equal(t, sc.want, rulesOf(snap, "ecn.bleached", "qos.rewritten"), "%s, routed %v", sc.name, routed)
			for _, f := range snap.Findings {
				if f.Rule == "qos.rewritten" {
					assert.Equal(t, analysis.Decimal(packets), f.Metrics["packets"])
					assert.Contains(t, string(f.Meaning), "DSCP 26 at leaf, 0 at spine")
					assert.Equal(t, map[bool]string{true: "high", false: "medium"}[routed], f.Confidence)
				}
			}
		}
	}
}

// TestScenarioManyQueuePairs: a hundred queue pairs between two hosts, as
// collective libraries have them. A CNP counts for the one that it means.
func TestScenarioManyQueuePairs(t *testing.T) {
	const qps = 100
	c := newCongested(1, qps)
	for round := range int64(3) {
		for k := range qps {
			c.mark(k, msec+round*10*msec+int64(k)*20*usec, 5*usec)
		}
	}
	s := c.play(t)
	require.Len(t, s.Connections, qps)
	eachFlow(s, func(_ *analysis.Connection, f *analysis.Flow) {
		if f.PayloadBytes == 0 {
			return
		}
		require.EqualValues(t, 3, f.ECNCE)
		require.EqualValues(t, 3, *f.CNP)
		require.NotNil(t, f.CEToCNP)
		require.Equal(t, []int64{3, 5 * usec, 5 * usec}, []int64{f.CEToCNP.Count, f.CEToCNP.MinNS, f.CEToCNP.MaxNS})
	})
	assert.Empty(t, rulesOf(s, "ecn."))
	assert.Empty(t, s.Capture.Evictions)
}

// TestScenarioRecovery: the sender of the scenario about deafness comes back at
// once 300 µs after each CNP: within a window of 50 µs.
func TestScenarioRecovery(t *testing.T) {
	c := newCongested(1, 1)
	stream(c, true)
	f := dataFlow(t, c.play(t))
	require.NotNil(t, f.RateReduction)
	require.NotNil(t, f.RateRecoveryNS, f.Reasons)
	assert.InDelta(t, 300*usec, *f.RateRecoveryNS, float64(100*usec))
	require.NotNil(t, f.RateRecovery)
	assert.Positive(t, *f.RateRecovery)

	c = newCongested(1, 1)
	stream(c, false)
	f = dataFlow(t, c.play(t))
	assert.Nil(t, f.RateRecovery)
	assert.Equal(t, "the rate wasn't cut", f.Reasons["rate_recovery_bps_per_ms"])
	assert.Equal(t, "the rate wasn't cut", f.Reasons["rate_recovery_ns"])
}

// TestScenarioSharedPriority: TCP in RoCE's priority is told from the share on
// that its thresholds give; in another priority it is nobody's business.
func TestScenarioSharedPriority(t *testing.T) {
	for _, c := range []struct {
		packets int
		pcp     uint8
		want    []string
	}{
		{100, 3, []string{"qos.shared_priority"}}, {99, 3, []string{}}, {1000, 1, []string{}},
	} {
		s := &synth.Scenario{}
		conn := synth.NewConn(s, pathAB(), [2]uint32{17, 18}, [2]uint32{100, 200}, epoch)
		for range 400 {
			conn.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		}
		path := pathAB()
		path.VLANs = []synth.VLAN{{PCP: c.pcp, VID: 10}}
		for i := range c.packets {
			seg := synth.Segment{SrcPort: 40000, DstPort: 80, Seq: uint32(i) * 10, Flags: synth.ACKFlag, Payload: []byte("GET / HTTP")}
			s.Add(epoch+int64(i)*usec, synth.AppendTCP(nil, &path, &seg))
		}
		snap := played(t, s, synth.PcapngOptions{}, analysis.Options{})
		assert.Equal(t, c.want, rulesOf(snap, "qos."), "%d in %d", c.packets, c.pcp)
		for _, f := range snap.Findings {
			if f.Rule == "qos.shared_priority" {
				assert.Equal(t, analysis.Decimal(100), f.Metrics["packets"])
				assert.Contains(t, string(f.Meaning), "priority 3 on 0: 800 packets of RoCE, 100 packets of other traffic (11 %)")
				assert.Contains(t, string(f.Filters.Wireshark), "vlan.priority == 3 || !vlan && (ip.dsfield.dscp in {24, 25,")
			}
		}
	}
}

// TestScenarioPairDSCP: one of three queue pairs between two hosts has a class
// of its own.
func TestScenarioPairDSCP(t *testing.T) {
	for other, want := range map[uint8][]string{26: {}, 34: {"qos.pair_dscp"}} {
		c := newCongested(1, 3)
		c.conns[2].Flow[synth.SideA].TOS = other<<2 | ectZero
		for i, x := range c.conns {
			x.Now = epoch + msec + int64(i)*usec
			x.Write(synth.SideA, 0x1000, 7, make([]byte, 64))
		}
		s := c.play(t)
		assert.Equal(t, want, rulesOf(s, "qos.pair"))
		for _, f := range s.Findings {
			if f.Rule == "qos.pair_dscp" {
				assert.Contains(t, string(f.Meaning), "1 flow, 1 data packet: DSCP 34, others from 192.0.2.10 to 192.0.2.2 DSCP 26")
			}
		}
	}
}
