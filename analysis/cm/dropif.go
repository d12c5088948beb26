package cm

// DropIf forgets the dialogues that match: those of connections that the
// caller lets go, which would look as if no data ever followed them. now tells
// which of them had no reply.
func (t *Tracker) DropIf(now int64, match func(*Dialogue) bool) {
	for i := t.oldest; i != none; {
		next := t.entries[i].next
		if match(&t.entries[i].Dialogue) {
			t.drop(i, now)
		}
		i = next
	}
}
