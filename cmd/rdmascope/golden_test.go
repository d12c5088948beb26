package main

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden reports anew")

// schema is what `rdmascope schema` prints, compiled.
var schema = sync.OnceValues(func() (*jsonschema.Schema, error) {
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(runArgs("schema").out))
	if err != nil {
		return nil, err
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("report.json", doc); err != nil {
		return nil, err
	}
	return c.Compile("report.json")
})

// validate holds a JSON report against the schema that the program prints.
func validate(t *testing.T, what, report string) {
	t.Helper()
	s, err := schema()
	require.NoError(t, err)
	doc, err := jsonschema.UnmarshalJSON(strings.NewReader(report))
	require.NoError(t, err, what)
	require.NoError(t, s.Validate(doc), what)
}

// Golden reports stand beside their captures. They freeze what the truth tests
// of package analysis confirmed for each of them, and prove nothing more: read
// what -update changed before committing it.

// normalise takes out what differs from build to build and place to place.
func normalise(report, path string) string {
	report = strings.Replace(report, `"tool_version": "`+version+`"`, `"tool_version": "golden"`, 1)
	return strings.ReplaceAll(report, path, filepath.Base(path))
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		t.Fatalf("%s is not there: run with -update, then read what it wrote", path)
	}
	require.NoError(t, err)
	if string(want) != got {
		t.Errorf("%s differs: %s", path, firstDifference(string(want), got))
	}
}

// firstDifference shows a few lines instead of two whole reports.
func firstDifference(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range min(len(w), len(g)) {
		if w[i] != g[i] {
			from, to := max(0, i-2), i+4
			return "line by line\nwant:\n" + strings.Join(w[from:min(to, len(w))], "\n") + "\ngot:\n" + strings.Join(g[from:min(to, len(g))], "\n")
		}
	}
	return "one is longer"
}

// TestGoldenJSON compares the JSON reports of the repository's captures.
func TestGoldenJSON(t *testing.T) {
	for _, path := range captureFiles(t, filepath.Dir(testdata("x"))) {
		name := captureName(path)
		t.Run(name, func(t *testing.T) {
			r := runArgs(append([]string{"analyze", "-o", "json", path}, speedFlags(path)...)...)
			require.Zero(t, r.code, r.errors)
			require.Empty(t, r.errors)
			validate(t, name, r.out)
			golden(t, testdata(name+".json"), normalise(r.out, path))
		})
	}
}

// TestGoldenText compares whole text reports: a loss, a storm, waiting
// receivers, a refused connection, and a capture without fault.
func TestGoldenText(t *testing.T) {
	for _, name := range []string{
		"rxe_exact_single_loss.pcap.gz", "pfc_storm.pcap.gz", "rxe_rnr_nak.pcap.gz", "rxe_cm_reject_app.pcap", "rxe_mixed_ops_q4.pcap.gz",
	} {
		t.Run(name, func(t *testing.T) {
			path := testdata(name)
			r := runArgs(append([]string{"analyze", path}, speedFlags(path)...)...)
			require.Zero(t, r.code, r.errors)
			golden(t, filepath.Join("testdata", captureName(path)+".txt"), normalise(r.out, path))
		})
	}
}

// TestReportsAreValid holds the JSON of the whole corpus against the schema.
func TestReportsAreValid(t *testing.T) {
	for _, path := range corpus(t) {
		r := runArgs("analyze", "-o", "json", path)
		require.Zero(t, r.code, r.errors)
		validate(t, path, r.out)
		require.True(t, bytes.HasSuffix([]byte(r.out), []byte("}\n")))
	}
}
