package roce

import "fmt"

// RejectReason is the reason of a REJ (IBTA 12.6.7.2, table 109).
type RejectReason uint16

// Reasons that code asks for by name.
const (
	RejectTimeout          RejectReason = 4
	RejectInvalidServiceID RejectReason = 8 // nothing listens there
	RejectStaleConnection  RejectReason = 10
	RejectConsumerDefined  RejectReason = 28 // the application's reason is in the private data
)

var rejectReasons = [...]string{
	1: "no QP available", 2: "no EEC available", 3: "no resources available", 4: "timeout",
	5: "unsupported request", 6: "invalid communication ID", 7: "invalid communication instance",
	8: "invalid service ID", 9: "invalid transport service type", 10: "stale connection",
	11: "RDC does not exist", 12: "primary remote port GID rejected", 13: "primary remote port LID rejected",
	14: "invalid primary SL", 15: "invalid primary traffic class", 16: "invalid primary hop limit",
	17: "invalid primary packet rate", 18: "alternate remote port GID rejected",
	19: "alternate remote port LID rejected", 20: "invalid alternate SL",
	21: "invalid alternate traffic class", 22: "invalid alternate hop limit",
	23: "invalid alternate packet rate", 24: "port and CM redirection", 25: "port redirection",
	26: "invalid path MTU", 27: "insufficient responder resources", 28: "consumer reject",
	29: "RNR retry count rejected", 30: "duplicate local communication ID",
	31: "unsupported class version", 32: "invalid primary flow label", 33: "invalid alternate flow label",
	35: "vendor option not supported",
}

// String returns the reason in words.
func (r RejectReason) String() string {
	if int(r) < len(rejectReasons) && rejectReasons[r] != "" {
		return rejectReasons[r]
	}
	return fmt.Sprintf("reserved reason %d", uint16(r))
}
