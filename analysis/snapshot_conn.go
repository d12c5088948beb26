package analysis

// Connection is a pair of queue pairs, or a TCP connection with iWARP on it.
type Connection struct {
	ID        string     `json:"connection_id" doc:"stable from run to run: c and a hash of transport, addresses, QPNs or ports, and incarnation"`
	Interface string     `json:"interface" doc:"capture interface that saw it: name, else number"`
	Transport string     `json:"transport" enum:"rocev2|rocev1|infiniband|iwarp" doc:"what carries it"`
	Service   Text       `json:"service" enum:"rc|uc|ud|xrc|rd|stream" doc:"transport service; null when no packet told"`
	ULP       Text       `json:"ulp" doc:"upper layer protocol, where recognised"`
	A         Endpoint   `json:"a" doc:"the initiator, else the sender of the first request seen, else the lower address"`
	B         Endpoint   `json:"b" doc:"the other end"`
	CM        *CM        `json:"cm" doc:"what connection management agreed; null when it was not captured"`
	Pairing   Pairing    `json:"pairing" doc:"how the two directions were found to belong together"`
	Opened    Time       `json:"opened" doc:"when it was established; null when before the capture"`
	Closed    *Closed    `json:"closed" doc:"how and when it ended; null when it did not"`
	FirstTime Time       `json:"first_time" doc:"first packet"`
	LastTime  Time       `json:"last_time" doc:"last packet"`
	Flows     List[Flow] `json:"flows" doc:"one per direction seen"`

	seenUntil Time // newest packet of its interface, of whatever connection
}

// Endpoint is one end of a connection.
type Endpoint struct {
	IP          Text   `json:"ip" doc:"address (RoCEv1 and InfiniBand: the GID)"`
	QPN         *int64 `json:"qpn" doc:"queue pair number; null when not known or not RoCE"`
	Port        *int64 `json:"port,omitempty" doc:"TCP port (iWARP only)"`
	MAC         Text   `json:"mac" doc:"source MAC of its packets"`
	StartingPSN *int64 `json:"starting_psn" doc:"first PSN that it sends, told by CM"`
}

// CM is what the connection manager's messages agreed.
type CM struct {
	State              string `json:"state" doc:"how far the exchange got: requested, replied, established, rejected, disconnecting, closed, no_reply"`
	RejectReason       *int64 `json:"reject_reason" doc:"reason code of the REJ"`
	RejectText         Text   `json:"reject_text" doc:"the reason in words"`
	Requests           int64  `json:"requests" doc:"REQ (or SIDR_REQ) messages seen"`
	Replies            int64  `json:"replies" doc:"REP (or SIDR_REP) messages seen"`
	Retried            int64  `json:"retried" doc:"messages seen again with the same transaction"`
	PathMTUBytes       *int64 `json:"path_mtu_bytes" doc:"path MTU of the REQ"`
	AckTimeoutExponent *int64 `json:"ack_timeout_exponent" doc:"local ACK timeout is 4.096 µs × 2^this; 0 is none"`
	RetryCount         *int64 `json:"retry_count" doc:"transport retries"`
	RNRRetryCount      *int64 `json:"rnr_retry_count" doc:"retries after RNR NAK; 7 is without end"`
	InitiatorDepth     *int64 `json:"initiator_depth" doc:"READs and atomics that the initiator may have outstanding"`
	ResponderResources *int64 `json:"responder_resources" doc:"READs and atomics that the responder serves at once"`
	ServiceID          Text   `json:"service_id" doc:"64 bit service id in hexadecimal"`
	Port               *int64 `json:"port" doc:"port of an RDMA-CM service id"`

	firstPacket      int64  // of the dialogue; evidence of findings
	firstTransaction uint64 // tells dialogues apart
}

// Pairing tells how two flows were joined, and how surely.
type Pairing struct {
	Method     string          `json:"method" enum:"cm|sport|psn|tcp|none" doc:"evidence used"`
	Confidence string          `json:"confidence" enum:"certain|likely|ambiguous|none" doc:"how sure"`
	Candidates List[Candidate] `json:"candidates" doc:"other flows that fit as well"`
}

// Candidate is a flow that may be the other direction.
type Candidate struct {
	SrcIP  string `json:"src_ip" doc:"source address"`
	DstIP  string `json:"dst_ip" doc:"destination address"`
	DestQP int64  `json:"dest_qp" doc:"destination QPN"`
}

// Closed is the end of a connection.
type Closed struct {
	How  string `json:"how" enum:"dreq|reused|fin|rst|terminate|silence" doc:"what ended it"`
	When Time   `json:"when" doc:"when"`
}
