package wire

import (
	"strconv"
	"time"

	"rdmascope/decode/roce"
)

var madFields = []field{
	{"infiniband.mad.baseversion", "Base version", 0, 8, hexa, nil},
	{"infiniband.mad.mgmtclass", "Management class", 8, 8, hexa, func(v uint64) string { return roce.MgmtClass(v).String() }},
	{"infiniband.mad.classversion", "Class version", 16, 8, hexa, nil},
	{"infiniband.mad.method", "Method", 24, 8, hexa, func(v uint64) string { return roce.Method(v).String() }},
	{"infiniband.mad.status", "Status", 32, 16, hexa, nil},
	{"infiniband.mad.classspecific", "Class specific", 48, 16, hexa, nil},
	{"infiniband.mad.transactionid", "Transaction ID", 64, 64, hexa, nil},
	{"infiniband.mad.attributeid", "Attribute ID", 128, 16, hexa, nil},
	{"infiniband.mad.attributemodifier", "Attribute modifier", 160, 32, hexa, nil},
}

// mad adds a management datagram of n captured octets, and the connection
// management message in it.
func (t *treeBuilder) mad(off, n int) {
	h := t.header("infiniband.mad", "Management datagram", off, roce.MADHeaderLen, madFields)
	h.Value = madSummary(t.p)
	t.add(h)
	if n <= roce.MADHeaderLen {
		return
	}
	b, body := t.p.Data[off:off+n], off+roce.MADHeaderLen
	attribute := roce.AttributeID(be16(b, 16))
	m, ok := cmTree[attribute]
	if !ok || roce.MgmtClass(b[1]) != roce.MgmtClassCommMgt || b[2] != roce.CMVersion {
		if d, ok := t.raw("infiniband.mad.data", "Data", body, n-roce.MADHeaderLen); ok {
			t.add(d)
		}
		return
	}
	c := t.header(m.name, "CM "+attribute.CMName(), body, n-roce.MADHeaderLen, m.fields)
	private, name := body+m.private, m.privateName
	if attribute == roce.AttributeREQ {
		if ip, ok := t.ipCM(body); ok {
			c.Children = append(c.Children, ip)
			private, name = private+roce.IPCMLen, "infiniband.cm.req.ip_cm.private"
		}
	}
	if d, ok := t.raw(name, "Private data", private, body+roce.CMLen-private); ok {
		c.Children = append(c.Children, d)
	}
	t.add(c)
}

func timeoutWords(v uint64) string {
	d := roce.AckTimeout(uint8(v))
	if d == roce.TimeoutInfinite {
		return "no limit"
	}
	return milliseconds(d)
}

// milliseconds writes a time in the unit in which the specification lists
// timers: "0.64 ms".
func milliseconds(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/1e6, 'f', -1, 64) + " ms"
}

func mtuWords(v uint64) string {
	if n := roce.MTU(v).Bytes(); n > 0 {
		return strconv.Itoa(n) + " bytes"
	}
	return ""
}

func rnrRetryWords(v uint64) string {
	if v == roce.RNRRetryInfinite {
		return "without end"
	}
	return ""
}

func cmMessage(v uint64) string { return roce.CMMessage(v).String() }

func serviceWords(v uint64) string {
	if space, port, ok := roce.ServiceID(v).Port(); ok && space.String() != "" {
		return space.String() + " port " + strconv.Itoa(int(port))
	}
	return ""
}

