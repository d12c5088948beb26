package tui

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// sheet is a table as it is shown: its columns, its order, its filter.
type sheet struct {
	name    string
	columns []string
	rows    int
	row     func(i int) []string // may be slow; called in order
}

// askExport asks for the file; its ending chooses the format.
func (u *ui) askExport() {
	name, endings := strings.ToLower(strings.Fields(u.exportName())[0]), ".svg .txt"
	ext := ".svg"
	if x, ok := u.top().(exporter); ok {
		if s := x.export(u); s != nil {
			name, ext, endings = s.name, ".csv", ".csv .json .svg .txt"
		}
	}
	u.ask(prompt{label: "export (" + endings + ") to: ", text: []rune("rdmascope-" + name + ext), enter: u.exportTo})
}

func (u *ui) exportName() string {
	if n := len(u.stack); n > 0 {
		return "detail"
	}
	return viewNames[u.view]
}

func (u *ui) exportTo(path string) {
	if path = filePath(path); path == "" {
		u.say("nothing exported")
		return
	}
	data, what, err := u.exportData(strings.ToLower(filepath.Ext(path)))
	if err == nil {
		err = u.host.write(path, data)
	}
	if err != nil {
		u.warn(err.Error())
		return
	}
	u.say(what + " exported to " + path)
}

// filePath is the path that was typed: ~ is the home directory, as in a shell.
func filePath(text string) string {
	text = strings.TrimSpace(text)
	if rest, ok := strings.CutPrefix(text, "~/"); ok {
		if home, err := os.UserHomeDir(); err == nil {
			return filepath.Join(home, rest)
		}
	}
	return text
}

// exportData makes the contents: the table that the page shows, or the
// screen.
func (u *ui) exportData(ext string) (data []byte, what string, err error) {
	switch ext {
	case ".svg":
		return screenSVG(u.capture()), "the screen", nil
	case ".txt":
		return []byte(strings.Join(u.capture().text(), "\n") + "\n"), "the screen", nil
	case ".csv", ".json":
		x, ok := u.top().(exporter)
		if !ok {
			return nil, "", errors.New("this page has no table: export it as .svg or .txt")
		}
		s := x.export(u)
		if s == nil {
			return nil, "", errors.New("nothing to export")
		}
		if ext == ".csv" {
			data, err = s.csv()
		} else {
			data, err = s.json()
		}
		return data, plural(int64(s.rows), "row"), err
	}
	return nil, "", fmt.Errorf("no format %q: .csv .json .svg .txt", ext)
}

func (s *sheet) csv() ([]byte, error) {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	_ = w.Write(s.columns)
	for i := range s.rows {
		row := s.row(i)
		for k, c := range row {
			row[k] = harmlessCell(clean(c))
		}
		_ = w.Write(row)
	}
	w.Flush()
	return b.Bytes(), w.Error()
}

// harmlessCell keeps a spreadsheet from running a text out of a capture as a
// formula.
func harmlessCell(s string) string {
	if s != "" && strings.ContainsRune("=+@", rune(s[0])) {
		return "'" + s
	}
	return s
}

// json writes an array of objects whose names keep the columns' order.
func (s *sheet) json() ([]byte, error) {
	var b bytes.Buffer
	b.WriteString("[")
	for i := range s.rows {
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString("\n {")
		for k, c := range s.row(i) {
			if k > 0 {
				b.WriteString(", ")
			}
			name, _ := json.Marshal(s.columns[k])
			value, err := json.Marshal(clean(c))
			if err != nil {
				return nil, err
			}
			if c == unknown {
				value = []byte("null")
			}
			b.Write(name)
			b.WriteString(": ")
			b.Write(value)
		}
		b.WriteString("}")
	}
	b.WriteString("\n]\n")
	return b.Bytes(), nil
}

// writeNewFile writes a file that must not exist yet.
func writeNewFile(path string, data []byte) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		if errors.Is(err, os.ErrExist) {
			return fmt.Errorf("%s exists already: not overwritten", path)
		}
		return err
	}
	_, err = f.Write(data)
	if e := f.Close(); err == nil {
		err = e
	}
	if err != nil { // half of a table looks like all of it
		_ = os.Remove(path)
	}
	return err
}
