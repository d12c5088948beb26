// Command rdmascope analyses captures of RDMA over Ethernet: RoCE, iWARP and
// the pause frames that keep a fabric lossless.
package main

import (
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"

	"rdmascope/analysis"
)

// version is set when building, see the Makefile.
var version = "dev"

func main() {
	beforeAnalysis = sync.OnceFunc(beginAnalysis)
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the whole program but for the exit, so that tests can call it.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) (code int) {
	defer func() {
		// Go's own exit code of a panic is 2, which would read as a usage
		// error of the caller's.
		if r := recover(); r != nil {
			fmt.Fprintf(stderr, "rdmascope: internal error: %v\n%s", r, debug.Stack())
			code = exitBug
		}
	}()
	a := &app{stdin: stdin, stdout: stdout, stderr: stderr}
	root := a.root()
	root.SetArgs(withDefaultCommand(root, args))
	return a.code(root.Execute())
}

// beforeAnalysis is called when an analysis is about to begin. Only the program
// itself has something to do then.
var beforeAnalysis = func() {}

// newEngine prepares an analysis of src.
func newEngine(src analysis.Source, opt analysis.Options) *analysis.Engine {
	beforeAnalysis()
	return analysis.New(src, opt)
}
