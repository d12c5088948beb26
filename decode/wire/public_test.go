package wire_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/decode/roce"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// publicCapture says what a public capture holds, by its README's row, tshark
// or a look at its octets; never by our own output.
type publicCapture struct {
	packets int
	ops     string // BTH opcodes and their packets, as in the README
	encaps  string // encapsulations and the packets that have them
	vlans   int    // packets with a VLAN tag
	kinds   string // packets by family, for those that matter here
	times   int    // packets with a tap's time
	icrcBad int    // of RoCE packets
}

// publicCaptures are by file name. Those that no reader can open, and the many
// conformance files of one kind (pcapng-test-generator: DHCP), are tests of
// package pcaps.
var publicCaptures = map[string]publicCapture{
	"linlinw5__rdma_ib_tutorial__rping.pcap":                          {packets: 65, ops: "4:20,10:5,12:5,16:5,17:25,100:5", kinds: "rocev2:65"},
	"linlinw5__rdma_ib_tutorial__rdma_read_bw.pcap":                   {packets: 60, ops: "12:5,13:5,14:5,15:5", kinds: "rocev2:20,tcp:40"},
	"linlinw5__rdma_ib_tutorial__rdma_read_lat.pcap":                  {packets: 38, ops: "12:5,16:5", kinds: "rocev2:10,tcp:28"},
	"linlinw5__rdma_ib_tutorial__rdma_write_bw.pcap":                  {packets: 60, ops: "6:5,7:5,8:5,17:5", kinds: "rocev2:20,tcp:40"},
	"linlinw5__rdma_ib_tutorial__rdma_write_lat.pcap":                 {packets: 45, ops: "10:10,17:10", kinds: "rocev2:20,tcp:25"},
	"linlinw5__rdma_ib_tutorial__rdma_send_bw.pcap":                   {packets: 50, ops: "0:5,1:5,2:5,17:5", kinds: "rocev2:20,tcp:30"},
	"linlinw5__rdma_ib_tutorial__rdma_atomic_bw.pcap":                 {packets: 48, ops: "18:5,20:5", kinds: "rocev2:10,tcp:38"},
	"linlinw5__rdma_ib_tutorial__pingpong_rc.pcap":                    {packets: 31, ops: "4:10,17:10", kinds: "rocev2:20,tcp:11"},
	"linlinw5__rdma_ib_tutorial__pingpong_uc.pcap":                    {packets: 21, ops: "36:10", kinds: "rocev2:10,tcp:11"},
	"linlinw5__rdma_ib_tutorial__pingpong_ud.pcap":                    {packets: 21, ops: "100:10", kinds: "rocev2:10,tcp:11"},
	"linlinw5__rdma_ib_tutorial__tree2_node0.pcap":                    {packets: 154, ops: "6:2,7:44,9:2,10:4,11:2,17:8", kinds: "rocev2:62,tcp:92"},
	"linlinw5__rdma_ib_tutorial__tree2_node1.pcap":                    {packets: 110, ops: "6:2,7:44,9:2,10:4,11:2,17:8", kinds: "rocev2:62,tcp:48"},
	"linlinw5__rdma_ib_tutorial__tree2_node2.pcap":                    {packets: 168, ops: "6:4,7:88,9:4,10:8,11:4,17:16", kinds: "rocev2:124,tcp:44"},
	"sanderw71__SoftRoce__capture_S10000_C1.pcapng":                   {packets: 18, ops: "4:1,12:1,13:1,14:8,15:1,17:1,100:5", kinds: "rocev2:18"},
	"sanderw71__SoftRoce__Frame_req_and_response.pcapng":              {ops: "4:1,6:1,8:1,17:2,100:5"},
	"sanderw71__SoftRoce__Frame_req_and_response_5000_bytes.pcapng":   {ops: "4:1,6:1,7:3,8:1,17:2,100:5"},
	"sanderw71__SoftRoce__RoCE_capture_10_packets.pcapng":             {ops: "4:40,10:10,12:10,16:10,17:50,100:5"},
	"sanderw71__SoftRoce__RoCE_capture_1_packet_1.pcapng":             {ops: "4:4,10:1,12:1,16:1,17:5,100:5"},
	"sanderw71__SoftRoce__Roce_PacketSize_1400.pcapng":                {ops: "4:4,6:1,8:1,12:1,13:1,15:1,17:5,100:5"},
	"sanderw71__SoftRoce__Roce_PacketSize_5000_bytes.pcapng":          {ops: "4:4,6:1,7:3,8:1,12:1,13:1,14:3,15:1,17:5,100:5"},
	"srinivaskoritala__rdma-softroce-demo__rdma_traffic_capture.pcap": {packets: 184, kinds: "other:8,tcp:176"},
	"ajbanjara__Wireshark__iwarp_rdma_read_write_long_run.pcap":       {packets: 84, kinds: "tcp:84"},
	"ajbanjara__Wireshark__iwarp_send_recv_snd_recv.pcap":             {packets: 14, kinds: "tcp:14"},
	"the-tcpdump-group__tcpdump__dcb_ets.pcap":                        {packets: 67, kinds: "lldp:31,other:36"},
	"the-tcpdump-group__tcpdump__dcb_qcn.pcap":                        {packets: 19, kinds: "lldp:8,other:11"},
	"ajbanjara__Wireshark__lldp.detailed.pcap":                        {packets: 1, kinds: "lldp:1"},
	"ajbanjara__Wireshark__exablaze_trailer.pcap":                     {packets: 24, encaps: "exablaze:24", times: 24, kinds: "other:24"},
	"CiscoDevNet__n3550-timestamp-decoder__fusion_hpt_example.pcap":   {packets: 24, encaps: "exablaze:24", times: 24, kinds: "other:24"},
	// Stamps of 32 bits: nothing absolute, so nothing to find but the key frames of
	// the modes that have them.
	"CiscoDevNet__n3550-timestamp-decoder__exa.mode.append-compat.pcap": {packets: 15, encaps: "keyframe:12", kinds: "other:15"},
	"CiscoDevNet__n3550-timestamp-decoder__exa.mode.append.pcap":        {packets: 36, kinds: "other:36"},
	"CiscoDevNet__n3550-timestamp-decoder__exa.mode.fcs-compat.pcap":    {packets: 16, encaps: "keyframe:13", kinds: "other:16"},
	"CiscoDevNet__n3550-timestamp-decoder__exa.mode.fcs.pcap":           {packets: 21, kinds: "other:21"},
	"CiscoDevNet__n3550-timestamp-decoder__pingout.pcap":                {packets: 3814, encaps: "keyframe:2189", kinds: "other:3814"},
	"arista-eosext__PCAPDecoder__ptpKFbeforeFCS.pcap":                   {packets: 400, encaps: "keyframe:264", kinds: "other:400"},
	"arista-eosext__PCAPDecoder__ptpKFreplaceFCS.pcap":                  {packets: 172, encaps: "keyframe:115", kinds: "other:172"},
	"ajbanjara__Wireshark__cisco-nexus92-erspan-marker.pcap":            {packets: 1, encaps: "erspan_marker:1", kinds: "other:1"},
	"ajbanjara__Wireshark__cisco-nexus10-erspan-marker.pcap":            {packets: 1, encaps: "erspan_marker:1", kinds: "other:1"},
	"realjimmy__sample-captures__vntag.pcap":                            {packets: 3, encaps: "vntag:3", vlans: 3, kinds: "other:3"},
	"the-tcpdump-group__tcpdump__802.1ad_QinQ.pcap":                     {packets: 2, vlans: 2, kinds: "other:2"},
	"arkime__arkime__twovlan.pcap":                                      {packets: 6, vlans: 6, kinds: "tcp:6"},
	// The stamps are of May 2019, as is the capture. tshark shows 7 and 5: it gives
	// up at hardware type 1 in frames 2, 7, 10, 14, whose octets have three tags
	// and one label more.
	"the-tcpdump-group__tcpdump__arista_ether.pcap":         {packets: 16, encaps: "mpls:8,tap_header:16", vlans: 8, times: 16, kinds: "other:16"},
	"the-tcpdump-group__tcpdump__erspan-type-i-1.pcap":      {packets: 2, encaps: "erspan1:2", vlans: 2, kinds: "other:2"},
	"the-tcpdump-group__tcpdump__erspan-type-ii-1.pcap":     {packets: 1, encaps: "erspan2:1", kinds: "other:1"},
	"the-tcpdump-group__tcpdump__erspan-type-iii-ft-0.pcap": {packets: 9, encaps: "erspan3:9", vlans: 9, kinds: "other:9"},
	"the-tcpdump-group__tcpdump__erspan-type-iii-pb-1.pcap": {packets: 1, encaps: "erspan3:1", kinds: "other:1"},
	"zeek__zeek__erspanII.pcap":                             {packets: 4, encaps: "erspan2:4", kinds: "other:4"},
	"arkime__arkime__gre-erspan.pcap":                       {packets: 6, encaps: "erspan2:6,snap:2", kinds: "other:6"},
	"arkime__arkime__gre-erspan-vxlan.pcap":                 {packets: 7, encaps: "erspan2:7,vxlan:7"},
	"the-tcpdump-group__tcpdump__geneve.pcap":               {packets: 39, encaps: "geneve:39", kinds: "other:6,tcp:33"},
	"the-tcpdump-group__tcpdump__mpls-over-udp.pcap":        {packets: 2, encaps: "mpls:2,mpls_udp:2", kinds: "other:2"},
	"the-tcpdump-group__tcpdump__gso-ipv4-vxlan-ipv4.pcap":  {packets: 1, encaps: "vxlan:1", kinds: "tcp:1"},
	"the-tcpdump-group__tcpdump__nsh.pcap":                  {packets: 1, encaps: "nsh:1", kinds: "other:1"},
	"the-tcpdump-group__tcpdump__esp_truncated.pcap":        {packets: 1, kinds: "other:1"},
	"the-tcpdump-group__tcpdump__bootp_asan.pcap":           {packets: 1, kinds: "other:1"},
	"zeek__zeek__geneve-truncated.pcapng":                   {packets: 1, encaps: "geneve:1", kinds: "other:1"},
	"zeek__zeek__ip4-trunc.pcap":                            {packets: 1, kinds: "other:1"},
	"zeek__zeek__ip6-trunc.pcap":                            {packets: 1, kinds: "other:1"},
	"zeek__zeek__snap-tcp.pcap":                             {packets: 8, encaps: "snap:8", kinds: "tcp:8"},
	"zeek__zeek__pcapng-multi-interface.pcapng":             {packets: 6, kinds: "other:6"},
	"ajbanjara__Wireshark__dhcp-nanosecond.pcap":            {packets: 4, kinds: "other:4"},
	"seladb__PcapPlusPlus__nanosecs_big_endian.pcap":        {packets: 10, kinds: "tcp:10"},
	"seladb__PcapPlusPlus__sll2.pcap":                       {packets: 3, kinds: "tcp:3"},
	"derived__roce_in_erspan2.pcap":                         {packets: 96, ops: derivedOps, encaps: "erspan2:96", kinds: "rocev2:96"},
	"derived__roce_in_vxlan.pcap":                           {packets: 96, ops: derivedOps, encaps: "vxlan:96", kinds: "rocev2:96"},
	"derived__roce_snap64.pcap":                             {packets: 96, ops: derivedOps, kinds: "rocev2:96"},
	"derived__roce_vlan_pcp3_nsec_BE.pcap":                  {packets: 96, ops: derivedOps, vlans: 96, kinds: "rocev2:96"},
	"derived__roce_sll2_dup.pcap":                           {packets: 192, ops: "4:64,6:10,7:10,8:10,17:74,100:24", kinds: "rocev2:192"},
	"derived__roce_cut_midrecord.pcap":                      {packets: 95, ops: "4:32,6:5,7:5,8:5,17:37,100:11", encaps: "vxlan:95", kinds: "rocev2:95"},
}

