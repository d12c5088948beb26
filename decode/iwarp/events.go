package iwarp

// Segment is one TCP segment's payload, or a part of it, handed to a Stream in
// stream order.
type Segment struct {
	// Offset is the unwrapped stream offset of the first octet: the sequence
	// number carried to 64 bits (any origin will do, so long as it is kept).
	Offset  uint64
	Payload []byte
	// Wire is the payload's length on the wire where the capture cut it short,
	// else 0. What is missing counts as a hole.
	Wire int
	// At is the caller's stamp of the segment (its capture time). A Stream
	// only carries it to the FPDUs.
	At int64
}

// Handler takes what a Stream finds. Pointers and slices are valid during the
// call only.
type Handler interface {
	// MPA tells of a start-up frame at an offset. err is nil, ErrTruncated
	// (private data cut) or wraps ErrMalformed.
	MPA(s *Stream, offset uint64, m *MPAFrame, err error)
	// BeginFPDU tells of an FPDU whose header is complete. EndFPDU follows for
	// each, in order. Searching reports in arrears: see FPDU.Recovered.
	BeginFPDU(s *Stream, f *FPDU)
	EndFPDU(s *Stream, f *FPDU)
	Notice(s *Stream, n Notice)
}

// NoticeKind names what happened to the framing.
type NoticeKind uint8

const (
	// NoticeHole: octets are missing. Bridged tells whether the length of the
	// FPDU in hand led over them.
	NoticeHole NoticeKind = iota
	// NoticeDesync: the place of the next FPDU is lost from Offset on; Err says
	// why (nil: a hole took it).
	NoticeDesync
	// NoticeLock: a search found an FPDU at Offset; Length octets before it
	// belong to none.
	NoticeLock
	// NoticeMarker: the word at Offset should be the marker Want and is Got.
	// Where only the pointer differs the stream goes on; otherwise NoticeDesync
	// follows.
	NoticeMarker
)

func (k NoticeKind) String() string {
	switch k {
	case NoticeHole:
		return "hole"
	case NoticeDesync:
		return "desync"
	case NoticeLock:
		return "lock"
	case NoticeMarker:
		return "marker"
	}
	return "unknown"
}

// Notice is one event of the framing itself.
type Notice struct {
	Kind      NoticeKind
	Offset    uint64
	Length    uint64 // octets: NoticeHole, NoticeLock
	At        int64
	Bridged   bool // NoticeHole
	Cut       bool // NoticeHole: the capture cut a segment short (snaplen)
	Err       error
	Want, Got uint32 // NoticeMarker: the whole word
}
