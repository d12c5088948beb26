package analysis

// SchemaName names the layout of the JSON report. Within version 1 names are
// added, never changed or removed.
const SchemaName = "rdmascope.report/1"

// Snapshot is the typed result of an analysis at one point of the capture:
// what every face (text, JSON, terminal, metrics) shows. It is never changed
// after the engine has published it, so it may be read from any goroutine.
//
// The JSON names are the report's public contract. A figure that the capture
// cannot give is nil (JSON null), never 0; the units are in the names. Two
// struct tags speak to the JSON Schema generator: `doc` describes a field and
// `enum` lists the values of a closed set.
type Snapshot struct {
	Schema             string             `json:"schema" enum:"rdmascope.report/1" doc:"layout of this report"`
	ToolVersion        string             `json:"tool_version" doc:"version of rdmascope that wrote it"`
	Inputs             List[Input]        `json:"inputs" doc:"files or streams read, in the order given"`
	Capture            Capture            `json:"capture" doc:"the capture as a whole and how far it can be trusted"`
	Protocols          Protocols          `json:"protocols" doc:"packets and bytes by protocol"`
	Verdict            Verdict            `json:"verdict" doc:"the one line answer"`
	Findings           List[Finding]      `json:"findings" doc:"what is wrong, most important first"`
	Conformance        List[Conformance]  `json:"conformance" doc:"violations of the transport's rules, by rule"`
	ConnectionsTotal   int64              `json:"connections_total" doc:"connections seen"`
	ConnectionsOmitted int64              `json:"connections_omitted" doc:"connections left out of the list below"`
	Connections        List[Connection]   `json:"connections" doc:"connections, by first packet"`
	AgedOut            *AgedOut           `json:"aged_out" doc:"totals of connections that are no longer listed because they were idle or there was no room; null when all are"`
	PFC                PFC                `json:"pfc" doc:"priority flow control (802.1Qbb) and 802.3x pause"`
	Hosts              List[Host]         `json:"hosts" doc:"hosts, by address"`
	Storage            Storage            `json:"storage" doc:"storage protocols on top of RDMA"`
	TransportFit       List[TransportFit] `json:"transport_fit" doc:"what RoCE and iWARP would make of the loss measured: at most 10 flows, most lost first; empty when the capture does not carry it"`
	Windows            List[Window]       `json:"windows,omitzero" doc:"the newest time of the capture: 10 s, 1 min, 10 min, all (live)"`

	ifaces     []string // names of the capture interfaces, else their numbers
	rates      *Rates
	shared     []sharedPriority
	tapChanges []tapChange // evidence of findings
	priorities *Priorities // by DSCP
}

// Conformance counts the violations of one numbered transport rule.
type Conformance struct {
	Rule        string `json:"rule" doc:"the rule that was broken"`
	Count       int64  `json:"count" doc:"how often"`
	FirstPacket *int64 `json:"first_packet" doc:"number of the first packet that broke it"`
}
