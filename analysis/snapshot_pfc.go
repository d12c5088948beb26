package analysis

import (
	"fmt"
	"strconv"

	"rdmascope/analysis/pause"
)

// Priority is a priority 0…7, or PriorityAll for 802.3x pause.
type Priority int8

// PriorityAll is the row of 802.3x PAUSE, which stops every priority.
const PriorityAll Priority = -1

// String gives the number, or "all".
func (p Priority) String() string {
	if p == PriorityAll {
		return "all"
	}
	return strconv.Itoa(int(p))
}

// MarshalJSON writes a number, or "all".
func (p Priority) MarshalJSON() ([]byte, error) {
	if p == PriorityAll {
		return []byte(`"all"`), nil
	}
	return strconv.AppendInt(nil, int64(p), 10), nil
}

// UnmarshalJSON reads what MarshalJSON writes.
func (p *Priority) UnmarshalJSON(b []byte) error {
	if string(b) == `"all"` {
		*p = PriorityAll
		return nil
	}
	v, err := strconv.ParseUint(string(b), 10, 3)
	if err != nil {
		return fmt.Errorf("report priority %s: %w", b, err)
	}
	*p = Priority(v)
	return nil
}

// PFC is everything about pauses.
type PFC struct {
	LinkSpeedBps  *int64             `json:"link_speed_bps" doc:"null when sources differ or none is known"`
	LinkSpeedFrom Text               `json:"link_speed_from" enum:"flag|pcapng|assumed" doc:"where the speed comes from"`
	Sources       List[PFCSource]    `json:"sources" doc:"senders of pause frames, by interface, direction, MAC and priority"`
	Spreads       List[PFCSpread]    `json:"spreads" doc:"pauses that travelled over interfaces"`
	Violations    List[PFCViolation] `json:"violations" doc:"data sent into a pause"`
	Watchdogs     Watchdogs          `json:"watchdogs" doc:"what common watchdogs would have said"`
	Storms        List[PFCStorm]     `json:"storms" doc:"pauses out of proportion"`
	Deadlocks     List[PFCDeadlock]  `json:"deadlocks" doc:"storms that stop one another in a cycle: suspected deadlocks"`

	keys       []pause.Key // of the sources, in their order
	timeline   pause.TimelineResult
	notEnabled []int // sources that pause a priority which DCBX says isn't enabled
}

// PFCSource is one sender of pause frames for one priority.
type PFCSource struct {
	Interface       string   `json:"interface" doc:"name, else number"`
	Direction       Text     `json:"direction" enum:"inbound|outbound" doc:"null when the file does not tell"`
	EthSrc          string   `json:"eth_src" doc:"source MAC"`
	Priority        Priority `json:"priority" doc:"0 to 7, or all for 802.3x"`
	LinkSpeedBps    *int64   `json:"link_speed_bps" doc:"speed used to turn quanta into time"`
	XOFFFrames      int64    `json:"xoff_frames" doc:"frames that pause this priority"`
	XONFrames       int64    `json:"xon_frames" doc:"frames that resume it"`
	PausedNS        *int64   `json:"paused_ns" doc:"union of the pause intervals"`
	PausedRatio     *Decimal `json:"paused_ratio" doc:"share of the capture's duration"`
	LongestPauseNS  *int64   `json:"longest_pause_ns" doc:"longest interval without a break"`
	Transitions     *int64   `json:"transitions" doc:"intervals ended by resume or expiry"`
	Expiries        *int64   `json:"expiries" doc:"intervals ended by expiry"`
	MalformedFrames int64    `json:"malformed_frames" doc:"frames that changed no pause state"`
	FirstTime       Time     `json:"first_time" doc:"first frame"`
	LastTime        Time     `json:"last_time" doc:"last frame"`

	MalformedReasons Counts     `json:"malformed_reasons" doc:"malformed frames by what is wrong with them"`
	Windows          PFCWindows `json:"windows" doc:"the pause over time"`

	firstPacket                int64    // evidence of findings
	stallWarnings, stallErrors int64    // by mlx5's rule, for its counters
	joinedBps, joinedNS        int64    // see pause.Joined
	roce                       [8]int64 // RoCE packets seen on its interface, by priority
	timeline                   []int64  // see Timeline
}

// Timeline is the paused time in each of equal parts of the capture, as far as
// single pauses are remembered: what a graph of it shows. It is nil when the
// capture has no length.
func (s *PFCSource) Timeline() []int64 { return s.timeline }

// PFCWindows cuts the time from a source's first frame to its last pause into
// equal windows, aligned to multiples of their width since the epoch.
type PFCWindows struct {
	StartTime Time        `json:"start_time" doc:"start of the first window; null when there is none"`
	WidthNS   int64       `json:"width_ns" doc:"width of each"`
	PausedNS  List[int64] `json:"paused_ns" doc:"paused time in each"`
	Frames    List[int64] `json:"frames" doc:"pause frames in each"`
}

