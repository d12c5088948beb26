package main

import (
	"embed"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

const manHelp = `Prints the manual page of rdmascope, or writes those of all its commands into
a folder.

  rdmascope man | man -l -
  rdmascope man /usr/local/share/man/man1`

// manFiles are the pages as cobra/doc makes them of the commands, for a test
// that holds them against the commands (TestManGolden). They aren't made here
// because what cobra/doc needs for that, a parser of Markdown and one of YAML,
// costs every start of the program 4 ms.
//
//go:embed man/*.1
var manFiles embed.FS

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man [DIRECTORY]",
		Short: "print the manual page, or write those of all commands",
		Long:  manHelp,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.manPage()
			}
			return manPages(args[0])
		},
	}
}

// Placeholders in the header of a page (.TH).
const (
	manDate    = "DATE"
	manVersion = "VERSION"
)

// manText is a page with the version and the date of this program.
func manText(name string) (string, error) {
	b, err := manFiles.ReadFile("man/" + name)
	page := strings.Replace(string(b), manDate, sourceDate().Format("Jan 2006"), 1)
	return strings.Replace(page, manVersion, version, 1), err
}

// sourceDate is the date of the sources, so that the same program writes the
// same pages, where the build or the packager (SOURCE_DATE_EPOCH, see
// reproducible-builds.org) knows it.
func sourceDate() time.Time {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				return at
			}
		}
	}
	if at, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(at, 0).UTC()
	}
	return time.Now()
}

func (a *app) manPage() error {
	page, err := manText("rdmascope.1")
	if err != nil {
		return err
	}
	_, err = a.stdout.Write([]byte(page))
	return err
}

// manPages writes the page of the program and those of its commands.
func manPages(dir string) error {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return exitf(exitUsage, "%s: not a folder", filepath.Clean(dir))
	}
	list, err := manFiles.ReadDir("man")
	if err != nil {
		return err
	}
	for _, f := range list {
		page, err := manText(f.Name())
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, f.Name()), []byte(page), 0o644); err != nil {
			return exitf(exitUsage, "%v", err)
		}
	}
	return nil
}
