package roce

import "fmt"

// MgmtClass is the management class of a MAD (IBTA 13.4.4, table 113).
type MgmtClass uint8

// Management classes.
const (
	MgmtClassSubnLID  MgmtClass = 0x01 // subnet management, LID routed
	MgmtClassSubnAdm  MgmtClass = 0x03 // subnet administration
	MgmtClassPerf     MgmtClass = 0x04 // performance management
	MgmtClassBM       MgmtClass = 0x05 // baseboard management
	MgmtClassDevMgt   MgmtClass = 0x06 // device management
	MgmtClassCommMgt  MgmtClass = 0x07 // communication management: CM
	MgmtClassSNMP     MgmtClass = 0x08 // SNMP tunneling
	MgmtClassAM       MgmtClass = 0x0b // SHARP aggregation management
	MgmtClassSubnDir  MgmtClass = 0x81 // subnet management, directed route
	mgmtClassVendor1            = 0x09 // vendor specific 0x09–0x0f
	mgmtClassApp                = 0x10 // application specific 0x10–0x2f
	mgmtClassVendor2            = 0x30 // vendor specific with OUI 0x30–0x4f
	mgmtClassReserved           = 0x50
)

var mgmtClassNames = map[MgmtClass]string{
	MgmtClassSubnLID: "SubnLID", MgmtClassSubnAdm: "SubnAdm", MgmtClassPerf: "PerfMgt", MgmtClassBM: "BM",
	MgmtClassDevMgt: "DevMgt", MgmtClassCommMgt: "CommMgt", MgmtClassSNMP: "SNMP",
	MgmtClassAM: "SHARP AM", MgmtClassSubnDir: "SubnDir",
}

// String returns the class's short name, "Vendor (0x0a)" and so on in the
// ranges that the specification leaves open.
func (c MgmtClass) String() string {
	if n, ok := mgmtClassNames[c]; ok {
		return n
	}
	name := "Reserved"
	switch {
	case c >= mgmtClassVendor1 && c < mgmtClassApp, c >= mgmtClassVendor2 && c < mgmtClassReserved:
		name = "Vendor"
	case c >= mgmtClassApp && c < mgmtClassVendor2:
		name = "Application"
	}
	return fmt.Sprintf("%s (0x%02x)", name, uint8(c))
}

// Method is the method of a MAD, bit 7 set in responses (IBTA 13.4.5).
type Method uint8

// Methods.
const (
	MethodGet          Method = 0x01
	MethodSet          Method = 0x02
	MethodSend         Method = 0x03
	MethodTrap         Method = 0x05
	MethodReport       Method = 0x06
	MethodTrapRepress  Method = 0x07
	MethodGetTable     Method = 0x12
	MethodGetTrace     Method = 0x13
	MethodGetMulti     Method = 0x14
	MethodDelete       Method = 0x15
	MethodGetResp      Method = 0x81
	MethodReportResp   Method = 0x86
	MethodGetTableResp Method = 0x92
	MethodGetMultiResp Method = 0x94
	MethodDeleteResp   Method = 0x95
)

var methodNames = map[Method]string{
	MethodGet: "Get", MethodSet: "Set", MethodSend: "Send", MethodTrap: "Trap", MethodReport: "Report",
	MethodTrapRepress: "TrapRepress", MethodGetTable: "GetTable", MethodGetTrace: "GetTraceTable",
	MethodGetMulti: "GetMulti", MethodDelete: "Delete", MethodGetResp: "GetResp",
	MethodReportResp: "ReportResp", MethodGetTableResp: "GetTableResp", MethodGetMultiResp: "GetMultiResp",
	MethodDeleteResp: "DeleteResp",
}

// String returns "Get", "GetResp" and so on.
func (m Method) String() string {
	if n, ok := methodNames[m]; ok {
		return n
	}
	return fmt.Sprintf("Unknown (0x%02x)", uint8(m))
}

// Response tells whether the method answers another.
func (m Method) Response() bool { return m&0x80 != 0 }

// AttributeID names the attribute of a MAD; its meaning depends on the class.
type AttributeID uint16
