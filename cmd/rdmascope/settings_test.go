package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// TestSettingOrigins: the flag wins over the environment, that over the nearest
// configuration file that says anything.
func TestSettingOrigins(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", dir)
	own := filepath.Join(dir, "rdmascope", "config.toml")
	require.NoError(t, os.Mkdir(filepath.Dir(own), 0o700))
	require.NoError(t, os.WriteFile(own, []byte("link_speed = \"10G\"\nport_map = \"ports.toml\"\ndscp_priority = \"26=4\"\n"), 0o600))
	named := filepath.Join(dir, "named.toml")
	require.NoError(t, os.WriteFile(named, []byte("link_speed = \"40G\"\n"), 0o600))

	of := func(key, flag, config string) setting {
		s, err := settingOf(key, flag, config)
		require.NoError(t, err)
		return s
	}
	assert.Equal(t, setting{"link_speed", "10G", own}, of("link_speed", "", ""))
	assert.Equal(t, setting{"link_speed", "40G", named}, of("link_speed", "", named))
	assert.Equal(t, setting{"dscp_priority", "26=4", own}, of("dscp_priority", "", named), "which the named file doesn't say")
	assert.Equal(t, filepath.Join(dir, "rdmascope", "ports.toml"), of("port_map", "", "").text, "beside the file that names it")
	assert.Equal(t, setting{key: "timestamps"}, of("timestamps", "", ""))
	t.Setenv("RDMASCOPE_LINK_SPEED", "25G")
	assert.Equal(t, setting{"link_speed", "25G", "RDMASCOPE_LINK_SPEED"}, of("link_speed", "", named))
	assert.Equal(t, setting{"link_speed", "50G", "--link-speed"}, of("link_speed", "50G", named))

	out := runArgs("config", "show").out
	for _, want := range []string{`(?m)^timestamps +auto +default$`, `(?m)^link_speed +25G +RDMASCOPE_LINK_SPEED$`, `(?m)^dscp_priority +26=4 +/.*/config\.toml$`} {
		assert.Regexp(t, want, out)
	}
}

// TestSettingsApplied: what a configuration file says of the network reaches the
// analysis as the flags do.
func TestSettingsApplied(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	dir := t.TempDir()
	config := filepath.Join(dir, "c.toml")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "ports.toml"), []byte("[[port]]\ninterface = \"nowhere\"\ndevice = \"x\"\npeer = \"y\"\n"), 0o600))
	require.NoError(t, os.WriteFile(config, []byte("port_map = \"ports.toml\"\nlink_speed = \"25G\"\ndscp_priority = \"26=4\"\n"), 0o600))

	var f networkFlags
	var opt analysis.Options
	require.NoError(t, f.apply(&opt, config))
	assert.EqualValues(t, int64(25_000_000_000), opt.LinkSpeed)
	require.NotNil(t, opt.Priorities)
	assert.EqualValues(t, 4, opt.Priorities[26])
	require.Len(t, opt.PortMap, 1)
	assert.Equal(t, "nowhere", opt.PortMap[0].Interface)

	r := runArgs("analyze", "--config", config, testdata("pfc_propagation.pcapng.gz"))
	assert.Zero(t, r.code)
	assert.Contains(t, r.errors, "c.toml: port_map "+filepath.Join(dir, "ports.toml")+": line 1: the capture has no interface nowhere")
}

// TestSettingFaults: each names the file and the line, or the variable.
func TestSettingFaults(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	for _, c := range []struct{ text, want string }{
		{"\nlink_sped = \"25G\"\n", `c\.toml: line 2: no setting link_sped`},
		{"link_speed = \"fast\"\n", `c\.toml: line 1: .*not a speed`},
		{"\n\nlink_speed = [25]\n", `c\.toml: line 3: `},
		{"\ndscp_priority = \"26\"\n", `c\.toml: line 2: .*"26" is not DSCP=PRIORITY`},
		{"timestamps = \"tap\"\n", `c\.toml: line 1: .*auto, capture or trailer`},
		{"port_map = 7\n", `c\.toml: line 1: `},
		{"port_map = \"none.toml\"\n", `c\.toml: port_map: open .*none\.toml`},
	} {
		config := write(t, "c.toml", []byte(c.text))
		r := runArgs("analyze", "--config", config, testdata("pfc_propagation.pcapng.gz"))
		assert.Equal(t, exitUsage, r.code, c.text)
		assert.Regexp(t, c.want, r.errors)
	}
	t.Setenv("RDMASCOPE_DSCP_PRIORITY", "26=9")
	r := runArgs("analyze", testdata("pfc_propagation.pcapng.gz"))
	assert.Equal(t, exitUsage, r.code)
	assert.Contains(t, r.errors, `RDMASCOPE_DSCP_PRIORITY 26=9: "26=9" is not DSCP=PRIORITY`)
}

// TestSettingsOfREADME: the example that it gives is one that is read.
func TestSettingsOfREADME(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	text, err := os.ReadFile(filepath.Join("..", "..", "README.md"))
	require.NoError(t, err)
	_, example, ok := strings.Cut(string(text), "```toml\ntimestamps")
	require.True(t, ok)
	example, _, _ = strings.Cut(example, "```")
	config := write(t, "c.toml", []byte("timestamps"+example))
	r := runArgs("config", "show", "--config", config)
	require.Zero(t, r.code, r.errors)
	for _, key := range []string{"timestamps", "link_speed", "port_map", "dscp_priority", "pfc.storm.detect_ms"} {
		assert.Regexp(t, `(?m)^`+key+` +\S+ +`+config+`$`, r.out)
	}
}

// TestThresholdsInEnvironment: they stand between flag and file, and no two
// have the same variable.
func TestThresholdsInEnvironment(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	variables := map[string]string{}
	for _, r := range analysis.Rules() {
		for _, th := range r.Thresholds {
			name := r.Name + "." + th.Key
			v := envOf(strings.ReplaceAll(name, ".", "_"))
			assert.Empty(t, variables[v], name)
			variables[v] = name
		}
	}
	config := write(t, "c.toml", []byte("[rules.\"pfc.storm\"]\ndetect_ms = 100\n"))
	t.Setenv("RDMASCOPE_PFC_STORM_DETECT_MS", "150")
	set, err := loadSettings(config, nil)
	require.NoError(t, err)
	assert.Equal(t, origin{150, "RDMASCOPE_PFC_STORM_DETECT_MS"}, set["pfc.storm.detect_ms"])
	set, err = loadSettings(config, []string{"pfc.storm.detect_ms=160"})
	require.NoError(t, err)
	assert.Equal(t, origin{160, "--threshold"}, set["pfc.storm.detect_ms"])
	t.Setenv("RDMASCOPE_PFC_STORM_DETECT_MS", "long")
	_, err = loadSettings(config, nil)
	assert.ErrorContains(t, err, `RDMASCOPE_PFC_STORM_DETECT_MS=long: "long" is not a number`)
}
