package pcaps

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sharedDir is where the captures too big for the repository lie.
func sharedDir(t *testing.T) string {
	t.Helper()
	if dir := os.Getenv("RDMASCOPE_SHARED"); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	require.NoError(t, err)
	for ; ; dir = filepath.Dir(dir) {
		if st, err := os.Stat(filepath.Join(dir, "shared", "captures")); err == nil && st.IsDir() {
			return filepath.Join(dir, "shared")
		}
		if dir == filepath.Dir(dir) {
			t.Skip("no folder shared/captures beside the repository, and RDMASCOPE_SHARED is not set")
		}
	}
}

// corpusFile is what reading one file must give. Packet counts are those of
// capinfos 4.0.17, but where the remark says otherwise.
type corpusFile struct {
	packets int
	problem string // Inputs()[0].Error
	refused string // start of the reason why Open refuses it
}

func TestSharedCaptures(t *testing.T) { testCorpus(t, "captures", ownCaptures, ".json", ".md") }

func TestPublicCaptures(t *testing.T) { testCorpus(t, "captures-public", publicCaptures) }

func testCorpus(t *testing.T, folder string, table map[string]corpusFile, ignored ...string) {
	dir := filepath.Join(sharedDir(t), folder)
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Skip(err)
	}
	for _, e := range entries {
		want, listed := table[e.Name()]
		if e.IsDir() || !listed && slices.Contains(ignored, filepath.Ext(e.Name())) {
			continue
		}
		if !assert.True(t, listed, "%s is in no table", e.Name()) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		f, err := Open([]string{path}, Options{})
		if want.refused != "" {
			if assert.Error(t, err, e.Name()) {
				assert.Contains(t, err.Error(), path+": "+want.refused)
				assert.NotContains(t, err.Error(), "\n")
			}
			continue
		}
		if !assert.NoError(t, err, e.Name()) {
			continue
		}
		recs, _ := drain(t, f)
		in := f.Inputs()[0]
		assert.Len(t, recs, want.packets, e.Name())
		assert.Equal(t, want.problem, in.Error, e.Name())
		assert.Equal(t, want.problem == "", in.Complete, e.Name())
		read, total := f.Progress()
		if in.Complete {
			assert.Equal(t, total, read, e.Name())
		}
	}
}

