package roce

// PSN is a packet sequence number: 24 bits, compared serially (IBTA 9.7.2).
// Never compare two of them with <.
//
// The order holds for distances below 2^23. At exactly 2^23 the direction is
// undefined; Sub says −2^23 then, both ways, so that the two are Before each
// other and neither is After.
type PSN uint32

const mask24 = 1<<24 - 1

// Add returns p advanced by n, which may be negative.
func (p PSN) Add(n int64) PSN { return PSN(uint32(int64(p)+n)) & mask24 }

// Sub returns the signed distance from q to p, in [−2^23, 2^23).
func (p PSN) Sub(q PSN) int32 { return int32(uint32(p-q)<<8) >> 8 }

// Before tells whether p is older than q.
func (p PSN) Before(q PSN) bool { return p.Sub(q) < 0 }

// After tells whether p is newer than q.
func (p PSN) After(q PSN) bool { return p.Sub(q) > 0 }

// MSN is a responder's message sequence number: 24 bits, serial like a PSN,
// counting completed messages from 0 (IBTA 9.7.5.1.2, 9.7.7.1).
type MSN uint32

// Add returns m advanced by n, which may be negative.
func (m MSN) Add(n int64) MSN { return MSN(PSN(m).Add(n)) }

// Sub returns the signed distance from q to m, in [−2^23, 2^23).
func (m MSN) Sub(q MSN) int32 { return PSN(m).Sub(PSN(q)) }

// Before tells whether m is older than q.
func (m MSN) Before(q MSN) bool { return m.Sub(q) < 0 }

// After tells whether m is newer than q.
func (m MSN) After(q MSN) bool { return m.Sub(q) > 0 }

// QPN is a queue pair number, 24 bits (IBTA 10.2.4).
type QPN uint32

// Queue pair numbers with a fixed meaning (IBTA 3.5.2, 10.2.4).
const (
	QPNSMI       QPN = 0        // subnet management interface
	QPNGSI       QPN = 1        // general services interface: CM and others
	QPNMulticast QPN = 0xffffff // destination of UD multicast
)
