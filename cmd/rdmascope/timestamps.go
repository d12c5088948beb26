package main

import (
	"errors"
	"io/fs"
	"os"

	"github.com/pelletier/go-toml/v2"

	"rdmascope/analysis"
)

// timestampsEnv sets what --timestamps leaves open.
const timestampsEnv = "RDMASCOPE_TIMESTAMPS"

// clockMode says whose times are used, and who decided it: the flag, the
// environment, the nearest configuration file that says so, the default.
func clockMode(flag, configPath string) (mode analysis.ClockMode, from string, err error) {
	name, from := flag, "--timestamps"
	if name == "" {
		name, from = os.Getenv(timestampsEnv), timestampsEnv
	}
	if name == "" {
		if name, from, err = configTimestamps(configPath); err != nil {
			return 0, "", err
		}
	}
	if name == "" {
		return analysis.ClockAuto, "default", nil
	}
	mode, err = analysis.ParseClockMode(name)
	if err != nil {
		return 0, "", exitf(exitUsage, "%s: timestamps %v", from, err)
	}
	return mode, from, nil
}

// configTimestamps looks for the setting in the configuration files; the last
// one that has it wins. What else is wrong with them loadSettings says.
func configTimestamps(configPath string) (name, from string, err error) {
	for _, file := range configFiles(configPath) {
		data, err := os.ReadFile(file.path)
		if errors.Is(err, fs.ErrNotExist) && !file.required {
			continue
		}
		if err != nil {
			return "", "", exitf(exitUsage, "%v", err)
		}
		var set struct {
			Timestamps string `toml:"timestamps"`
		}
		if err := toml.Unmarshal(data, &set); err != nil {
			return "", "", exitf(exitUsage, "%s: %s", file.path, configError(err))
		}
		if set.Timestamps != "" {
			name, from = set.Timestamps, file.path
		}
	}
	return name, from, nil
}

// stamped gives the packets of src the times that were asked for.
func (f *inputFlags) stamped(src analysis.Source, configPath string) (analysis.Source, error) {
	mode, _, err := clockMode(f.timestamps, configPath)
	if err != nil {
		return nil, err
	}
	return analysis.Stamped(src, f.decodeConfig(), mode), nil
}
