package pcaps

import "encoding/binary"

// Statistics writes what a recorder knows of interface i at a time (ns since
// the epoch): how many packets it received and how many of them were dropped
// before they could be written (pcapng §4.6). A pcap has no place for it.
func (p *Writer) Statistics(i int, time, received, dropped int64) error {
	if p.ifaces == nil {
		return nil
	}
	le := binary.LittleEndian
	p.begin(blockStatistics)
	p.blk = le.AppendUint32(p.blk, uint32(i))
	p.blk = le.AppendUint32(p.blk, uint32(time>>32))
	p.blk = le.AppendUint32(p.blk, uint32(time))
	if received >= 0 {
		p.option(optIsbIfRecv, le.AppendUint64(nil, uint64(received)))
	}
	if dropped >= 0 {
		p.option(optIsbIfDrop, le.AppendUint64(nil, uint64(dropped)))
	}
	p.endOptions()
	return p.endBlock()
}
