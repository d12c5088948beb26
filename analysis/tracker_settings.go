package analysis

import (
	"rdmascope/analysis/marking"
	"rdmascope/analysis/pause"
)

// Some thresholds are looked at while packets pass: the trackers own them, the
// rules name them.

// number is a threshold in units of 1/scale. A tracker takes 0 for its default,
// so what the user sets to 0 is the smallest there is.
func (o *Options) number(r *Rule, key string, scale Decimal) int64 {
	return max(int64(o.Settings.value(r, key)*scale+0.5), 1)
}

// pause are the settings of the time line of pauses.
func (o *Options) pause() pause.Options {
	const ms, permille, percent = 1e6, 1000, 100
	return pause.Options{
		PriorityOfDSCP: (*[64]uint8)(o.Priorities),
		LinkSpeedBps:   uint64(max(o.LinkSpeed, 0)),
		WindowNS:       o.number(&rulePFCHeavy, "window_ms", ms),
		DetectNS:       o.number(&rulePFCStorm, "detect_ms", ms),
		RestoreNS:      o.number(&rulePFCStorm, "restore_ms", ms),
		StormPermille:  o.number(&rulePFCStorm, "paused_ratio", permille),
		CauseNS:        o.number(&rulePFCStorm, "cause_ms", ms),
		CausePercent:   o.number(&rulePFCStorm, "caused_ratio", percent),
		PollNS:         o.number(&rulePFCStorm, "pfcwd_poll_ms", ms),
		NICNS:          o.number(&rulePFCStorm, "nic_watchdog_ms", ms),
		MLX5NS:         o.number(&rulePFCStorm, "mlx5_stall_ms", ms) * 85 / 100, // it warns at 85 % of that
		ChoppyCount:    int(o.number(&rulePFCChoppy, "pauses", 1)),
		ChoppyNS:       o.number(&rulePFCChoppy, "window_ms", ms),
		HeavyPermille:  o.number(&rulePFCHeavy, "paused_ratio", permille),
		VictimGaps:     o.number(&rulePFCVictim, "gaps", 1),
		VictimPercent:  o.number(&rulePFCVictim, "quiet_ratio", percent),
	}
}

// marking are the settings of what follows CE marks and CNPs.
func (o *Options) marking() marking.Options {
	const ms, us, permille = 1e6, 1e3, 1000
	return marking.Options{
		AnswerNS:        o.number(&ruleECNNoCNP, "answer_ms", ms),
		RateNS:          o.number(&ruleECNDeafSender, "rate_us", us),
		DelayNS:         o.number(&ruleECNDeafSender, "delay_us", us),
		DeafCNPs:        o.number(&ruleECNDeafSender, "cnp_packets", 1),
		DeafCutPermille: o.number(&ruleECNDeafSender, "rate_reduction_ratio", permille),
	}
}
