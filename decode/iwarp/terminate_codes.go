package iwarp

// Layers of a Terminate (RFC 5040 §4.8).
const (
	TerminateRDMAP = 0
	TerminateDDP   = 1
	TerminateMPA   = 2 // "LLP"
)

// terminateWords is every error that the RFCs define: RFC 5040 §4.8 figure 9,
// RFC 5041 §7.2, RFC 5044 §8, RFC 6581 §8.
var terminateWords = map[TerminateError][2]string{
	{0, 0, 0x00}: {"local catastrophic error", "unspecified"},

	{0, 1, 0x00}: {"remote protection error", "invalid STag"},
	{0, 1, 0x01}: {"remote protection error", "base or bounds violation"},
	{0, 1, 0x02}: {"remote protection error", "access rights violation"},
	{0, 1, 0x03}: {"remote protection error", "STag not associated with the stream"},
	{0, 1, 0x04}: {"remote protection error", "tagged offset wrap"},
	{0, 1, 0x09}: {"remote protection error", "STag cannot be invalidated"},
	{0, 1, 0xff}: {"remote protection error", "unspecified"},

	{0, 2, 0x05}: {"remote operation error", "invalid RDMAP version"},
	{0, 2, 0x06}: {"remote operation error", "unexpected opcode"},
	{0, 2, 0x07}: {"remote operation error", "catastrophic error, localized to the stream"},
	{0, 2, 0x08}: {"remote operation error", "catastrophic error, global"},
	{0, 2, 0x09}: {"remote operation error", "STag cannot be invalidated"},
	{0, 2, 0xff}: {"remote operation error", "unspecified"},

	{1, 0, 0x00}: {"local catastrophic error", "unspecified"},

	{1, 1, 0x00}: {"tagged buffer error", "invalid STag"},
	{1, 1, 0x01}: {"tagged buffer error", "base or bounds violation"},
	{1, 1, 0x02}: {"tagged buffer error", "STag not associated with the stream"},
	{1, 1, 0x03}: {"tagged buffer error", "tagged offset wrap"},
	{1, 1, 0x04}: {"tagged buffer error", "invalid DDP version"},

	{1, 2, 0x01}: {"untagged buffer error", "invalid queue number"},
	{1, 2, 0x02}: {"untagged buffer error", "invalid MSN, no buffer available"},
	{1, 2, 0x03}: {"untagged buffer error", "invalid MSN, range not valid"},
	{1, 2, 0x04}: {"untagged buffer error", "invalid message offset"},
	{1, 2, 0x05}: {"untagged buffer error", "message too long for the buffer"},
	{1, 2, 0x06}: {"untagged buffer error", "invalid DDP version"},

	{2, 0, 0x01}: {"MPA error", "TCP connection closed, terminated or lost"},
	{2, 0, 0x02}: {"MPA error", "CRC does not match"},
	{2, 0, 0x03}: {"MPA error", "marker and ULPDU length do not agree"},
	{2, 0, 0x04}: {"MPA error", "invalid MPA request or reply"},
	{2, 0, 0x05}: {"MPA error", "local catastrophic error"},
	{2, 0, 0x06}: {"MPA error", "insufficient IRD resources"},
	{2, 0, 0x07}: {"MPA error", "no matching RTR option"},
}

// Known tells whether the RFCs define the error.
func (e TerminateError) Known() bool {
	_, ok := terminateWords[e]
	return ok
}

// LayerName is the layer in words.
func (e TerminateError) LayerName() string {
	switch e.Layer {
	case TerminateRDMAP:
		return "RDMAP"
	case TerminateDDP:
		return "DDP"
	case TerminateMPA:
		return "MPA"
	}
	return "reserved"
}

// TypeName is the error type in words. It is defined for known layers and
// types even where the code is not.
func (e TerminateError) TypeName() string {
	for _, code := range [...]uint8{e.Code, 0, 1, 5} {
		if w, ok := terminateWords[TerminateError{e.Layer, e.EType, code}]; ok {
			return w[0]
		}
	}
	return "reserved"
}

// CodeName is the error code in words.
func (e TerminateError) CodeName() string {
	if w, ok := terminateWords[e]; ok {
		return w[1]
	}
	return "reserved"
}

func (e TerminateError) String() string {
	if e.Layer == TerminateMPA && e.Known() {
		return e.TypeName() + ": " + e.CodeName() // the layer has no types of its own
	}
	return e.LayerName() + " " + e.TypeName() + ": " + e.CodeName()
}
