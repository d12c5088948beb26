package main

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"rdmascope/analysis"
)

// fileSettings are the keys of a configuration file that are no thresholds of
// rules. Each is a flag too, and an environment variable.
type fileSettings struct {
	Timestamps   clockText      `toml:"timestamps"`
	LinkSpeed    speedText      `toml:"link_speed"`
	PortMap      string         `toml:"port_map"` // relative to the configuration file
	DSCPPriority prioritiesText `toml:"dscp_priority"`
}

// Texts that the decoder checks, so that its errors name the line. They are
// structs, as the decoder passes over UnmarshalText of strings.
type (
	clockText      struct{ text string }
	speedText      struct{ text string }
	prioritiesText struct{ text string }
)

func (t *clockText) UnmarshalText(b []byte) error {
	t.text = string(b)
	if t.text == "" { // as if it weren't there
		return nil
	}
	_, err := analysis.ParseClockMode(t.text)
	return err
}

func (t *speedText) UnmarshalText(b []byte) error {
	t.text = string(b)
	_, err := parseSpeed(t.text)
	return err
}

func (t *prioritiesText) UnmarshalText(b []byte) error {
	t.text = string(b)
	_, err := parsePriorities(t.text)
	return err
}

// text gives a key's value as a flag would have it.
func (s *fileSettings) text(key, file string) string {
	switch key {
	case "timestamps":
		return s.Timestamps.text
	case "link_speed":
		return s.LinkSpeed.text
	case "dscp_priority":
		return s.DSCPPriority.text
	}
	if s.PortMap == "" || filepath.IsAbs(s.PortMap) {
		return s.PortMap
	}
	return filepath.Join(filepath.Dir(file), s.PortMap)
}

// setting is what was decided of a key, and by whom: the flag, the environment,
// the nearest configuration file that says it. Both are empty for the default.
type setting struct{ key, text, from string }

// flagOf and envOf name a key as a flag and as an environment variable.
func flagOf(key string) string { return "--" + strings.ReplaceAll(key, "_", "-") }
func envOf(key string) string  { return "RDMASCOPE_" + strings.ToUpper(key) }

// name is where it is written, with String what is written there.
func (s setting) name() string {
	if s.from == flagOf(s.key) || s.from == envOf(s.key) {
		return s.from
	}
	return s.from + ": " + s.key
}

func (s setting) String() string { return s.name() + " " + s.text }

// fault is an error about it.
func (s setting) fault(err error) error { return exitf(exitUsage, "%s: %v", s, err) }

// settingOf decides a key. What else is wrong with the configuration files
// loadSettings says.
func settingOf(key, flag, configPath string) (setting, error) {
	s := setting{key, flag, flagOf(key)}
	if s.text == "" {
		s.text, s.from = os.Getenv(envOf(key)), envOf(key)
	}
	if s.text != "" {
		return s, nil
	}
	s.from = ""
	for _, file := range configFiles(configPath) { // the last one that has it wins
		data, err := os.ReadFile(file.path)
		if errors.Is(err, fs.ErrNotExist) && !file.required {
			continue
		}
		if err != nil {
			return s, exitf(exitUsage, "%v", err)
		}
		var set fileSettings
		if err := toml.Unmarshal(data, &set); err != nil {
			return s, exitf(exitUsage, "%s: %s", file.path, configError(err))
		}
		if text := set.text(key, file.path); text != "" {
			s.text, s.from = text, file.path
		}
	}
	return s, nil
}

// settingFields are those of fileSettings, for the type that a configuration
// file is held against.
func settingFields() (list []reflect.StructField) {
	for _, f := range reflect.VisibleFields(reflect.TypeFor[fileSettings]()) {
		list = append(list, reflect.StructField{Name: f.Name, Type: f.Type, Tag: f.Tag})
	}
	return list
}
