package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"rdmascope/analysis"
)

// systemConfig is read before the user's own file.
const systemConfig = "/etc/rdmascope/config.toml"

// origin is where the value of a threshold comes from.
type origin struct {
	value analysis.Decimal
	from  string
}

// loadSettings gathers the thresholds of rules: flags win over the environment,
// that over the file named by --config or RDMASCOPE_CONFIG, that over the
// user's, that over the system's.
func loadSettings(configPath string, thresholds []string) (map[string]origin, error) {
	set := map[string]origin{}
	for _, file := range configFiles(configPath) {
		if err := readConfig(file.path, file.required, set); err != nil {
			return nil, err
		}
	}
	for _, r := range analysis.Rules() {
		for _, t := range r.Thresholds {
			name := r.Name + "." + t.Key
			variable := envOf(strings.ReplaceAll(name, ".", "_"))
			if text := os.Getenv(variable); text != "" {
				if err := setThreshold(set, name, text, variable); err != nil {
					return nil, exitf(exitUsage, "%s=%s: %v", variable, text, err)
				}
			}
		}
	}
	for _, t := range thresholds {
		name, text, ok := strings.Cut(t, "=")
		if !ok {
			return nil, exitf(exitUsage, "--threshold %s: not of the form rule.key=number", t)
		}
		if err := setThreshold(set, name, text, "--threshold"); err != nil {
			return nil, exitf(exitUsage, "--threshold %s: %v", t, err)
		}
	}
	return set, nil
}

func setThreshold(set map[string]origin, name, text, from string) error {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return fmt.Errorf("%q is not a number", text)
	}
	if err := (analysis.Settings{name: analysis.Decimal(v)}).Check(); err != nil {
		return err
	}
	set[name] = origin{analysis.Decimal(v), from}
	return nil
}

func settingsOf(set map[string]origin) analysis.Settings {
	s := make(analysis.Settings, len(set))
	for name, o := range set {
		s[name] = o.value
	}
	return s
}

type configFile struct {
	path     string
	required bool
}

func configFiles(named string) []configFile {
	files := []configFile{{systemConfig, false}}
	if dir, err := os.UserConfigDir(); err == nil {
		files = append(files, configFile{filepath.Join(dir, "rdmascope", "config.toml"), false})
	}
	if env := os.Getenv("RDMASCOPE_CONFIG"); env != "" {
		files = append(files, configFile{env, true})
	}
	if named != "" {
		files = append(files, configFile{named, true})
	}
	return files
}

// readConfig adds what a file sets. An unknown key is an error that names its
// line: a threshold that is misspelt must not silently keep its default.
func readConfig(path string, required bool, set map[string]origin) error {
	data, err := os.ReadFile(path)
	if err != nil {
		if !required && errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		return exitf(exitUsage, "%v", err)
	}
	target := reflect.New(configType())
	d := toml.NewDecoder(strings.NewReader(string(data)))
	d.DisallowUnknownFields()
	if err := d.Decode(target.Interface()); err != nil {
		return exitf(exitUsage, "%s: %s", path, configError(err))
	}
	rules := target.Elem().Field(0)
	for i, r := range analysis.Rules() {
		for k, t := range r.Thresholds {
			if v := rules.Field(i).Field(k); !v.IsNil() {
				set[r.Name+"."+t.Key] = origin{analysis.Decimal(v.Elem().Float()), path}
			}
		}
	}
	return nil
}

// configType is a struct with a field for every threshold of every rule, made
// from the rules themselves, and for every other setting, so that the decoder
// can tell what is unknown.
func configType() reflect.Type {
	field := func(prefix string, i int, name string, t reflect.Type) reflect.StructField {
		return reflect.StructField{Name: prefix + strconv.Itoa(i), Type: t, Tag: reflect.StructTag(`toml:"` + name + `"`)}
	}
	var rules []reflect.StructField
	for i, r := range analysis.Rules() {
		var keys []reflect.StructField
		for k, t := range r.Thresholds {
			keys = append(keys, field("K", k, t.Key, reflect.TypeFor[*float64]()))
		}
		rules = append(rules, field("R", i, r.Name, reflect.StructOf(keys)))
	}
	return reflect.StructOf(append([]reflect.StructField{field("F", 0, "rules", reflect.StructOf(rules))}, settingFields()...))
}

// configError puts the decoder's fault into one line.
func configError(err error) string {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := &strict.Errors[0]
		line, _ := e.Position()
		return fmt.Sprintf("line %d: no setting %s (rules are written [rules.\"rc.loss\"]; see rdmascope explain)", line, strings.Join(e.Key(), "."))
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		return fmt.Sprintf("line %d: %v", line, decode)
	}
	return err.Error()
}
