package live

import (
	"sync"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Bounds of a loan.
const (
	// lendBytes is how much of a ring block must be left for it to be lent: of
	// less, a copy costs less than what a block costs those who analyse it, and
	// gives the ring's whole block back for it at once.
	lendBytes = 64 << 10

	// lendRecords and partBytes bound what is lent at a time: what becomes of it
	// is to stay in a core's cache.
	lendRecords = maxRecords
	partBytes   = blockBytes
)

// loans keeps the account of a ring's blocks: the kernel gets one back when
// nobody reads in it any more.
type loans struct {
	most int // parts that may be out at a time

	mu      sync.Mutex
	readers []int // by block: its parts that are out, and 1 while frames are taken from it
	out     int   // parts
	closed  bool  // the memory goes when all is back
}

// taken tells whether a block, handed over by the kernel, hasn't gone back to
// it yet: its words say the same as those of a block that is new.
func (r *ring) taken(i int) bool {
	r.loans.mu.Lock()
	defer r.loans.mu.Unlock()
	return r.loans.readers[i] > 0
}

// hold keeps a block from the kernel until it is let go as often.
func (r *ring) hold(i int) {
	r.loans.mu.Lock()
	r.loans.readers[i]++
	r.loans.mu.Unlock()
}

// letGo gives a block back to the kernel if nobody else holds it.
func (r *ring) letGo(i int) {
	r.loans.mu.Lock()
	defer r.loans.mu.Unlock()
	r.unhold(i)
}

// unhold is letGo with the lock held. The kernel's word comes before ours: who
// sees that nobody holds the block sees that it was given back.
func (r *ring) unhold(i int) {
	if r.loans.readers[i] == 1 && r.mem != nil {
		atomic.StoreUint32(status(r.descriptor(i)), unix.TP_STATUS_KERNEL)
	}
	r.loans.readers[i]--
}

// lendable tells whether what is left of the block that is being read can be
// lent: it is worth it, none of it is younger than until, and not too much is
// out.
func (r *ring) lendable(until int64) bool {
	if r.loans.most == 0 || r.end-r.at < lendBytes || r.last > until {
		return false
	}
	r.loans.mu.Lock()
	defer r.loans.mu.Unlock()
	return r.loans.out < r.loans.most
}

// lend makes records of the next frames where they lie, and goes on to the one
// after them. The bytes are the ring's own, until they are taken back. Without
// records, nothing was lent.
func (r *ring) lend(recs []Record, until int64) ([]byte, []Record) {
	block, i, from := r.block, r.cur, r.at
	r.loans.mu.Lock()
	r.loans.readers[i]++
	r.loans.out++
	r.loans.mu.Unlock()
	to := from
	for r.left > 0 && len(recs) < lendRecords && r.at-from < partBytes && r.time <= until {
		h := block[r.at:]
		recs = append(recs, Record{})
		rec := &recs[len(recs)-1]
		f, ok := r.frame(h, rec)
		if !ok {
			recs = recs[:len(recs)-1]
		} else {
			at := r.at + f.mac
			if f.tag != 0 {
				at -= tagBytes
				f.putTag(h)
			}
			rec.Off = uint32(at - from)
			to = max(to, at+int(rec.Cap))
		}
		r.next(int(word(h, frameNext)))
	}
	if len(recs) == 0 {
		r.settle(i)
		return nil, recs
	}
	return block[from:to:to], recs
}

// settle ends a loan of a block.
func (r *ring) settle(i int) {
	r.loans.mu.Lock()
	defer r.loans.mu.Unlock()
	r.unhold(i)
	r.loans.out--
}

// takeBack ends the loan of these bytes. It is false when they aren't the ring's.
func (r *ring) takeBack(buf []byte) bool {
	l := &r.loans
	l.mu.Lock()
	defer l.mu.Unlock()
	off := uintptr(unsafe.Pointer(unsafe.SliceData(buf))) - uintptr(unsafe.Pointer(unsafe.SliceData(r.mem)))
	if r.mem == nil || off >= uintptr(len(r.mem)) {
		return false
	}
	if i := int(off) / ringBlock; l.readers[i] > 0 && l.out > 0 {
		r.unhold(i)
		l.out--
	}
	if l.closed && l.out == 0 {
		r.unmap()
	}
	return true
}

// newestOut tells whether the block before the next one is out. While it is,
// poll takes it for one that is new, and doesn't wait.
func (r *ring) newestOut() bool { return r.taken((r.cur + r.blocks - 1) % r.blocks) }

// Release takes back the bytes of a block, and returns what to bring to a later
// ReadBlock in their place. It is for any goroutine, at any time, also after
// Close.
func (s *Source) Release(buf []byte) []byte {
	for _, r := range s.rings {
		if r.takeBack(buf) {
			return nil
		}
	}
	return buf
}

// room gives a buffer to copy into: the caller's, or one that was kept.
func (s *Source) room(buf []byte) []byte {
	if cap(buf) >= blockBytes {
		return buf
	}
	if n := len(s.spare); n > 0 {
		buf, s.spare = s.spare[n-1], s.spare[:n-1]
		return buf
	}
	return make([]byte, 0, blockBytes+blockBytes/4)
}

// keep keeps the caller's buffer, who gets the ring's memory in its place, for
// when there is none to copy into.
func (s *Source) keep(buf []byte) {
	if cap(buf) >= blockBytes && len(s.spare) < s.opt.Held {
		s.spare = append(s.spare, buf[:0])
	}
}
