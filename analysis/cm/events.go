package cm

import (
	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
)

// Connect says that two queue pairs were joined. It comes with the REP, before
// any RTU: data may overtake that. When only one direction was captured it
// comes with the message that proves that the other one was sent, and Partial
// is set; if the rest turns up after all a second, complete one follows.
type Connect struct {
	Dialogue  int64 // number of the dialogue, the same in Disconnect
	Iface     uint16
	Transport wire.Kind
	Service   roce.Service
	A, B      End // A is the initiator; see Has… for what is missing
	Partial   bool

	HasParameters bool // the REQ was captured
	Parameters    Parameters
	HasReply      bool // the REP was
	Reply         ReplyTerms
	HasServiceID  bool
	ServiceID     roce.ServiceID
	Port          uint16
	ULP           string

	Time   int64
	Packet int64
}

// How tells what ended a connection.
type How uint8

// Ends.
const (
	HowDREQ   How = iota // one side asked to disconnect
	HowReject            // a REJ after the REP: it never came to be
)

// Disconnect says that one end is leaving. Data may still be in flight.
type Disconnect struct {
	Dialogue int64
	Iface    uint16
	A, B     End // as far as known: the DREQ names the QPN of the end that it goes to
	By       Side
	How      How
	// Known: the dialogue's REQ or REP was captured. Otherwise A is only who
	// sent the first message seen.
	Known  bool
	Time   int64
	Packet int64
}

// Events receives what the engine must know at once. Any may be nil.
type Events struct {
	Connect    func(*Connect)
	Disconnect func(*Disconnect)
	// Drop is told of a dialogue that the tracker forgets, for want of room or
	// because it was idle for long: it is in no later result.
	Drop func(*Dialogue)
}

// announce tells of the connection when there is something new to tell.
func (t *Tracker) announce(e *entry, p *wire.Packet) {
	d := &e.Dialogue
	if e.sidr { // resolves a service, joins no pair
		return
	}
	if d.State == Rejected || d.State >= Disconnecting || e.told == toldAll {
		return
	}
	full := d.A.HasQPN && d.B.HasQPN
	switch {
	case full:
		e.told = toldAll
	case e.told == toldPart || !(d.A.HasQPN || d.B.HasQPN):
		return
	case d.State < Replied:
		return // a REQ alone: the REP may be on its way
	default:
		e.told = toldPart
	}
	if t.events.Connect == nil {
		return
	}
	t.events.Connect(&Connect{
		Dialogue: e.number, Iface: d.Iface, Transport: d.Transport, Service: d.Service, A: d.A, B: d.B, Partial: !full,
		HasParameters: d.HasParameters, Parameters: d.Parameters, HasReply: d.HasReply, Reply: d.Reply,
		HasServiceID: d.HasServiceID, ServiceID: d.ServiceID, Port: d.Port, ULP: d.ULP, Time: p.Time, Packet: p.Number,
	})
}

// part tells of the end of the connection, once.
func (t *Tracker) part(e *entry, p *wire.Packet, by Side, how How) {
	if e.parted || how == HowReject && e.told == toldNothing {
		return
	}
	e.parted = true
	if t.events.Disconnect == nil {
		return
	}
	d := &e.Dialogue
	t.events.Disconnect(&Disconnect{
		Dialogue: e.number, Iface: d.Iface, A: d.A, B: d.B, By: by, How: how,
		Known: d.HasParameters || d.HasReply, Time: p.Time, Packet: p.Number,
	})
}

// setQPN notes a queue pair number of an end; those of management never are of
// a connection.
func (e *End) setQPN(q roce.QPN) {
	if q != roce.QPNSMI && q != roce.QPNGSI {
		e.QPN, e.HasQPN = q, true
	}
}
