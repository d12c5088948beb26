package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

const manHelp = `Prints the manual page of rdmascope, or writes those of all its commands into
a folder.

  rdmascope man | man -l -
  rdmascope man /usr/local/share/man/man1`

func (a *app) manCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "man [DIRECTORY]",
		Short: "print the manual page, or write those of all commands",
		Long:  manHelp,
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			root.InitDefaultCompletionCmd()
			root.DisableAutoGenTag = true
			asMarkdown(root)
			if len(args) == 0 {
				return a.manPage(root)
			}
			return manPages(root, args[0])
		},
	}
}

// asMarkdown indents the examples of c's help, and of the commands below it, as
// the maker of pages wants them: else it joins their lines.
func asMarkdown(c *cobra.Command) {
	lines := strings.Split(c.Long, "\n")
	for i, l := range lines {
		if strings.HasPrefix(l, "  ") {
			lines[i] = "  " + l
		}
	}
	c.Long = strings.Join(lines, "\n")
	for _, sub := range c.Commands() {
		asMarkdown(sub)
	}
}

// manHeader bears the date of the sources, so that the same program writes the
// same pages, where the build knows it.
func manHeader() *doc.GenManHeader {
	h := &doc.GenManHeader{Section: "1", Source: "rdmascope " + version, Manual: "rdmascope"}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if at, err := time.Parse(time.RFC3339, s.Value); s.Key == "vcs.time" && err == nil {
				h.Date = &at
			}
		}
	}
	return h
}

func (a *app) manPage(c *cobra.Command) error {
	var page bytes.Buffer
	if err := doc.GenMan(c, manHeader(), &page); err != nil {
		return err
	}
	_, err := a.stdout.Write(page.Bytes())
	return err
}

// manPages writes a page for c and one for each command below it.
func manPages(c *cobra.Command, dir string) error {
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return exitf(exitUsage, "%s: not a folder", filepath.Clean(dir))
	}
	if err := doc.GenManTree(c, manHeader(), dir); err != nil {
		return exitf(exitUsage, "%v", err)
	}
	return nil
}
