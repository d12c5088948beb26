package roce

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// sharedDir finds the folder of shared data beside the repository, which isn't
// part of it.
func sharedDir(t testing.TB) string {
	t.Helper()
	if d := os.Getenv("RDMASCOPE_SHARED"); d != "" {
		return d
	}
	dir, err := os.Getwd()
	require.NoError(t, err)
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
		parent := filepath.Dir(dir)
		require.NotEqual(t, dir, parent, "no go.mod above")
		dir = parent
	}
	return filepath.Join(dir, "..", "shared")
}

// Frames of public captures, from real hardware. They are only read where they
// are, since their bytes may not be copied.
func TestRealFrames(t *testing.T) {
	path := filepath.Join(sharedDir(t), "vectors", "real_fetched.json")
	if _, err := os.Stat(path); err != nil {
		t.Skip("skipped: no shared data with real frames: ", err)
	}
	checked := 0
	for _, v := range loadVectors(t, path) {
		t.Run(v.Name, func(t *testing.T) {
			checkHeaders(t, v)
			checkICRC(t, v)
		})
		checked++
		if id, ok := v.Expected["service_id"]; ok {
			_, cm := decodeCM(t, v)
			assert.EqualValues(t, number(t, id), cm.REQ.ServiceID)
			assert.EqualValues(t, number(t, v.Expected["lcid"]), cm.REQ.LocalCommID)
			assert.EqualValues(t, number(t, v.Expected["local_qpn"]), cm.REQ.LocalQPN)
			assert.EqualValues(t, number(t, v.Expected["start_psn"]), cm.REQ.StartingPSN)
		}
	}
	assert.Equal(t, 13, checked)
}