// PFCPort names the sender of pauses.
type PFCPort struct {
	Interface string `json:"interface" doc:"name, else number"`
	EthSrc    string `json:"eth_src" doc:"source MAC"`
}

// PFCHop is one pause of a chain.
type PFCHop struct {
	Interface  string   `json:"interface" doc:"name, else number"`
	EthSrc     string   `json:"eth_src" doc:"source MAC"`
	Priority   Priority `json:"priority" doc:"0 to 7, or all for 802.3x"`
	StartTime  Time     `json:"start_time" doc:"when this pause began"`
	DurationNS *int64   `json:"duration_ns" doc:"how long it lasted"`
}

// PFCSpread is a chain of pauses, below storm length, over interfaces.
type PFCSpread struct {
	StartTime Time         `json:"start_time" doc:"when the chain began"`
	Path      List[PFCHop] `json:"path" doc:"pauses in order"`
	Root      *PFCPort     `json:"root" doc:"who began it; null for a cycle"`
}

// PFCViolation is data that was sent into a pause.
type PFCViolation struct {
	Interface    string   `json:"interface" doc:"name, else number"`
	EthSrc       string   `json:"eth_src" doc:"source MAC of the pause"`
	Priority     Priority `json:"priority" doc:"priority paused"`
	ConnectionID Text     `json:"connection_id" doc:"who went on sending"`
	Packets      int64    `json:"packets" doc:"packets sent into the pause"`
	FirstPacket  *int64   `json:"first_packet" doc:"number of the first"`
	FirstTime    Time     `json:"first_time" doc:"its time"`
}

// Watchdogs says how often each watchdog would have fired.
type Watchdogs struct {
	PFCWD *int64 `json:"pfcwd" doc:"SONiC pfcwd"`
	NIC   *int64 `json:"nic" doc:"NIC watchdog, 100 ms"`
	MLX5  *int64 `json:"mlx5" doc:"mlx5 stall warning"`
}

// PFCStorm is a pause out of proportion.
type PFCStorm struct {
	Interface  string             `json:"interface" doc:"name, else number"`
	EthSrc     string             `json:"eth_src" doc:"source MAC"`
	Priority   Priority           `json:"priority" doc:"0 to 7, or all for 802.3x"`
	StartTime  Time               `json:"start_time" doc:"when it began"`
	DurationNS int64              `json:"duration_ns" doc:"how long it lasted"`
	Frames     int64              `json:"frames" doc:"pause frames in it"`
	Kind       string             `json:"kind" enum:"storm|choppy|heavy" doc:"which rule it meets"`
	Open       bool               `json:"open" doc:"still going at the end of the capture"`
	Victims    List[PFCVictim]    `json:"victims" doc:"connections that fell silent"`
	Root       bool               `json:"root" doc:"began first and was not itself paused by another"`
	Spread     List[PFCSpreadHop] `json:"spread" doc:"who was paused after it, in order"`

	Flaps    int64 `json:"flaps" doc:"further runs of storm length, each within the restore time of the one before"`
	LastTime Time  `json:"last_time" doc:"end of the last of them, else of the storm"`

	firstPacket, pausedNS int64 // evidence of findings
}

// PFCDeadlock is a cycle of storms, none of which can end before another does.
type PFCDeadlock struct {
	Priority   Priority        `json:"priority" doc:"0 to 7, or all for 802.3x"`
	StartTime  Time            `json:"start_time" doc:"when the last of them began"`
	DurationNS int64           `json:"duration_ns" doc:"for how long all lasted at one time"`
	Members    List[PFCMember] `json:"members" doc:"senders in order: each stops the next, the last one the first"`
}

// PFCMember is one sender of a cycle.
type PFCMember struct {
	Interface string `json:"interface" doc:"name, else number"`
	EthSrc    string `json:"eth_src" doc:"source MAC"`
	Device    Text   `json:"device" doc:"device, as the port map names it; null without one"`
	Stops     Text   `json:"stops" doc:"device that its pauses stop, by the port map"`
}

// PFCVictim is a connection that a storm silenced.
type PFCVictim struct {
	ConnectionID string `json:"connection_id" doc:"which"`
	QuietNS      int64  `json:"quiet_ns" doc:"last packet before to first packet after"`
}

// PFCSpreadHop is a pause that followed a storm.
type PFCSpreadHop struct {
	Interface string   `json:"interface" doc:"name, else number"`
	EthSrc    string   `json:"eth_src" doc:"source MAC"`
	Priority  Priority `json:"priority" doc:"0 to 7, or all for 802.3x"`
	StartTime Time     `json:"start_time" doc:"when it began"`
}