// cmTree has the messages of connection management (IBTA 12.6 to 12.11), with
// offsets from behind the MAD header. Wireshark has no fields for MRA, SIDR, LAP
// and APR: those names are ours, made the same way.
var cmTree = map[roce.AttributeID]struct {
	name        string
	fields      []field
	private     int
	privateName string
}{
	roce.AttributeREQ:     {"infiniband.cm.req", append(reqFields, append(pathFields("prim", 52), pathFields("alt", 96)...)...), roce.REQLen, "infiniband.cm.req.private"},
	roce.AttributeREP:     {"infiniband.cm.rep", repFields, 36, "infiniband.cm.rep.private"},
	roce.AttributeRTU:     {"infiniband.cm.rtu", commIDs("rtu"), 8, "infiniband.cm.rtu.private"},
	roce.AttributeREJ:     {"infiniband.cm.rej", rejFields, roce.REJLen, "infiniband.cm.rej.private"},
	roce.AttributeDREQ:    {"infiniband.cm.dreq", append(commIDs("dreq"), field{"infiniband.cm.req.remoteqpneecn", "Remote QPN", 64, 24, hexa, nil}), 12, "infiniband.cm.dreq.private"},
	roce.AttributeDREP:    {"infiniband.cm.drsp", commIDs("drsp"), 8, "infiniband.cm.drsp.private"},
	roce.AttributeMRA:     {"infiniband.cm.mra", mraFields, roce.MRALen, "infiniband.cm.mra.private"},
	roce.AttributeSIDRREQ: {"infiniband.cm.sidrreq", sidrReqFields, roce.SIDRREQLen, "infiniband.cm.sidrreq.private"},
	roce.AttributeSIDRREP: {"infiniband.cm.sidrrep", sidrRepFields, roce.SIDRREPLen, "infiniband.cm.sidrrep.private"},
	roce.AttributeLAP:     {"infiniband.cm.lap", lapFields, roce.LAPLen, "infiniband.cm.lap.private"},
	roce.AttributeAPR:     {"infiniband.cm.apr", aprFields, roce.APRLen, "infiniband.cm.apr.private"},
}

// commIDs are the two communication IDs that most messages begin with.
func commIDs(m string) []field {
	return []field{
		{"infiniband.cm." + m + ".localcommid", "Local communication ID", 0, 32, hexa, nil},
		{"infiniband.cm." + m + ".remotecommid", "Remote communication ID", 32, 32, hexa, nil},
	}
}

var reqFields = []field{
	{"infiniband.cm.req", "Local communication ID", 0, 32, hexa, nil},
	{"infiniband.cm.req.serviceid", "Service ID", 64, 64, hexa, serviceWords},
	{"infiniband.cm.req.localcaguid", "Local CA GUID", 128, 64, hexa, nil},
	{"infiniband.cm.req.localqkey", "Local Q_Key", 224, 32, hexa, nil},
	{"infiniband.cm.req.localqpn", "Local QPN", 256, 24, hexa, nil},
	{"infiniband.cm.req.responderres", "Responder resources", 280, 8, dec, nil},
	{"infiniband.cm.req.localeecn", "Local EECN", 288, 24, hexa, nil},
	{"infiniband.cm.req.initdepth", "Initiator depth", 312, 8, dec, nil},
	{"infiniband.cm.req.remoteeecn", "Remote EECN", 320, 24, hexa, nil},
	{"infiniband.cm.req.remoteresptout", "Remote CM response timeout", 344, 5, dec, timeoutWords},
	{"infiniband.cm.req.transpsvctype", "Transport service", 349, 2, dec, nil},
	{"infiniband.cm.req.e2eflowctrl", "End-to-end flow control", 351, 1, flag, nil},
	{"infiniband.cm.req.startpsn", "Starting PSN", 352, 24, dec, nil},
	{"infiniband.cm.req.localresptout", "Local CM response timeout", 376, 5, dec, timeoutWords},
	{"infiniband.cm.req.retrcount", "Retry count", 381, 3, dec, nil},
	{"infiniband.cm.req.pkey", "P_Key", 384, 16, hexa, nil},
	{"infiniband.cm.req.pppmtu", "Path MTU", 400, 4, dec, mtuWords},
	{"infiniband.cm.req.rdcexist", "RDC exists", 404, 1, flag, nil},
	{"infiniband.cm.req.rnrretrcount", "RNR retry count", 405, 3, dec, rnrRetryWords},
	{"infiniband.cm.req.maxcmretr", "Max CM retries", 408, 4, dec, nil},
	{"infiniband.cm.req.srq", "SRQ", 412, 1, flag, nil},
	{"infiniband.cm.req.ext_transport", "Extended transport", 413, 3, dec, nil},
}

