//go:build !linux

package main

// wantHugePages asks for nothing: only Linux takes requests.
func wantHugePages() {}

// addressesRationed: nobody is asked.
func addressesRationed() bool { return false }