// derivedOps are those of the capture that the derived files were made from, as
// tshark tells.
const derivedOps = "4:32,6:5,7:5,8:5,17:37,100:12"

// readable decodes a whole public capture, as far as it can be opened.
func readable(t *testing.T, path string) ([]wire.Packet, error) {
	t.Helper()
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	if err != nil {
		return nil, err
	}
	require.NoError(t, src.Close())
	return readPackets(t, path, 1<<20), nil
}

func TestPublicCaptures(t *testing.T) {
	dir, ok := shared(t, "captures-public")
	if !ok {
		t.Skipf("%s is not there", dir)
	}
	files, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, file := range files {
		name := file.Name()
		if !strings.Contains(name, "__") {
			continue // the README
		}
		t.Run(name, func(t *testing.T) {
			pkts, err := readable(t, filepath.Join(dir, name))
			want, listed := publicCaptures[name]
			if err != nil {
				assert.False(t, listed, err)
				assert.False(t, errors.Is(err, io.ErrUnexpectedEOF) || strings.Contains(err.Error(), "panic"), err)
				return
			}
			for i := range pkts {
				wire.Tree(&pkts[i])
				_ = wire.Summary(&pkts[i])
			}
			if listed {
				checkPublic(t, &want, pkts)
			}
		})
	}
}