// pathFields are those of one of the two paths of a REQ, which begins at the
// octet at.
func pathFields(which string, at int) []field {
	long := map[string]string{"prim": "Primary ", "alt": "Alternate "}[which]
	f := func(name, label string, bit, bits int, form form, words func(uint64) string) field {
		return field{"infiniband.cm.req." + which + "_" + name, long + label, 8*at + bit, bits, form, words}
	}
	return []field{
		f("locallid", "local LID", 0, 16, dec, nil),
		f("remotelid", "remote LID", 16, 16, dec, nil),
		f("localgid", "local GID", 32, 128, ipv6Addr, nil),
		f("remotegid", "remote GID", 160, 128, ipv6Addr, nil),
		f("flowlabel", "flow label", 288, 20, hexa, nil),
		f("pktrate", "packet rate", 314, 6, dec, nil),
		f("tfcclass", "traffic class", 320, 8, hexa, nil),
		f("hoplim", "hop limit", 328, 8, dec, nil),
		f("sl", "SL", 336, 4, dec, nil),
		f("subnetlocal", "subnet local", 340, 1, flag, nil),
		f("localacktout", "local ACK timeout", 344, 5, dec, timeoutWords),
	}
}

var repFields = []field{
	{"infiniband.cm.rep", "Local communication ID", 0, 32, hexa, nil},
	{"infiniband.cm.rep.remotecommid", "Remote communication ID", 32, 32, hexa, nil},
	{"infiniband.cm.rep.localqkey", "Local Q_Key", 64, 32, hexa, nil},
	{"infiniband.cm.rep.localqpn", "Local QPN", 96, 24, hexa, nil},
	{"infiniband.cm.rep.localeecn", "Local EECN", 128, 24, hexa, nil},
	{"infiniband.cm.rep.startpsn", "Starting PSN", 160, 24, dec, nil},
	{"infiniband.cm.rep.respres", "Responder resources", 192, 8, dec, nil},
	{"infiniband.cm.rep.initdepth", "Initiator depth", 200, 8, dec, nil},
	{"infiniband.cm.rep.tgtackdelay", "Target ACK delay", 208, 5, dec, timeoutWords},
	{"infiniband.cm.rep.failoveracc", "Failover accepted", 213, 2, dec, nil},
	{"infiniband.cm.rep.e2eflowctrl", "End-to-end flow control", 215, 1, flag, nil},
	{"infiniband.cm.rep.rnrretrcount", "RNR retry count", 216, 3, dec, rnrRetryWords},
	{"infiniband.cm.rep.srq", "SRQ", 219, 1, flag, nil},
	{"infiniband.cm.rep.localcaguid", "Local CA GUID", 224, 64, hexa, nil},
}

var rejFields = append(commIDs("rej"),
	field{"infiniband.cm.rej.msgrej", "Message rejected", 64, 2, dec, cmMessage},
	field{"infiniband.cm.rej.rejinfolen", "Reject info length", 72, 7, dec, nil},
	field{"infiniband.cm.rej.reason", "Reason", 80, 16, dec, func(v uint64) string { return roce.RejectReason(v).String() }},
	field{"infiniband.cm.rej.ari", "Additional reject information", 96, 576, octets, nil})

var mraFields = append(commIDs("mra"),
	field{"infiniband.cm.mra.message", "Message received", 64, 2, dec, cmMessage},
	field{"infiniband.cm.mra.servicetimeout", "Service timeout", 72, 5, dec, timeoutWords})

