package rc

import (
	"fmt"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// rebase returns the capture with the first PSN of every requester moved to
// start; with a port, all packets get it as their source port.
func rebase(t *testing.T, c *capture, start roce.PSN, port uint16) *capture {
	t.Helper()
	res := newFeeder(Options{}).run(c)
	type key struct {
		k        FlowKey
		response bool
	}
	base := map[key]roce.PSN{}
	for _, n := range res.Connections {
		for i, f := range n.Flows {
			if f == nil || !f.HasRequests {
				continue
			}
			base[key{f.Key, false}] = roce.PSN(f.FirstPSN)
			if g := n.Flows[1-i]; g != nil {
				base[key{g.Key, true}] = roce.PSN(f.FirstPSN)
			}
		}
	}
	out := &capture{packets: append([]wire.Packet(nil), c.packets...)}
	for i := range out.packets {
		p := &out.packets[i]
		if !p.Kind.IsRoCE() || !p.Has(wire.FlagBTH) || p.RoCE.BTH.DestQP == roce.QPNGSI {
			continue
		}
		b := &p.RoCE.BTH
		k := key{FlowKey{p.Iface, p.Kind, p.Src, p.Dst, uint32(b.DestQP)}, b.Opcode.IsResponse()}
		if x, ok := base[k]; ok {
			b.PSN = start.Add(int64(b.PSN.Sub(x)))
		}
		if port != 0 {
			p.SrcPort = port
		}
	}
	return out
}

func load(t *testing.T, x *truthFile) *capture {
	return loadCapture(t, filepath.Join(sharedDir(t), "captures", x.File))
}

// TestSiblingsAtZero: collective libraries start all queue pairs at PSN 0. With
// ports of their own all pairs are found; with one port for all none that is
// wrong may be called likely or certain.
func TestSiblingsAtZero(t *testing.T) {
	for _, x := range truths(t) {
		for _, port := range []uint16{0, 49152} {
			t.Run(fmt.Sprintf("%s/%d", x.File, port), func(t *testing.T) {
				f := newFeeder(Options{})
				f.noCM = true
				x.judge(t, f.run(rebase(t, load(t, &x), 0, port)), port == 0)
			})
		}
	}
}

// plain drops what differs by construction when PSNs are moved.
func plain(res *Result) (v []string) {
	for _, c := range res.Connections {
		for _, f := range c.Flows {
			if f == nil {
				continue
			}
			g := *f
			g.FirstPSN, g.LastPSN, g.LivelockPSN = 0, 0, 0
			if g.RetriesExhausted != nil {
				g.RetriesExhausted = &Exhausted{Times: g.RetriesExhausted.Times}
			}
			g.Recoveries = append([]Recovery(nil), f.Recoveries...)
			for i := range g.Recoveries {
				g.Recoveries[i].PSN, g.Recoveries[i].top = 0, 0
			}
			text := fmt.Sprintf("%+v %s %s %v", g, c.Method, c.Confidence, c.Candidates)
			for _, l := range g.Latency {
				if l != nil {
					b := *l
					b.s = nil
					text += fmt.Sprintf(" %+v", b)
				}
			}
			v = append(v, pointers.ReplaceAllString(text, "&"))
		}
	}
	return v
}

// TestWrap: started 60 packets before the end of the PSN space, everything is
// the same.
func TestWrap(t *testing.T) {
	for _, x := range truths(t) {
		t.Run(x.File, func(t *testing.T) {
			c := load(t, &x)
			a, b := newFeeder(Options{}), newFeeder(Options{})
			a.noCM, b.noCM = true, true
			require.Equal(t, plain(a.run(rebase(t, c, 5000, 0))), plain(b.run(rebase(t, c, 1<<24-60, 0))))
		})
	}
}

// cleanCaptures have no loss, reordering or copies.
var cleanCaptures = []string{"rxe_send_bw_4k.pcap.gz", "rxe_write_bw_16k_q4.pcap.gz", "rxe_send_bw_64b.pcap.gz",
	"rxe_mtu4096_write_bw.pcap.gz", "rxe_read_bw_16k_q2.pcap.gz", "rxe_mixed_ops_q4.pcap.gz", "rxe_nfs.pcap.gz"}

// TestCaptureLoss: packets taken out of a clean capture are unseen, none is
// lost. A missing ACK is neither.
func TestCaptureLoss(t *testing.T) {
	for _, name := range cleanCaptures {
		for _, every := range []int{7, 23, 60} {
			t.Run(fmt.Sprintf("%s/%d", name, every), func(t *testing.T) {
				c := loadCapture(t, filepath.Join(sharedDir(t), "captures", name))
				out := &capture{}
				var gone uint64
				for i, p := range c.packets {
					if p.Kind.IsRoCE() && p.RoCE.BTH.DestQP != roce.QPNGSI && i%every == every-1 && i > 80 && i < len(c.packets)-80 {
						if p.RoCE.BTH.Opcode.Operation() != roce.OperationAcknowledge {
							gone++
						}
						continue
					}
					out.packets = append(out.packets, p)
				}
				require.NotZero(t, gone)
				res := newFeeder(Options{}).run(out)
				var unseen uint64
				for _, n := range res.Connections {
					for _, f := range n.Flows {
						require.NotNil(t, f)
						unseen += f.Unseen.N
						assert.Zero(t, f.LostUpstream.N, "%v", f.Key)
						assert.Zero(t, f.LostDownstream.N, "%v", f.Key)
						assert.Zero(t, f.EpisodesBy.Total, "%v", f.Key)
						assert.Zero(t, f.Retransmitted)
					}
				}
				assert.LessOrEqual(t, unseen, gone)
				assert.GreaterOrEqual(t, unseen*100, gone*89, "unseen of %d taken out", gone)
			})
		}
	}
}

var pointers = regexp.MustCompile(`0x[0-9a-f]{6,}`)