func checkPublic(t *testing.T, want *publicCapture, pkts []wire.Packet) {
	ops, encaps, kinds := map[string]int{}, map[string]int{}, map[string]int{}
	vlans, times, bad := 0, 0, 0
	for i := range pkts {
		p := &pkts[i]
		kinds[p.Kind.String()]++
		if p.Has(wire.FlagBTH) {
			ops[fmt.Sprintf("%03d", uint8(p.RoCE.BTH.Opcode))]++
		}
		for _, k := range p.Encap.Kinds[:min(int(p.Encap.N), len(p.Encap.Kinds))] {
			encaps[k.String()]++
		}
		if p.Has(wire.FlagVLAN) {
			vlans++
		}
		if p.Has(wire.FlagTapTime) {
			times++
			if p.Encap.Kinds[0] == wire.EncapExablaze { // the captures' own times were made from the trailers
				assert.InDelta(t, p.Time, p.TrailerNS, 1)
			}
		}
		if p.ICRC == roce.ICRCBad {
			bad++
		}
	}
	if want.packets > 0 {
		assert.Len(t, pkts, want.packets)
	}
	assert.Equal(t, want.ops, counts(ops), "opcodes")
	if want.kinds != "" {
		assert.Equal(t, want.kinds, counts(kinds), "families")
	}
	assert.Equal(t, want.encaps, counts(encaps), "encapsulations")
	assert.Equal(t, want.vlans, vlans, "packets with a VLAN tag")
	assert.Equal(t, want.times, times, "packets with a tap's time")
	assert.Equal(t, want.icrcBad, bad, "bad iCRCs")
}

// counts writes a map as "4:20,10:5": sorted, without leading zeros.
func counts(m map[string]int) string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys)
	parts := make([]string, 0, len(m))
	for _, k := range keys {
		name := strings.TrimLeft(k, "0")
		if name == "" {
			name = "0"
		}
		parts = append(parts, fmt.Sprintf("%s:%d", name, m[k]))
	}
	return strings.Join(parts, ",")
}