// publicCaptures holds the count of every public capture.
var publicCaptures = map[string]corpusFile{
	"CiscoDevNet__n3550-timestamp-decoder__exa.mode.append-compat.pcap": {packets: 15},
	"CiscoDevNet__n3550-timestamp-decoder__exa.mode.append.pcap":        {packets: 36},
	"CiscoDevNet__n3550-timestamp-decoder__exa.mode.fcs-compat.pcap":    {packets: 16},
	"CiscoDevNet__n3550-timestamp-decoder__exa.mode.fcs.pcap":           {packets: 21},
	"CiscoDevNet__n3550-timestamp-decoder__fusion_hpt_example.pcap":     {packets: 24},
	"CiscoDevNet__n3550-timestamp-decoder__pingout.pcap":                {packets: 3814},
	"LibtraceTeam__libtrace__100_packets.erf":                           {packets: 100},
	"LibtraceTeam__libtrace__100_packets.pcapng":                        {packets: 100},
	"LibtraceTeam__libtrace__5_packets.erf":                             {packets: 5},
	"LibtraceTeam__libtrace__5_packets.erf.bz2":                         {refused: "bzip2: decompress it first: bzip2 -dc "},
	"LibtraceTeam__libtrace__5_packets.erf.gz":                          {packets: 5},
	"LibtraceTeam__libtrace__5_packets.erf.xz":                          {refused: "xz: decompress it first: xz -dc "},
	"README.md": {refused: "not a pcap or pcapng file (starts 23 20 50 75 62 6c 69 63)"},
	"ajbanjara__Wireshark__Ethernet_Pause_Frame.cap":                    {refused: "Sniffer (DOS) capture: convert it first: editcap -F pcap "},
	"ajbanjara__Wireshark__cisco-nexus10-erspan-marker.pcap":            {packets: 1},
	"ajbanjara__Wireshark__cisco-nexus92-erspan-marker.pcap":            {packets: 1},
	"ajbanjara__Wireshark__dhcp-nanosecond.pcap":                        {packets: 4},
	"ajbanjara__Wireshark__exablaze_trailer.pcap":                       {packets: 24},
	"ajbanjara__Wireshark__iwarp_connect_C00_M00.pcap":                  {packets: 10},
	"ajbanjara__Wireshark__iwarp_connect_C00_M00_reject.pcap":           {packets: 10},
	"ajbanjara__Wireshark__iwarp_connect_C00_M11.pcap":                  {packets: 10},
	"ajbanjara__Wireshark__iwarp_connect_C11_M00.pcap":                  {packets: 10},
	"ajbanjara__Wireshark__iwarp_rdma_read.pcap":                        {packets: 18},
	"ajbanjara__Wireshark__iwarp_rdma_read_write_long_run.pcap":         {packets: 84},
	"ajbanjara__Wireshark__iwarp_rdma_write.pcap":                       {packets: 16},
	"ajbanjara__Wireshark__iwarp_rdma_write_crc.pcap":                   {packets: 16},
	"ajbanjara__Wireshark__iwarp_send_recv_snd_recv.pcap":               {packets: 14},
	"ajbanjara__Wireshark__iwarp_send_recv_snd_recv_crc.pcap":           {packets: 13},
	"ajbanjara__Wireshark__iwarp_send_recv_snd_recv_inv.pcap":           {packets: 14},
	"ajbanjara__Wireshark__iwarp_send_recv_snd_recv_mrkr.pcap":          {packets: 14},
	"ajbanjara__Wireshark__iwarp_send_recv_snd_recv_se.pcap":            {packets: 14},
	"ajbanjara__Wireshark__lldp.detailed.pcap":                          {packets: 1},
	"ajbanjara__Wireshark__mpls-exp.cap":                                {packets: 57},
	"ajbanjara__Wireshark__mpls-twolevel.cap":                           {packets: 38},
	"ajbanjara__Wireshark__rarp_req_reply.pcap":                         {refused: "damaged pcapng: before the first packet: block says 48 bytes at its start, 1 at its end"},
	"arista-eosext__PCAPDecoder__ptpKFbeforeFCS.pcap":                   {packets: 400},
	"arista-eosext__PCAPDecoder__ptpKFreplaceFCS.pcap":                  {packets: 172},
	"arkime__arkime__gre-erspan-vxlan.pcap":                             {packets: 7},
	"arkime__arkime__gre-erspan.pcap":                                   {packets: 6},
	"arkime__arkime__twovlan.pcap":                                      {packets: 6},
	"derived__roce_cut_midrecord.pcap":                                  {packets: 95, problem: "cut short in packet 96"},
	"derived__roce_in_erspan2.pcap":                                     {packets: 96},
	"derived__roce_in_vxlan.pcap":                                       {packets: 96},
	"derived__roce_sll2_dup.pcap":                                       {packets: 192},
	"derived__roce_snap64.pcap":                                         {packets: 96},
	"derived__roce_vlan_pcp3_nsec_BE.pcap":                              {packets: 96},
	"google__gopacket__be_test901.pcapng":                               {packets: 1, problem: "after packet 1: pcapng of version 2.0, not read (1.x is)"}, // capinfos refuses the second section and tells no count
	"google__gopacket__be_test902.pcapng":                               {packets: 1},
	"hadrielk__pcapng-test-generator__output_be_basic_test001.pcapng":   {packets: 4},
	"hadrielk__pcapng-test-generator__output_be_basic_test002.pcapng":   {packets: 0},
	"hadrielk__pcapng-test-generator__output_be_basic_test003.pcapng":   {packets: 0},
	"hadrielk__pcapng-test-generator__output_be_basic_test004.pcapng":   {packets: 4},
	"hadrielk__pcapng-test-generator__output_be_basic_test005.pcapng":   {packets: 4},
	"hadrielk__pcapng-test-generator__output_be_basic_test006.pcapng":   {packets: 5},
	"hadrielk__pcapng-test-generator__output_be_basic_test007.pcapng":   {packets: 1},
	"hadrielk__pcapng-test-generator__output_be_basic_test008.pcapng":   {packets: 4},
	"hadrielk__pcapng-test-generator__output_be_basic_test009.pcapng":   {packets: 2},
	"hadrielk__pcapng-test-generator__output_be_basic_test010.pcapng":   {packets: 4},
	"hadrielk__pcapng-test-generator__output_be_basic_test011.pcapng":   {packets: 4},
	"hadrielk__pcapng-test-generator__output_be_basic_test012.pcapng":   {packets: 4},
	"hadrielk__pcapng-test-generator__output_be_basic_test013.pcapng":   {packets: 0},
	"hadrielk__pcapng-test-generator__output_be_basic_test014.pcapng":   {packets: 0},
	"hadrielk__pcapng-test-generator__output_be_basic_test015.pcapng":   {packets: 0},
	"hadrielk__pcapng-test-generator__output_be_basic_test016.pcapng":   {packets: 4},
	"hadrielk__pcapng-test-generator__output_be_basic_test017.pcapng":   {packets: 0},
	"hadrielk__pcapng-test-generator__output_be_basic_test018.pcapng":   {packets: 4},
	"linlinw5__rdma_ib_tutorial__pingpong_rc.pcap":                      {packets: 31},
	"linlinw5__rdma_ib_tutorial__pingpong_uc.pcap":                      {packets: 21},
	"linlinw5__rdma_ib_tutorial__pingpong_ud.pcap":                      {packets: 21},
	"linlinw5__rdma_ib_tutorial__rdma_atomic_bw.pcap":                   {packets: 48},
	"linlinw5__rdma_ib_tutorial__rdma_read_bw.pcap":                     {packets: 60},
	"linlinw5__rdma_ib_tutorial__rdma_read_lat.pcap":                    {packets: 38},
	"linlinw5__rdma_ib_tutorial__rdma_send_bw.pcap":                     {packets: 50},
	"linlinw5__rdma_ib_tutorial__rdma_write_bw.pcap":                    {packets: 60},
	"linlinw5__rdma_ib_tutorial__rdma_write_lat.pcap":                   {packets: 45},
	"linlinw5__rdma_ib_tutorial__rping.pcap":                            {packets: 65},
	"linlinw5__rdma_ib_tutorial__tree2_node0.pcap":                      {packets: 154},
	"linlinw5__rdma_ib_tutorial__tree2_node1.pcap":                      {packets: 110},
	"linlinw5__rdma_ib_tutorial__tree2_node2.pcap":                      {packets: 168},
	"realjimmy__sample-captures__vntag.pcap":                            {packets: 3},
	"sanderw71__SoftRoce__Frame_req_and_response.pcapng":                {packets: 10},
	"sanderw71__SoftRoce__Frame_req_and_response_5000_bytes.pcapng":     {packets: 13},
	"sanderw71__SoftRoce__RoCE_capture_10_packets.pcapng":               {packets: 125},
	"sanderw71__SoftRoce__RoCE_capture_1_packet_1.pcapng":               {packets: 17},
	"sanderw71__SoftRoce__Roce_PacketSize_1400.pcapng":                  {packets: 19},
	"sanderw71__SoftRoce__Roce_PacketSize_5000_bytes.pcapng":            {packets: 25},
	"sanderw71__SoftRoce__capture_S10000_C1.pcapng":                     {packets: 18},
	"seladb__PcapPlusPlus__nanosecs.pcap":                               {packets: 2},
	"seladb__PcapPlusPlus__nanosecs_big_endian.pcap":                    {packets: 10},
	"seladb__PcapPlusPlus__sll2.pcap":                                   {packets: 3},
	"srinivaskoritala__rdma-softroce-demo__rdma_traffic_capture.pcap":   {packets: 184},
	"the-tcpdump-group__libpcap__linktype-reserved-field-not-zero.pcap": {packets: 0}, // capinfos refuses it: a header, and no packet
	"the-tcpdump-group__libpcap__pcap-invalid-version-1.pcap":           {refused: "pcap of version 1.4, not read (2.x and 543.0 are)"},
	"the-tcpdump-group__libpcap__shb-option-too-long.pcapng":            {refused: "damaged pcapng: before the first packet: block says 52 bytes at its start, 808,464,432 at its end"},
	"the-tcpdump-group__tcpdump__802.1ad_QinQ.pcap":                     {packets: 2},
	"the-tcpdump-group__tcpdump__arista_ether.pcap":                     {packets: 16},
	"the-tcpdump-group__tcpdump__bootp_asan.pcap":                       {packets: 1},
	"the-tcpdump-group__tcpdump__dcb_ets.pcap":                          {packets: 67},
	"the-tcpdump-group__tcpdump__dcb_qcn.pcap":                          {packets: 19},
	"the-tcpdump-group__tcpdump__erspan-type-i-1.pcap":                  {packets: 2},
	"the-tcpdump-group__tcpdump__erspan-type-ii-1.pcap":                 {packets: 1},
	"the-tcpdump-group__tcpdump__erspan-type-iii-ft-0.pcap":             {packets: 9},
	"the-tcpdump-group__tcpdump__erspan-type-iii-pb-1.pcap":             {packets: 1},
	"the-tcpdump-group__tcpdump__esp_truncated.pcap":                    {packets: 1},
	"the-tcpdump-group__tcpdump__geneve.pcap":                           {packets: 39},
	"the-tcpdump-group__tcpdump__gso-ipv4-vxlan-ipv4.pcap":              {packets: 1},
	"the-tcpdump-group__tcpdump__mpls-over-udp.pcap":                    {packets: 2},
	"the-tcpdump-group__tcpdump__nsh.pcap":                              {packets: 1},
	"zeek__zeek__erspanII.pcap":                                         {packets: 4},
	"zeek__zeek__geneve-truncated.pcapng":                               {packets: 1},
	"zeek__zeek__ip4-trunc.pcap":                                        {packets: 1},
	"zeek__zeek__ip6-trunc.pcap":                                        {packets: 1},
	"zeek__zeek__pcapng-multi-interface.pcapng":                         {packets: 6},
	"zeek__zeek__snap-tcp.pcap":                                         {packets: 8},
}
