package cm

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"rdmascope/decode/wire"
)

// vectors are messages made and checked elsewhere, by name.
func vectors(t testing.TB) map[string][]byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", "cm.json"))
	require.NoError(t, err)
	var rows []struct{ Name, Hex string }
	require.NoError(t, json.Unmarshal(b, &rows))
	all := map[string][]byte{}
	for _, r := range rows {
		all[r.Name], err = hex.DecodeString(r.Hex)
		require.NoError(t, err)
	}
	return all
}

// TestVectors plays the vectors' REQ, REP, RTU, DREQ and DREP as a dialogue.
func TestVectors(t *testing.T) {
	v := vectors(t)
	f := newFeed(t)
	for _, name := range []string{"cm_req_nvme_ipv4", "cm_mra", "cm_rep", "cm_rtu", "cm_dreq", "cm_drep"} {
		f.frame(v[name])
	}
	r := f.result()
	require.Len(t, r.Dialogues, 1)
	d := r.Dialogues[0]
	require.Equal(t, Closed, d.State)
	require.Equal(t, End{Addr: d.A.Addr, CommID: 287454020, QPN: 291, StartingPSN: 855567, CAGUID: 0x7cfe900300643b32,
		HasCommID: true, HasQPN: true, HasStartingPSN: true}, d.A)
	require.Equal(t, End{Addr: d.B.Addr, CommID: 1432778632, QPN: 1110, StartingPSN: 658188, CAGUID: 0xe41d2d0300ab2bc2,
		HasCommID: true, HasQPN: true, HasStartingPSN: true}, d.B)
	require.Equal(t, "192.0.2.17", d.A.Addr.String())
	require.Equal(t, Parameters{PathMTUBytes: 4096, AckTimeoutExponent: 14, RetryCount: 7, RNRRetryCount: 7, InitiatorDepth: 16,
		ResponderResources: 16, FlowLabel: 371290, PKey: 0xffff, ResponseTimeout: 20, MaxCMRetries: 15}, d.Parameters)
	require.Equal(t, ReplyTerms{InitiatorDepth: 16, ResponderResources: 16, RNRRetryCount: 7, TargetAckDelay: 15, SRQ: true}, d.Reply)
	require.EqualValues(t, 17174852, d.ServiceID)
	require.EqualValues(t, 4420, d.Port)
	require.EqualValues(t, 54321, d.SrcPort)
	require.Equal(t, "nvme", d.ULP)
	require.Equal(t, []byte{0, 0, 1, 0, 127, 0, 128}, d.RequestPrivate, "NVMe: format 0, queue 1, sizes 127 and 128")
	require.Len(t, f.connects, 1)
	require.EqualValues(t, 371290, f.connects[0].Parameters.FlowLabel)
	require.Len(t, f.disconnects, 1)
	require.EqualValues(t, 1110, f.disconnects[0].B.QPN)
	require.Equal(t, A, f.disconnects[0].By)
}

// TestVectorULP: what each REQ is for.
func TestVectorULP(t *testing.T) {
	v := vectors(t)
	for name, want := range map[string]string{
		"cm_req_nvme_ipv4": "nvme", "cm_req_iser_ipv4": "iser", "cm_req_nfsrdma_ipv4": "nfs", "cm_req_ipv6": "nvme"} {
		f := newFeed(t)
		f.frame(v[name])
		r := f.result()
		require.Len(t, r.Dialogues, 1)
		require.Equal(t, want, r.Dialogues[0].ULP, name)
	}
}

// TestVectorReject: the three REJs refuse the REQ, whose ID is their remote one.
func TestVectorReject(t *testing.T) {
	v := vectors(t)
	for name, want := range map[string]string{
		"cm_rej_28_consumer_defined":  "consumer reject",
		"cm_rej_8_invalid_service_id": "invalid service ID: nothing listens there",
		"cm_rej_10_stale_conn":        "stale connection"} {
		f := newFeed(t)
		f.frame(v["cm_req_nvme_ipv4"])
		f.frame(v[name])
		r := f.result()
		require.Len(t, r.Dialogues, 1, name)
		require.Equal(t, Rejected, r.Dialogues[0].State)
		require.Equal(t, want, r.Dialogues[0].RejectText())
		require.Equal(t, B, r.Dialogues[0].Reject.By)
		require.Empty(t, f.connects)
		require.Empty(t, f.disconnects)
	}
}

// TestVectorSIDR: a UD service is resolved.
func TestVectorSIDR(t *testing.T) {
	v := vectors(t)
	f := newFeed(t)
	f.frame(v["cm_sidr_req"])
	f.frame(v["cm_sidr_rep"])
	r := f.result()
	require.Len(t, r.Dialogues, 1)
	require.Equal(t, Replied, r.Dialogues[0].State)
	require.EqualValues(t, 1911, r.Dialogues[0].B.QPN)
	require.Empty(t, f.connects, "nothing is paired by it")
}

// TestPrefixes: a message cut anywhere neither panics nor says what it can't
// know.
func TestPrefixes(t *testing.T) {
	for name, b := range vectors(t) {
		for n := range b {
			f := newFeed(t)
			f.packet(&wire.Packet{Link: 1, Data: b[:n:n], Wire: uint32(len(b))})
			for _, d := range f.result().Dialogues {
				require.False(t, d.HasParameters && n < 14+20+20+24+96, name)
			}
		}
	}
}

func fuzzSeeds(t testing.TB) (all [][]byte) {
	for _, b := range vectors(t) {
		all = append(all, b)
	}
	return all
}
