package analysis

import (
	"cmp"
	"slices"
	"strings"
)

// Families of drivers whose names `counters --like` can print.
const (
	LikeMLX5 = "mlx5"
	LikeBNXT = "bnxt"
	LikeRXE  = "rxe"
)

// onlyOthers are figures that mlx5 has no counter for.
var onlyOthers = map[string]bool{"sent_pkts": true, "rcvd_pkts": true, "rdma_sends": true, "rdma_recvs": true,
	"completer_retry_err": true, "out_of_seq_request": true, "remote_op_err": true}

// Other drivers' names of our figures, as in Linux: rxe_hw_counters.c,
// bnxt_re's hw_counters.c and bnxt_ethtool.c, irdma's hw.c. Figures missing in
// a table have no counter there.
var (
	rxeNames = map[string]string{
		"sent_pkts": "sent_pkts", "rcvd_pkts": "rcvd_pkts", "rdma_sends": "rdma_sends", "rdma_recvs": "rdma_recvs",
		"completer_retry_err": "completer_retry_err", "out_of_seq_request": "out_of_seq_request",
		"duplicate_request": "duplicate_request", "packet_seq_err": "rcvd_seq_err", "rnr_nak_retry_err": "rcvd_rnr_err",
		"out_of_buffer": "send_rnr_err", "req_transport_retries_exceeded": "retry_exceeded_err",
	}
	bnxtNames = map[string]string{
		"sent_pkts": "tx_roce_only_pkts", "rcvd_pkts": "rx_roce_only_pkts",
		"packet_seq_err": "seq_err_naks_rcvd", "out_of_sequence": "oos_drop_count", "implied_nak_seq_err": "missing_resp",
		"local_ack_timeout_err": "to_retransmits", "rnr_nak_retry_err": "rnr_naks_rcvd", "out_of_buffer": "rx_out_of_buffer",
		"duplicate_request": "dup_req", "req_transport_retries_exceeded": "max_retry_exceeded",
		"np_ecn_marked_roce_packets": "rx_ecn_marked_pkts", "np_cnp_sent": "tx_cnp_pkts", "rp_cnp_handled": "rx_cnp_pkts",
		"rx_write_requests": "rx_write_req", "rx_read_requests": "rx_read_req", "rx_atomic_requests": "rx_atomic_req",
		"req_remote_invalid_request": "remote_invalid_req_err", "req_remote_access_errors": "remote_access_err", "remote_op_err": "remote_op_err",
	}
	// irdmaNames are read, never printed.
	irdmaNames = map[string]string{
		"np_cnp_sent": "cnpSent", "rp_cnp_handled": "cnpHandled", "np_ecn_marked_roce_packets": "RxECNMrkd",
	}
)

// nameLike is a figure's name in a family, "" for none.
func nameLike(figure, family string) string {
	switch family {
	case LikeRXE:
		return rxeNames[figure]
	case LikeBNXT:
		if way, prio, ok := priorityPause(figure); ok {
			return way + "_pfc_ena_frames_pri" + prio
		}
		return bnxtNames[figure]
	}
	if onlyOthers[figure] {
		return ""
	}
	return figure
}

// priorityPause takes "rx_prio3_pause" apart.
func priorityPause(name string) (way, prio string, ok bool) {
	way, rest, ok := strings.Cut(name, "_prio")
	if !ok {
		return "", "", false
	}
	prio, ok = strings.CutSuffix(rest, "_pause")
	return way, prio, ok
}

// figureOf finds the figure that a counter of any driver shows.
func figureOf(counter string) (figure string, ok bool) {
	for _, names := range []map[string]string{rxeNames, bnxtNames, irdmaNames} {
		for figure, name := range names {
			if name == counter {
				return figure, true
			}
		}
	}
	if way, prio, found := strings.Cut(counter, "_pfc_ena_frames_pri"); found {
		return way + "_prio" + prio + "_pause", true
	}
	return counter, false
}

// Untellable is a counter of a family that no capture tells, and why: it is
// named rather than left out, so that nobody takes its absence for 0.
type Untellable struct{ Name, Why string }

// untellable are those that users of DCQCN and PFC ask for, by family; hidden
// has the reasons.
var untellable = map[string][]string{
	LikeMLX5: {"roce_adp_retrans_to", "roce_slow_restart", "roce_slow_restart_trans", "rp_cnp_ignored", "rx_prio<p>_buf_discard", "rx_prio<p>_cong_discard"},
	LikeRXE:  {"ack_deferred", "link_downed", "retry_rnr_exceeded_err", "send_err"},
	LikeBNXT: {"recoverable_errors", "unrecoverable_err"},
}

// UntellableCounters are the counters of a family that a capture can't show.
func UntellableCounters(family string) []Untellable {
	var list []Untellable
	for _, name := range untellable[family] {
		list = append(list, Untellable{name, hidden[name]})
	}
	return list
}

// NICCounter is one line of a NIC's statistics.
type NICCounter struct {
	Name string
	Counter
}

// NICCounters are a host's figures under a family's names, in order.
func (h *Host) NICCounters(family string) []NICCounter {
	var list []NICCounter
	for figure, c := range h.figures {
		if name := nameLike(figure, family); name != "" {
			list = append(list, NICCounter{name, c})
		}
	}
	slices.SortFunc(list, func(a, b NICCounter) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
