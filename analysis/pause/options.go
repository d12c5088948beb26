package pause

import "rdmascope/decode/wire"

// All is the priority of 802.3x PAUSE, which stops everything.
const All = 8

// Options are the settings; zero means the default in the comment.
type Options struct {
	LinkSpeedBps    uint64 // given by the user for all links, 0: not given
	AssumedSpeedBps uint64 // where nothing tells, 100 Gbit/s
	WindowNS        int64  // width of the windows, 100 ms
	MaxRows         int    // 1024
	RowIdleNS       int64  // a row silent for this long may give room to another, 10 s

	// PriorityOfDSCP maps untagged packets, nil: DSCP/8, the usual default.
	PriorityOfDSCP *[64]uint8

	DetectNS      int64 // shortest storm, 200 ms (SONiC pfcwd's detection time)
	RestoreNS     int64 // storms nearer than this are one that flaps, 200 ms
	StormPermille int64 // paused share of a storm, 990
	ChoppyCount   int   // intervals ended by XON …, 100
	ChoppyNS      int64 // … begun within this, 1 s
	HeavyPermille int64 // paused share of the capture, 100

	CauseNS      int64 // a pause that began at most this long before another may have caused it, 1 ms
	CausePercent int64 // of a row's intervals, for the row to count as caused, 80

	VictimGaps    int64 // a victim sent within this many median gaps before, 10
	VictimPercent int64 // and was silent for this share of the storm, 50

	PollNS    int64 // pfcwd's polling interval, 200 ms
	NICNS     int64 // NIC watchdog, 100 ms
	MLX5NS    int64 // mlx5 stall warning: 85 % of 8 s, 6.8 s
	MaxQuiet  int   // silences remembered by a Traffic, 4096
	MaxFlows  int   // flows whose pace a Traffic knows, 65536
	MaxSpread int   // chains listed, 1000
}

func set[T int | int64 | uint64](v *T, d T) {
	if *v <= 0 {
		*v = d
	}
}

// withDefaults fills in what is zero.
func (o Options) withDefaults() Options {
	const ms = 1_000_000
	set(&o.AssumedSpeedBps, 100e9)
	set(&o.WindowNS, 100*ms)
	set(&o.MaxRows, 1024)
	set(&o.RowIdleNS, 10_000*ms)
	set(&o.DetectNS, 200*ms)
	set(&o.RestoreNS, 200*ms)
	set(&o.StormPermille, 990)
	set(&o.ChoppyCount, 100)
	set(&o.ChoppyNS, 1000*ms)
	set(&o.HeavyPermille, 100)
	set(&o.CauseNS, 1*ms)
	set(&o.CausePercent, 80)
	set(&o.VictimGaps, 10)
	set(&o.VictimPercent, 50)
	set(&o.PollNS, 200*ms)
	set(&o.NICNS, 100*ms)
	set(&o.MLX5NS, 6800*ms)
	set(&o.MaxQuiet, 4096)
	set(&o.MaxFlows, 1<<16)
	set(&o.MaxSpread, 1000)
	return o
}

// Priority is the priority class of a frame: PCP of its VLAN tag, else by its
// DSCP, else 0.
func (o *Options) Priority(p *wire.Packet) uint8 {
	switch {
	case p.Has(wire.FlagVLAN):
		return p.PCP & 7
	case !p.Has(wire.FlagNet):
		return 0
	case o.PriorityOfDSCP != nil:
		return o.PriorityOfDSCP[p.DSCP()&63] & 7
	}
	return p.DSCP() >> 3
}

// SpeedFrom tells where a link speed comes from.
type SpeedFrom uint8

// Sources of a link speed.
const (
	SpeedAssumed SpeedFrom = iota
	SpeedPcapng
	SpeedFlag
)

var speedNames = [...]string{"assumed", "pcapng", "flag"}

// String returns the word used in reports.
func (s SpeedFrom) String() string {
	if int(s) < len(speedNames) {
		return speedNames[s]
	}
	return "invalid"
}
