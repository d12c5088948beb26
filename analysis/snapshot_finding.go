package analysis

// Severity ranks findings and the verdict.
type Severity string

// Severities, least first.
const (
	SeverityOK       Severity = "ok"
	SeverityNotice   Severity = "notice"
	SeverityWarning  Severity = "warning"
	SeverityCritical Severity = "critical"
)

// Rank orders severities: the higher the worse; -1 for none of them.
func (s Severity) Rank() int {
	switch s {
	case SeverityOK:
		return 0
	case SeverityNotice:
		return 1
	case SeverityWarning:
		return 2
	case SeverityCritical:
		return 3
	}
	return -1
}

// Verdict is the answer in one line.
type Verdict struct {
	Severity  Severity `json:"severity" enum:"ok|notice|warning|critical" doc:"the worst finding's"`
	FindingID Text     `json:"finding_id" doc:"the finding to start at"`
	Headline  string   `json:"headline" doc:"the answer in one sentence"`
}

// Finding is one thing that is wrong, with its evidence.
type Finding struct {
	ID          string       `json:"id" doc:"F1, F2… in order of importance"`
	Rule        string       `json:"rule" doc:"name of the rule, see rdmascope explain"`
	Severity    Severity     `json:"severity" enum:"notice|warning|critical" doc:"how bad"`
	Confidence  string       `json:"confidence" enum:"high|medium|low" doc:"how sure; possible capture loss lowers it"`
	Title       string       `json:"title" doc:"what, in a few words"`
	Meaning     Text         `json:"meaning" doc:"the evidence in a sentence or two"`
	FirstTime   Time         `json:"first_time" doc:"since when"`
	LastTime    Time         `json:"last_time" doc:"until when"`
	FirstPacket *int64       `json:"first_packet" doc:"number of the first packet concerned"`
	LastPacket  *int64       `json:"last_packet" doc:"number of the last packet concerned"`
	Packets     List[int64]  `json:"packets" doc:"numbers of at most 20 of the packets that prove it"`
	Subject     Subject      `json:"subject" doc:"what it is about; only the names that apply"`
	CausedBy    Text         `json:"caused_by" doc:"finding that explains this one"`
	Metrics     Map[Decimal] `json:"metrics" doc:"figures that the rule looked at, units in the names"`
	Limits      Map[Decimal] `json:"limits" doc:"thresholds that they were compared with"`
	Filters     Filters      `json:"filters" doc:"display filters that select the packets"`
	Advice      Text         `json:"advice" doc:"what to check next"`

	weight int64    // ranks findings of one rule: the higher the worse
	causes []string // rules of which a finding about the same subject explains this one, the likeliest first
}

// Subject names what a finding is about. Only what applies is there.
type Subject struct {
	Kind         string    `json:"kind" enum:"connection|flow|pfc_port|host|capture|input" doc:"what sort of thing"`
	ConnectionID string    `json:"connection_id,omitempty" doc:"connection concerned"`
	SrcIP        string    `json:"src_ip,omitempty" doc:"source of the flow"`
	DstIP        string    `json:"dst_ip,omitempty" doc:"destination of the flow"`
	DestQP       *int64    `json:"dest_qp,omitempty" doc:"destination QPN of the flow"`
	SrcPort      *int64    `json:"src_port,omitempty" doc:"source port of the flow (iWARP)"`
	DstPort      *int64    `json:"dst_port,omitempty" doc:"destination port of the flow (iWARP)"`
	IP           string    `json:"ip,omitempty" doc:"host concerned"`
	Interface    string    `json:"interface,omitempty" doc:"capture interface concerned"`
	EthSrc       string    `json:"eth_src,omitempty" doc:"source MAC of the pause frames"`
	Priority     *Priority `json:"priority,omitempty" doc:"priority concerned"`
	Path         string    `json:"path,omitempty" doc:"input concerned"`
}

// Filters select a finding's packets.
type Filters struct {
	Wireshark Text `json:"wireshark" doc:"Wireshark display filter"`
	Rdmascope Text `json:"rdmascope" doc:"the same for rdmascope -Y"`
}
