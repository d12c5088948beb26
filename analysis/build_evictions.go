package analysis

// evictions tells what the bounded tables had no room for, by table: what a
// figure may lack is never passed over.
func evictions(r *merged) Counts {
	c := Counts{}
	add := func(table string, n int64) {
		if n > 0 {
			c[table] += n
		}
	}
	tl := &r.front.pause
	add("pause_sources", tl.RowsRefused+tl.RowsEvicted)
	add("pause_intervals", tl.Dropped)
	add("dcbx_ports", r.front.dcbx.refused)
	for i := range r.partitions {
		p := &r.partitions[i]
		add("connections", p.aged.evicted)
		add("host_counters", p.aged.crowded)
		add("management_packets", p.unmanaged)
		add("pause_silences", p.traffic.QuietDropped)
		add("pause_paces", p.traffic.Untracked)
		add("cnp_links", p.marks.LinksRefused)
		add("cnp_pacing", p.marks.PacedRefused)
		add("tap_changes", p.taps.Dropped)
		add("cm_dialogues", p.cm.Evicted)
		e := &p.iwarp.Evictions
		add("tcp_connections", e.Entries+e.Pending)
		add("iwarp_searches", e.Candidates)
		add("iwarp_connections", e.Connections)
		add("iwarp_holes", e.Buffers+e.Holes)
		add("iwarp_records", e.Records)
	}
	return c
}
