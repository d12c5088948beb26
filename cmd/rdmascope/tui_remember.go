package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/pelletier/go-toml/v2"

	"rdmascope/tui"
)

// rememberedPath is the file where the browser keeps how it is liked, "" where
// the user has no directory for such. It is apart from config.toml, which is
// written by people and by nobody else.
func rememberedPath() string {
	dir, err := os.UserConfigDir()
	if err != nil {
		return ""
	}
	return filepath.Join(dir, "rdmascope", "tui.toml")
}

// maxRemembered bounds the file; what the browser writes has a few kB.
const maxRemembered = 1 << 20

// recallView reads what was remembered. A file that can't be read or makes no
// sense is as good as none: nobody wants to hear of it while the network burns.
func recallView(path string) tui.Remembered {
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxRemembered {
		return tui.Remembered{}
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return tui.Remembered{}
	}
	var r tui.Remembered
	if toml.Unmarshal(data, &r) != nil {
		return tui.Remembered{}
	}
	return r
}

// rememberView writes it, whole or not at all: two browsers may end together.
func rememberView(path string, r tui.Remembered) error {
	if path == "" {
		return errors.New("neither XDG_CONFIG_HOME nor HOME is set")
	}
	data, err := toml.Marshal(r)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return writeFile(path, func(f *os.File) error {
		_, err := f.Write(data)
		return err
	})
}
