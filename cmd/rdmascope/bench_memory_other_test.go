//go:build !unix

package main

import "os"

// peakMemory is 0: this system's account of an ended process has no memory.
func peakMemory(*os.ProcessState) int64 { return 0 }
