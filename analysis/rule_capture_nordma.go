package analysis

var ruleCaptureNoRDMA = Rule{
	Name:     "capture.no_rdma",
	Severity: SeverityNotice,
	Title:    "there is no RDMA in this capture",
	Meaning: "No RoCE, no iWARP and no native InfiniBand packet was recognised. An RDMA NIC hands its traffic past the host's network stack, " +
		"so a plain tcpdump on the host sees none of it; a switch's CPU port doesn't either.",
	Advice: "capture with the NIC's own sniffer, or on a mirror port; RoCE on another UDP port: --roce-port",
	find: func(f *finder) {
		p := &f.Protocols
		if f.Capture.Packets == 0 || p.RoCEv2.Packets+p.RoCEv1.Packets+p.InfiniBand.Packets+p.IWARP.Packets+p.CM.Packets > 0 {
			return
		}
		n := Finding{Subject: Subject{Kind: "capture"}}
		if p.PFC.Packets+p.Pause.Packets > 0 {
			n.Meaning = "there are pause frames, and nothing else of RDMA"
		}
		f.add(n)
	},
}
