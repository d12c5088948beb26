package analysis

// Host is one address, with what its NIC's counters would show.
type Host struct {
	IP              string       `json:"ip" doc:"address"`
	MACs            List[string] `json:"macs" doc:"source MACs seen with it"`
	Connections     int64        `json:"connections" doc:"connections that it takes part in"`
	SentPackets     int64        `json:"sent_packets" doc:"RDMA packets sent"`
	SentBytes       int64        `json:"sent_bytes" doc:"their frame bytes"`
	ReceivedPackets int64        `json:"received_packets" doc:"RDMA packets addressed to it"`
	ReceivedBytes   int64        `json:"received_bytes" doc:"their frame bytes"`
	Counters        Map[Counter] `json:"counters" doc:"under the NIC's own names, as far as the wire shows"`

	figures Map[Counter] // also those that other NICs name; see NICCounters
}

// Counter is a NIC counter as seen from the wire.
type Counter struct {
	Value     *int64 `json:"value" doc:"as seen at the tap"`
	Exactness string `json:"exactness" enum:"exact|lower_bound|inferred" doc:"how near the NIC's own it is"`
}

// Storage is what storage protocols did.
type Storage struct {
	IO List[StorageIO] `json:"io" doc:"operations by connection, queue, protocol and operation"`
}

// StorageIO sums up one operation of one queue.
type StorageIO struct {
	ConnectionID  string   `json:"connection_id" doc:"which connection"`
	QueueID       *int64   `json:"queue_id" doc:"NVMe queue; 0 is admin"`
	Protocol      string   `json:"protocol" enum:"nvme|iser|nfs|smbdirect" doc:"storage protocol"`
	Operation     string   `json:"operation" doc:"command name"`
	Count         int64    `json:"count" doc:"commands seen"`
	Answered      int64    `json:"answered" doc:"with a final response"`
	Unanswered    int64    `json:"unanswered" doc:"without one"`
	Recovered     int64    `json:"recovered" doc:"command lost before the tap: time is a lower bound"`
	Bytes         *int64   `json:"bytes" doc:"data of the answered commands"`
	Errors        Counts   `json:"errors" doc:"final status other than success, by name"`
	Completion    *Latency `json:"completion" doc:"command to response"`
	MaxQueueDepth *int64   `json:"max_queue_depth" doc:"most commands open at once"`
}