var sidrReqFields = []field{
	{"infiniband.cm.sidrreq.requestid", "Request ID", 0, 32, hexa, nil},
	{"infiniband.cm.sidrreq.pkey", "P_Key", 32, 16, hexa, nil},
	{"infiniband.cm.sidrreq.serviceid", "Service ID", 64, 64, hexa, serviceWords},
}

var sidrRepFields = []field{
	{"infiniband.cm.sidrrep.requestid", "Request ID", 0, 32, hexa, nil},
	{"infiniband.cm.sidrrep.status", "Status", 32, 8, dec, func(v uint64) string { return roce.SIDRStatus(v).String() }},
	{"infiniband.cm.sidrrep.qpn", "QPN", 64, 24, hexa, nil},
	{"infiniband.cm.sidrrep.serviceid", "Service ID", 96, 64, hexa, serviceWords},
	{"infiniband.cm.sidrrep.qkey", "Q_Key", 160, 32, hexa, nil},
}

var lapFields = append(commIDs("lap"),
	field{"infiniband.cm.lap.remoteqpn", "Remote QPN", 96, 24, hexa, nil},
	field{"infiniband.cm.lap.remoteresptout", "Remote CM response timeout", 120, 5, dec, timeoutWords},
	field{"infiniband.cm.lap.locallid", "Alternate local LID", 160, 16, dec, nil},
	field{"infiniband.cm.lap.remotelid", "Alternate remote LID", 176, 16, dec, nil},
	field{"infiniband.cm.lap.localgid", "Alternate local GID", 192, 128, ipv6Addr, nil},
	field{"infiniband.cm.lap.remotegid", "Alternate remote GID", 320, 128, ipv6Addr, nil},
	field{"infiniband.cm.lap.flowlabel", "Alternate flow label", 448, 20, hexa, nil},
	field{"infiniband.cm.lap.localacktout", "Alternate local ACK timeout", 504, 5, dec, timeoutWords})

var aprFields = append(commIDs("apr"),
	field{"infiniband.cm.apr.status", "Status", 72, 8, dec, func(v uint64) string { return roce.APStatus(v).String() }})

// ipCMFields are the RDMA IP CM header at the start of a REQ's private data
// (A11.3); the addresses depend on its IP version.
var ipCMFields = []field{
	{"infiniband.cm.req.ip_cm.majv", "Major version", 0, 4, dec, nil},
	{"infiniband.cm.req.ip_cm.minv", "Minor version", 4, 4, dec, nil},
	{"infiniband.cm.req.ip_cm.ipv", "IP version", 8, 4, dec, nil},
	{"infiniband.cm.req.ip_cm.sport", "Source port", 16, 16, dec, nil},
}

var ipCM4 = []field{
	{"infiniband.cm.req.ip_cm.sip4", "Source", 128, 32, ipv4Addr, nil},
	{"infiniband.cm.req.ip_cm.dip4", "Destination", 256, 32, ipv4Addr, nil},
}

var ipCM6 = []field{
	{"infiniband.cm.req.ip_cm.sip6", "Source", 32, 128, ipv6Addr, nil},
	{"infiniband.cm.req.ip_cm.dip6", "Destination", 160, 128, ipv6Addr, nil},
}

// ipCM makes the node of the RDMA IP CM header in the REQ whose message begins
// at body, if its service has one.
func (t *treeBuilder) ipCM(body int) (Node, bool) {
	at := body + roce.REQLen
	b := t.p.Data
	if at+4 > len(b) || b[at] != 0 {
		return Node{}, false
	}
	if _, _, ok := roce.ServiceID(be64(b, body+8)).Port(); !ok {
		return Node{}, false
	}
	var hosts []field
	switch b[at+1] >> 4 {
	case 4:
		hosts = ipCM4
	case 6:
		hosts = ipCM6
	default:
		return Node{}, false
	}
	n := t.header("infiniband.cm.req.ip_cm", "RDMA IP CM header", at, roce.IPCMLen, ipCMFields)
	n.Children = append(n.Children, t.fields(at, hosts)...)
	return n, true
}
