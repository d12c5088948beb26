package cm

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// take books a message into its dialogue.
func (t *Tracker) take(i int32, p *wire.Packet, m *message) {
	e := &t.entries[i]
	d := &e.Dialogue
	from := d.sender(p)
	d.LastTime, d.LastPacket = max(d.LastTime, p.Time), p.Number

	f := fingerprint{m.kind, from, p.IPID, uint32(p.RoCE.BTH.PSN), p.Time}
	if g := e.last; g.kind == f.kind && g.from == f.from && g.ipid == f.ipid && g.psn == f.psn &&
		f.time-g.time <= copyWindow && g.time-f.time <= copyWindow {
		d.Copies++
		return
	}
	e.last = f

	s := &d.Seen[m.kind]
	if s.Count++; s.Count == 1 {
		s.FirstTime, s.FirstPacket = p.Time, p.Number
	}
	s.LastTime, s.LastPacket = p.Time, p.Number

	t.learnIDs(i, e, from, m)
	if m.tellsInitiator() {
		d.InitiatorKnown = true
	}
	d.learn(from, m, &t.cm)
	rejected := d.State < Rejected && m.kind == REJ
	d.advance(m.kind)
	switch {
	case rejected:
		t.part(e, p, from, HowReject)
	case m.kind == DREQ:
		t.part(e, p, from, HowDREQ)
	default:
		t.announce(e, p)
	}
}

// learnIDs notes the communication IDs of both ends, and finds the dialogue by
// them from now on.
func (t *Tracker) learnIDs(i int32, e *entry, from Side, m *message) {
	set := func(s Side, id uint32) {
		end := e.end(s)
		if end.HasCommID || id == 0 {
			return
		}
		end.CommID, end.HasCommID = id, true
		t.index[e.key(s)] = i
	}
	switch m.kind {
	case SIDRREP: // its one ID is the requester's
		set(from.other(), m.local)
	default:
		set(from, m.local)
		set(from.other(), m.remote)
	}
}

// Octets of a message that must have been captured for its fields to count:
// a snaplen of 128 ends inside a REQ, behind the QPN and before the PSN.
const (
	needService   = 16 // REQ, SIDR_REQ
	needREQQPN    = 35
	needREQPSN    = 47
	needREPPSN    = 23
	needREQParams = 96 // the ACK timeout is the last of them
)

// learn notes what a message tells.
func (d *Dialogue) learn(from Side, m *message, c *roce.CM) {
	near, far := d.end(from), d.end(from.other())
	switch m.kind {
	case REQ:
		d.learnRequest(near, far, m, &c.REQ)
	case REP:
		d.learnReply(near, far, m, &c.REP)
	case REJ:
		if d.Reject == nil && m.captured >= roce.REJLen {
			d.Reject = &Reject{Reason: c.REJ.Reason, Rejected: c.REJ.Message, By: from, PrivateData: trimZeros(c.REJ.PrivateData)}
		}
	case DREQ:
		if m.captured >= roce.DREQLen {
			far.setQPN(c.DREQ.RemoteQPN)
		}
	case SIDRREQ:
		d.Service = roce.ServiceUD
		if m.captured >= needService {
			h, ok := c.SIDRREQ.IPCM()
			d.learnService(c.SIDRREQ.ServiceID, c.SIDRREQ.ConsumerPrivateData(), h, ok)
		}
	case SIDRREP:
		d.Service = roce.ServiceUD
		if m.captured < roce.SIDRREPLen {
			return
		}
		d.SIDRStatus = c.SIDRREP.Status
		if d.SIDRStatus != 0 {
			d.raise(Rejected)
			return
		}
		near.setQPN(c.SIDRREP.QPN)
	}
}

// learnRequest notes a REQ, as far as it was captured. Its starting PSN is the
// one that the *receiver* of the message is to begin with (IBTA 12.7.31): the
// captures' queue pairs have a REQ's number as rq_psn at the initiator, as
// sq_psn at the responder.
func (d *Dialogue) learnRequest(near, far *End, m *message, q *roce.REQ) {
	if m.captured >= needService {
		h, ok := q.IPCM()
		d.learnService(q.ServiceID, q.ConsumerPrivateData(), h, ok)
	}
	if m.captured >= needREQQPN {
		near.setQPN(q.LocalQPN)
		near.CAGUID = q.LocalCAGUID
	}
	if m.captured >= needREQPSN {
		far.StartingPSN, far.HasStartingPSN = q.StartingPSN, true
	}
	if d.HasParameters || m.captured < needREQParams {
		return
	}
	d.HasParameters, d.Service = true, q.Service()
	d.Parameters = Parameters{
		PathMTUBytes: q.PathMTU.Bytes(), AckTimeoutExponent: q.Primary.LocalACKTimeout,
		RetryCount: q.RetryCount, RNRRetryCount: q.RNRRetryCount,
		InitiatorDepth: q.InitiatorDepth, ResponderResources: q.ResponderResources,
		FlowLabel: q.Primary.FlowLabel, PKey: q.PKey,
		ResponseTimeout: q.RemoteCMResponseTimeout, MaxCMRetries: q.MaxCMRetries, SRQ: q.SRQ,
	}
}

// learnReply notes a REP, as far as it was captured. With XRC the QPN stands
// where the EE context was.
func (d *Dialogue) learnReply(near, far *End, m *message, r *roce.REP) {
	if m.captured < needREPPSN {
		return
	}
	qpn := r.LocalQPN
	if d.Service == roce.ServiceXRC {
		qpn = roce.QPN(r.LocalEECN)
	}
	near.setQPN(qpn)
	far.StartingPSN, far.HasStartingPSN = r.StartingPSN, true
	if d.HasReply || m.captured < roce.REPLen {
		return
	}
	near.CAGUID = r.LocalCAGUID
	d.HasReply, d.Reply = true, ReplyTerms{
		InitiatorDepth: r.InitiatorDepth, ResponderResources: r.ResponderResources,
		RNRRetryCount: r.RNRRetryCount, TargetAckDelay: r.TargetACKDelay, SRQ: r.SRQ,
	}
	d.ReplyPrivate = trimZeros(r.PrivateData)
}

// learnService notes the service ID and what it says of the upper layer.
func (d *Dialogue) learnService(id roce.ServiceID, private []byte, h roce.IPCMHeader, hasIPCM bool) {
	if d.HasServiceID {
		return
	}
	d.ServiceID, d.HasServiceID = id, true
	_, d.Port, d.HasPort = id.Port()
	if hasIPCM {
		d.SrcPort = h.SrcPort
	}
	d.ULP = ulpOf(id, private)
	d.RequestPrivate = trimZeros(private)
}
