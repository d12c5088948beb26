package main

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sane wants a run that ended as documented, whatever it was given.
func sane(t *testing.T, what string, r result) {
	t.Helper()
	assert.Contains(t, []int{0, 3}, r.code, "%s: %s", what, r.errors)
	assert.NotContains(t, r.errors, "rdmascope: internal error", what)
	assert.Equal(t, r.code == 0, r.out != "", what)
	if r.code == 3 {
		assert.Equal(t, 1, strings.Count(r.errors, "\n"), "%s: one line says why: %s", what, r.errors)
	}
}

// TestPublicCaptures: other projects' captures, odd and broken ones among
// them, end in a report or in one line that says why not.
func TestPublicCaptures(t *testing.T) {
	dir := shared("captures-public")
	if dir == "" {
		t.Skip("the public captures are not beside the repository")
	}
	for _, path := range captureFiles(t, dir) {
		name := filepath.Base(path)
		for _, output := range []string{"text", "json"} {
			r := runArgs("analyze", "-o", output, path)
			sane(t, name, r)
			if output == "json" && r.code == 0 {
				validate(t, name, r.out)
			}
		}
	}
}

// TestEveryPrefix cuts captures of every kind at some fifty places: what comes
// before the cut is analysed, and the cut is told.
func TestEveryPrefix(t *testing.T) {
	for _, name := range []string{
		"rxe_cm_loss20.pcap", "rxe_read_loss3.pcap.gz", "rxe_rnr_nak.pcap.gz", "rxe_vlan100.pcap.gz", "rxe_sll2_any_guest.pcap.gz",
		"pfc_propagation.pcapng.gz", "siw_exact_every40.pcap.gz",
	} {
		t.Run(name, func(t *testing.T) {
			data := plain(t, name)
			for i := range 50 {
				n := len(data) * i / 50
				r := runWith(bytes.NewReader(data[:n]), "analyze", "-o", "json", "-")
				sane(t, name, r)
				if r.code == 3 {
					require.Less(t, n, 200, "%d bytes of %s: %s", n, name, r.errors)
					continue
				}
				s := decoded(t, r)
				in := s.Inputs[0]
				if in.Complete {
					assert.Empty(t, in.Error, "%d bytes of %s", n, name)
					assert.Empty(t, r.errors)
				} else {
					assert.NotEmpty(t, in.Error, "%d bytes of %s", n, name)
					assert.Contains(t, r.errors, string(in.Error))
				}
			}
		})
	}
}
