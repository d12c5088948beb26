package main

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// testdata is the path of a capture of the repository.
func testdata(name string) string {
	return filepath.Join("..", "..", "pcaps", "testdata", name)
}

// shared finds a folder of the whole corpus beside the repository; "" without.
func shared(folder string) string {
	for _, dir := range []string{os.Getenv("RDMASCOPE_SHARED"), filepath.Join("..", "..", "..", "shared")} {
		if dir == "" {
			continue
		}
		path := filepath.Join(dir, folder)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	return ""
}

// captureFiles lists captures of a folder: what is neither a note nor a truth.
func captureFiles(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	var list []string
	for _, e := range entries {
		switch ext := filepath.Ext(e.Name()); {
		case e.IsDir(), ext == ".json", ext == ".md", ext == ".txt":
		default:
			list = append(list, filepath.Join(dir, e.Name()))
		}
	}
	require.NotEmpty(t, list, dir)
	return list
}

// corpus lists the captures of the whole corpus, or those of the repository.
func corpus(t testing.TB) []string {
	if dir := shared("captures"); dir != "" {
		return captureFiles(t, dir)
	}
	return captureFiles(t, filepath.Dir(testdata("x")))
}

func captureName(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), ".")
	return name
}

// result is what one run of the program left.
type result struct {
	code        int
	out, errors string
}

func runWith(stdin io.Reader, args ...string) result {
	var out, errors bytes.Buffer
	code := run(args, stdin, &out, &errors)
	return result{code, out.String(), errors.String()}
}

func runArgs(args ...string) result { return runWith(strings.NewReader(""), args...) }

// speedFlags give the link speed where neither the file nor METRICS' default
// knows it: the synthetic pcaps are of 25 GbE.
func speedFlags(path string) []string {
	switch captureName(path) {
	case "pfc_storm", "pfc_normal_bursts":
		return []string{"--link-speed", "25G"}
	}
	return nil
}
