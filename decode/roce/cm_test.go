package roce

import (
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// decodeCM goes the way of the hot path: headers, MAD, message.
func decodeCM(t testing.TB, v vector) (mad MADFields, cm CM) {
	t.Helper()
	c := scan(t, v)
	var h Headers
	require.NoError(t, h.Decode(c.transport, len(c.transport)))
	require.True(t, h.CarriesMAD())
	assert.EqualValues(t, QKeyGSI, h.DETH.QKey)
	body := c.transport[h.Len : h.Len+h.PayloadCaptured]
	require.NoError(t, mad.Decode(body, h.PayloadLen))
	require.True(t, mad.CarriesCM())
	require.NoError(t, cm.Decode(&mad, body[MADHeaderLen:], h.PayloadLen-MADHeaderLen))
	require.Equal(t, CMLen, cm.Captured)
	return mad, cm
}

func TestVectorCM(t *testing.T) {
	for _, v := range loadVectors(t, filepath.Join("testdata", "cm.json")) {
		t.Run(v.Name, func(t *testing.T) {
			mad, cm := decodeCM(t, v)
			got := cmFields(&mad, &cm)
			for name, want := range v.Expected {
				if skippedCMField(name) {
					continue
				}
				require.Contains(t, got, name)
				if n, ok := got[name].(uint64); ok {
					assert.Equal(t, number(t, want), n, name)
				} else {
					assert.Equal(t, want, got[name], name)
				}
			}
		})
	}
}

// skippedCMField: the BTH's fields are checked by TestVectorHeaders, those of
// the application belong to package ulp.
func skippedCMField(name string) bool {
	switch name {
	case "opcode", "destqp", "psn", "padcnt", "ackreq", "migreq", "se", "tver", "pkey", "srcqp", "icrc",
		"nvme_recfmt", "nvme_qid", "nvme_hrqsize", "nvme_hsqsize", "nvme_crqsize",
		"rpcrdma_magic", "rpcrdma_version", "rpcrdma_R", "rpcrdma_send_size", "rpcrdma_recv_size":
		return true
	}
	return false
}

func cmFields(mad *MADFields, cm *CM) map[string]any {
	m := map[string]any{
		"mad_attr": uint64(mad.AttributeID), "mad_method": uint64(mad.Method), "mad_class": uint64(mad.MgmtClass),
		"qkey": uint64(QKeyGSI),
	}
	ids := func(local, remote uint32) { m["lcid"], m["rcid"] = uint64(local), uint64(remote) }
	switch cm.ID {
	case AttributeREQ:
		reqFields(m, &cm.REQ)
	case AttributeREP:
		r := &cm.REP
		ids(r.LocalCommID, r.RemoteCommID)
		m["local_qpn"], m["start_psn"] = uint64(r.LocalQPN), uint64(r.StartingPSN)
		m["resp_res"], m["init_depth"] = uint64(r.ResponderResources), uint64(r.InitiatorDepth)
		m["tgt_ack_delay"], m["failover"] = uint64(r.TargetACKDelay), uint64(r.FailoverAccepted)
		m["e2e_fc"], m["rnr_retry"] = bit(r.EndToEndFlowControl), uint64(r.RNRRetryCount)
		m["srq"], m["ca_guid"] = bit(r.SRQ), r.LocalCAGUID
	case AttributeRTU:
		ids(cm.RTU.LocalCommID, cm.RTU.RemoteCommID)
	case AttributeDREQ:
		ids(cm.DREQ.LocalCommID, cm.DREQ.RemoteCommID)
		m["remote_qpn"] = uint64(cm.DREQ.RemoteQPN)
	case AttributeDREP:
		ids(cm.DREP.LocalCommID, cm.DREP.RemoteCommID)
	case AttributeMRA:
		ids(cm.MRA.LocalCommID, cm.MRA.RemoteCommID)
		m["msg_mraed"], m["service_timeout"] = uint64(cm.MRA.Message), uint64(cm.MRA.ServiceTimeout)
	case AttributeREJ:
		ids(cm.REJ.LocalCommID, cm.REJ.RemoteCommID)
		m["msg_rejected"], m["reject_info_len"] = uint64(cm.REJ.Message), uint64(cm.REJ.InfoLen)
		m["reason"] = uint64(cm.REJ.Reason)
	case AttributeSIDRREQ:
		r := &cm.SIDRREQ
		m["request_id"], m["sidr_pkey"], m["service_id"] = uint64(r.RequestID), uint64(r.PKey), uint64(r.ServiceID)
	case AttributeSIDRREP:
		r := &cm.SIDRREP
		m["request_id"], m["status"], m["qpn"] = uint64(r.RequestID), uint64(r.Status), uint64(r.QPN)
		m["service_id"], m["qkey"] = uint64(r.ServiceID), uint64(r.QKey)
	}
	return m
}

func reqFields(m map[string]any, r *REQ) {
	_, port, _ := r.ServiceID.Port()
	for name, n := range map[string]uint64{
		"lcid": uint64(r.LocalCommID), "service_id": uint64(r.ServiceID), "dport": uint64(port),
		"ca_guid": r.LocalCAGUID, "local_qpn": uint64(r.LocalQPN), "resp_res": uint64(r.ResponderResources),
		"init_depth": uint64(r.InitiatorDepth), "remote_cm_to": uint64(r.RemoteCMResponseTimeout),
		"transport": uint64(r.TransportType), "e2e_fc": bit(r.EndToEndFlowControl),
		"start_psn": uint64(r.StartingPSN), "local_cm_to": uint64(r.LocalCMResponseTimeout),
		"retry_count": uint64(r.RetryCount), "cm_pkey": uint64(r.PKey), "path_mtu": uint64(r.PathMTU),
		"path_mtu_bytes": uint64(r.PathMTU.Bytes()), "rnr_retry": uint64(r.RNRRetryCount),
		"max_cm_retries": uint64(r.MaxCMRetries), "srq": bit(r.SRQ), "flow_label": uint64(r.Primary.FlowLabel),
		"tclass": uint64(r.Primary.TrafficClass), "hoplimit": uint64(r.Primary.HopLimit),
		"sl": uint64(r.Primary.SL), "ack_timeout": uint64(r.Primary.LocalACKTimeout),
	} {
		m[name] = n
	}
	if h, ok := r.IPCM(); ok {
		m["ipcm_ipv"], m["ipcm_sport"] = uint64(h.IPV), uint64(h.SrcPort)
		m["ipcm_sip4"], m["ipcm_dip4"] = h.SrcAddr().String(), h.DstAddr().String()
		m["ipcm_sip6"], m["ipcm_dip6"] = h.SrcAddr().String(), h.DstAddr().String()
	}
}

// cmBytes makes a message whose byte i is i+1, so that every field's value tells
// its offset.
func cmBytes() []byte {
	b := make([]byte, CMLen)
	for i := range b {
		b[i] = byte(i + 1)
	}
	return b
}

func TestREQFields(t *testing.T) {
	b := cmBytes()
	b[43], b[47], b[50], b[51], b[139] = 0xa6|1, 0xb5, 0x5e, 0x9b, 0x74
	b[94], b[95] = 0x38, 0x70
	var r REQ
	require.NoError(t, r.DecodeFromBytes(b, nil))
	assert.Equal(t, REQ{
		BaseLayer:   BaseLayer{Contents: b},
		LocalCommID: 0x01020304, ServiceID: 0x090a0b0c0d0e0f10, LocalCAGUID: 0x1112131415161718,
		LocalQKey: 0x1d1e1f20, LocalQPN: 0x212223, ResponderResources: 0x24, LocalEECN: 0x252627,
		InitiatorDepth: 0x28, RemoteEECN: 0x292a2b, RemoteCMResponseTimeout: 20, TransportType: TransportExtended,
		EndToEndFlowControl: true, StartingPSN: 0x2d2e2f, LocalCMResponseTimeout: 22, RetryCount: 5,
		PKey: 0x3132, PathMTU: 5, RDCExists: true, RNRRetryCount: 6, MaxCMRetries: 9, SRQ: true, ExtendedTransport: 3,
		Primary: Path{
			LocalLID: 0x3536, RemoteLID: 0x3738, LocalGID: [16]byte(b[56:]), RemoteGID: [16]byte(b[72:]),
			FlowLabel: 0x595a5, PacketRate: 0x1c, TrafficClass: 0x5d, HopLimit: 0x5e, SL: 3, SubnetLocal: true, LocalACKTimeout: 14,
		},
		Alternate: Path{
			LocalLID: 0x6162, RemoteLID: 0x6364, LocalGID: [16]byte(b[100:]), RemoteGID: [16]byte(b[116:]),
			FlowLabel: 0x85868, PacketRate: 0x08, TrafficClass: 0x89, HopLimit: 0x8a, SL: 8, SubnetLocal: true, LocalACKTimeout: 14,
		},
		SAPSupported: true,
		PrivateData:  b[140:],
	}, r)
}

func TestREPFields(t *testing.T) {
	b := cmBytes()
	b[26], b[27] = 0x7d, 0xf0
	var r REP
	require.NoError(t, r.DecodeFromBytes(b, nil))
	assert.Equal(t, REP{
		BaseLayer:   BaseLayer{Contents: b},
		LocalCommID: 0x01020304, RemoteCommID: 0x05060708, LocalQKey: 0x090a0b0c, LocalQPN: 0x0d0e0f,
		LocalEECN: 0x111213, StartingPSN: 0x151617, ResponderResources: 0x19, InitiatorDepth: 0x1a,
		TargetACKDelay: 15, FailoverAccepted: 2, EndToEndFlowControl: true, RNRRetryCount: 7, SRQ: true,
		LocalCAGUID: 0x1d1e1f2021222324, PrivateData: b[36:],
	}, r)
}

func TestOtherMessageFields(t *testing.T) {
	b := cmBytes()
	base := BaseLayer{Contents: b}
	const l, r = 0x01020304, 0x05060708
	for _, test := range []struct{ got, want extension }{
		{new(RTU), &RTU{base, l, r, b[8:]}},
		{new(DREP), &DREP{base, l, r, b[8:]}},
		{new(DREQ), &DREQ{base, l, r, 0x090a0b, b[12:]}},
		{new(MRA), &MRA{base, l, r, CMMessageREQ, 0x0a >> 3, b[10:]}},
		{new(REJ), &REJ{base, l, r, CMMessageREQ, 0x0a >> 1, 0x0b0c, [72]byte(b[12:]), b[84:]}},
		{new(SIDRREQ), &SIDRREQ{base, l, 0x0506, 0x090a0b0c0d0e0f10, b[16:]}},
		{new(SIDRREP), &SIDRREP{base, l, 5, 6, 0x090a0b, 0x0d0e0f1011121314, 0x15161718, [72]byte(b[24:]), b[96:]}},
		{new(LAP), &LAP{base, l, r, 0x0d0e0f, 0x10 >> 3, Path{
			LocalLID: 0x1516, RemoteLID: 0x1718, LocalGID: [16]byte(b[24:]), RemoteGID: [16]byte(b[40:]),
			FlowLabel: 0x393a3, TrafficClass: 0x3c, HopLimit: 0x3d, PacketRate: 0x3e, SL: 3, SubnetLocal: true, LocalACKTimeout: 8,
		}, b[64:]}},
		{new(APR), &APR{base, l, r, 9, 0x0a, [72]byte(b[12:]), b[84:]}},
	} {
		require.NoError(t, test.got.DecodeFromBytes(b, nil))
		assert.Equal(t, test.want, test.got)
		assert.NotPanics(t, func() { test.got.NextLayerType() })
	}
}

// Every prefix of every message: nothing of what the capture has is lost, and
// nothing that it hasn't is made up.
func TestCMPrefixes(t *testing.T) {
	b := cmBytes()
	fixed := map[AttributeID]int{
		AttributeREQ: REQLen, AttributeMRA: MRALen, AttributeREJ: REJLen, AttributeREP: REPLen, AttributeRTU: RTULen,
		AttributeDREQ: DREQLen, AttributeDREP: DREPLen, AttributeSIDRREQ: SIDRREQLen, AttributeSIDRREP: SIDRREPLen,
		AttributeLAP: LAPLen, AttributeAPR: APRLen,
	}
	for id := AttributeREQ; id <= AttributeAPR; id++ {
		mad := MADFields{BaseVersion: 1, MgmtClass: MgmtClassCommMgt, ClassVersion: 2, AttributeID: id}
		for n := range CMLen + 1 {
			var c CM
			err := c.Decode(&mad, b[:n], CMLen)
			assert.Equal(t, n, c.Captured)
			if n >= fixed[id] {
				require.NoError(t, err, "%s %d", id.CMName(), n)
			} else {
				require.ErrorIs(t, err, ErrTruncated, "%s %d", id.CMName(), n)
			}
			if n < CMLen {
				require.ErrorIs(t, c.Decode(&mad, b[:n], n), ErrMalformed)
			}
		}
	}
	var r REQ
	require.ErrorIs(t, r.DecodeFromBytes(b[:35], nil), ErrTruncated)
	assert.Equal(t, QPN(0x212223), r.LocalQPN)
	assert.Zero(t, r.ResponderResources)
	assert.Zero(t, r.StartingPSN)
	assert.Nil(t, r.PrivateData)
}

func TestCMRefuses(t *testing.T) {
	var c CM
	b := cmBytes()
	mad := MADFields{BaseVersion: 1, MgmtClass: MgmtClassCommMgt, ClassVersion: 2, AttributeID: AttributeREQ}
	bad := mad
	bad.MgmtClass = MgmtClassPerf
	assert.Equal(t, error(ErrCMAttribute), c.Decode(&bad, b, CMLen))
	bad = mad
	bad.AttributeID = 0x1b
	assert.Equal(t, error(ErrCMAttribute), c.Decode(&bad, b, CMLen))
	bad = mad
	bad.ClassVersion = 1
	assert.Equal(t, error(ErrCMVersion), c.Decode(&bad, b, CMLen))
	assert.Equal(t, "", AttributeCMClassPortInfo.CMName())
	assert.Equal(t, "SIDR_REP", AttributeSIDRREP.CMName())
}

func TestIPCM(t *testing.T) {
	private, err := hex.DecodeString("0040d431" + "000000000000000000000000c0000211" + "000000000000000000000000c0000242" + "beef")
	require.NoError(t, err)
	r := REQ{ServiceID: 0x01061144, PrivateData: private}
	h, ok := r.IPCM()
	require.True(t, ok)
	assert.Equal(t, "192.0.2.17", h.SrcAddr().String())
	assert.Equal(t, "192.0.2.66", h.DstAddr().String())
	assert.Equal(t, uint16(54321), h.SrcPort)
	assert.Equal(t, []byte{0xbe, 0xef}, r.ConsumerPrivateData())

	space, port, ok := r.ServiceID.Port()
	require.True(t, ok)
	assert.Equal(t, PortSpaceTCP, space)
	assert.Equal(t, "TCP", space.String())
	assert.Equal(t, uint16(4420), port)

	r.PrivateData = private[:35]
	_, ok = r.IPCM()
	assert.False(t, ok, "cut")
	assert.Nil(t, r.ConsumerPrivateData())

	r.PrivateData = append([]byte{0x10}, private[1:]...)
	_, ok = r.IPCM()
	assert.False(t, ok, "version 1")

	r = REQ{ServiceID: 0x1000000000000404, PrivateData: private}
	_, ok = r.IPCM()
	assert.False(t, ok, "not RDMA IP CM")
	assert.Equal(t, private, r.ConsumerPrivateData())
	_, _, ok = ServiceID(0x0000000100000000).Port()
	assert.False(t, ok)

	assert.False(t, (&IPCMHeader{IPV: 5}).SrcAddr().IsValid())
}

func TestREQService(t *testing.T) {
	assert.Equal(t, ServiceRC, (&REQ{}).Service())
	assert.Equal(t, ServiceUC, (&REQ{TransportType: TransportUC}).Service())
	assert.Equal(t, ServiceRD, (&REQ{TransportType: TransportRD}).Service())
	assert.Equal(t, ServiceXRC, (&REQ{TransportType: TransportExtended, ExtendedTransport: 1}).Service())
	assert.Equal(t, ServiceUnknown, (&REQ{TransportType: TransportExtended}).Service())
}

func TestRejectReason(t *testing.T) {
	for r, want := range map[RejectReason]string{
		0: "reserved reason 0", 1: "no QP available", 4: "timeout", 8: "invalid service ID", 10: "stale connection",
		28: "consumer reject", 34: "reserved reason 34", 35: "vendor option not supported", 36: "reserved reason 36",
		65535: "reserved reason 65535",
	} {
		assert.Equal(t, want, r.String())
	}
	assert.Equal(t, "QPN valid", SIDRStatus(0).String())
	assert.Equal(t, "unsupported version", SIDRStatus(5).String())
	assert.Equal(t, "reserved", SIDRStatus(6).String())
	assert.Equal(t, "alternate path loaded", APStatus(0).String())
	assert.Equal(t, "reserved", APStatus(255).String())
	assert.Equal(t, "other", CMMessage(3).String())
}

func TestSIDRREQPrivateData(t *testing.T) {
	for _, v := range loadVectors(t, filepath.Join("testdata", "cm.json")) {
		if v.Name != "cm_sidr_req" {
			continue
		}
		_, cm := decodeCM(t, v)
		h, ok := cm.SIDRREQ.IPCM()
		require.True(t, ok)
		assert.Equal(t, "192.0.2.17", h.SrcAddr().String())
		assert.Len(t, cm.SIDRREQ.ConsumerPrivateData(), 216-IPCMLen)
		space, port, ok := cm.SIDRREQ.ServiceID.Port()
		require.True(t, ok)
		assert.Equal(t, PortSpaceUDP, space)
		assert.EqualValues(t, 7174, port)
	}
	for p, want := range map[PortSpace]string{PortSpaceIPoIB: "IPoIB", PortSpaceUDP: "UDP", PortSpaceIB: "IB", 0: ""} {
		assert.Equal(t, want, p.String())
	}
}
