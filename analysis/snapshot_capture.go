package analysis

// Input is one file or stream that was read.
type Input struct {
	Path        string           `json:"path" doc:"as given on the command line; - is standard input"`
	Format      Text             `json:"format" doc:"pcap, pcapng or erf"`
	Compression Text             `json:"compression" enum:"gzip|zstd" doc:"null when not compressed"`
	SizeBytes   *int64           `json:"size_bytes" doc:"size on disk; null for a stream"`
	Complete    bool             `json:"complete" doc:"the end was reached at a record border"`
	Error       Text             `json:"error" doc:"where and why reading ended early; null when complete"`
	Interfaces  List[InputIface] `json:"interfaces" doc:"capture interfaces of the input"`
}

// InputIface is one capture interface of an input.
type InputIface struct {
	ID              int64  `json:"id" doc:"number within the input"`
	Name            Text   `json:"name" doc:"name told by the file"`
	LinkType        int64  `json:"link_type" doc:"LINKTYPE_ number (1 is Ethernet)"`
	SpeedBps        *int64 `json:"speed_bps" doc:"speed told by the file"`
	ReceivedPackets *int64 `json:"received_packets" doc:"packets that the recorder's interface statistics tell"`
	DroppedPackets  *int64 `json:"dropped_packets" doc:"packets that the recorder says it dropped"`
	Clock           Text   `json:"clock" enum:"capture|trailer" doc:"whose times were used: the file's, or those that a tap or a mirror stamped on the frames"`
}

// Capture is the capture as a whole, and what limits its worth as evidence.
type Capture struct {
	StartTime            Time         `json:"start_time" doc:"earliest timestamp"`
	EndTime              Time         `json:"end_time" doc:"latest timestamp"`
	DurationNS           *int64       `json:"duration_ns" doc:"end less start"`
	Filter               Text         `json:"filter" doc:"display filter: only packets that pass it were analysed; null for all"`
	Packets              int64        `json:"packets" doc:"packets read"`
	WireBytes            int64        `json:"wire_bytes" doc:"frame lengths on the wire without FCS, preamble and gap"`
	CapturedBytes        int64        `json:"captured_bytes" doc:"bytes present in the capture"`
	SnaplenCutPackets    int64        `json:"snaplen_cut_packets" doc:"packets of which the capture holds the beginning only"`
	MalformedPackets     int64        `json:"malformed_packets" doc:"packets that contradict their own headers"`
	UnknownPackets       int64        `json:"unknown_packets" doc:"packets with a value that no rule here decodes"`
	UntrustedPackets     int64        `json:"untrusted_packets" doc:"packets with a bad iCRC, a bad IP checksum or malformed headers, to a queue pair that no sound packet had gone to: they are in no connection, since their addresses may be what is wrong"`
	DuplicatePackets     *int64       `json:"duplicate_packets" doc:"copies: equal but for what a hop rewrites"`
	UnseenPackets        *int64       `json:"unseen_packets" doc:"packets proved delivered that the capture does not show"`
	KernelDroppedPackets *int64       `json:"kernel_dropped_packets" doc:"packets that the recorder says it dropped, all interfaces; null when no recorder told"`
	BackwardTimestamps   int64        `json:"backward_timestamps" doc:"packets stamped earlier than the one before on the same interface"`
	EqualTimestamps      int64        `json:"equal_timestamps" doc:"packets stamped like the one before on the same interface"`
	MergedFrames         int64        `json:"merged_frames" doc:"frames into which receive offload (GRO) put several RoCE packets; each is one of packets"`
	MergedPackets        int64        `json:"merged_packets" doc:"RoCE packets found in merged frames: connections count these"`
	MergedUnsplitFrames  int64        `json:"merged_unsplit_frames" doc:"merged frames of which not all packets could be told apart"`
	Clock                Text         `json:"clock" enum:"capture|trailer|both" doc:"times used: the capture's, those stamped on the frames by a tap or a mirror, or both, by interface"`
	ClockMissingPackets  *int64       `json:"clock_missing_packets" doc:"packets without a stamp on interfaces whose stamps are used: they have no time; null where the capture's clock is used"`
	Fragments            int64        `json:"fragments" doc:"IP fragments; RDMA is never fragmented by its sender"`
	PFCVisible           bool         `json:"pfc_visible" doc:"at least one MAC control frame was seen; false says nothing about pauses"`
	Grade                string       `json:"grade" enum:"good|limited|poor" doc:"worth of the capture as evidence"`
	GradeReasons         List[string] `json:"grade_reasons" doc:"why it is not good"`
	DecodeStops          Map[Counts]  `json:"decode_stops" doc:"packets whose decoding ended early, by layer and reason"`
	Encapsulations       Counts       `json:"encapsulations" doc:"packets by encapsulation around what was analysed; what is only recognised is counted too"`
	Evictions            Counts       `json:"evictions" doc:"entries thrown out of a bounded table, by table"`
	Contents             Counts       `json:"contents" doc:"packets by what they are, where the capture holds no RDMA"`
}

// Whose times were used.
const (
	ClockOfCapture  = "capture"
	ClockOfTrailers = "trailer"
	ClockOfBoth     = "both"
)

// Grades of a capture.
const (
	GradeGood    = "good"
	GradeLimited = "limited"
	GradePoor    = "poor"
)

// Protocols splits the capture's packets; each packet counts once.
type Protocols struct {
	RoCEv2     Traffic `json:"rocev2" doc:"RDMA over UDP, connection management left out"`
	RoCEv1     Traffic `json:"rocev1" doc:"RDMA over EtherType 0x8915"`
	InfiniBand Traffic `json:"infiniband" doc:"native InfiniBand"`
	IWARP      Traffic `json:"iwarp" doc:"RDMA over TCP"`
	PFC        Traffic `json:"pfc" doc:"802.1Qbb priority pause frames"`
	Pause      Traffic `json:"pause" doc:"802.3x pause frames"`
	CM         Traffic `json:"cm" doc:"connection management on QP 1"`
	Other      Traffic `json:"other" doc:"everything else"`
}

// Traffic is how much of something there was.
type Traffic struct {
	Packets   int64 `json:"packets" doc:"packets"`
	WireBytes int64 `json:"wire_bytes" doc:"frame lengths without FCS, preamble and gap"`
}
