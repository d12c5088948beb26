package main

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

var _ analysis.Source = (*pcaps.Files)(nil)

// inputFlags are the flags of every command that reads captures.
type inputFlags struct {
	read       []string
	rocePorts  []uint16
	noICRC     bool
	timestamps string
}

func (f *inputFlags) register(cmd *cobra.Command) {
	fl := cmd.Flags()
	fl.StringArrayVarP(&f.read, "read", "r", nil, "capture `FILE` to read, as with tshark (same as an argument)")
	var ports []uint
	fl.UintSliceVar(&ports, "roce-port", nil, "further UDP destination `PORT` of RoCEv2, beside 4791")
	fl.Lookup("roce-port").DefValue = "" // else the help says (default [])
	fl.BoolVar(&f.noICRC, "no-icrc", false, "leave the invariant CRCs unchecked")
	fl.StringVar(&f.timestamps, "timestamps", "", "whose times packets have: capture (the file's), trailer (stamped on the frames by a tap or a mirror), or auto, the stamps where they are sane (default auto)")
	cmd.PreRunE = func(*cobra.Command, []string) error {
		for _, port := range ports {
			if port == 0 || port > 65535 {
				return exitf(exitUsage, "--roce-port: %d is no UDP port", port)
			}
			f.rocePorts = append(f.rocePorts, uint16(port))
		}
		return nil
	}
}

// open opens the captures named by the arguments and by -r.
func (a *app) open(f *inputFlags, args []string) (*pcaps.Files, error) {
	paths := append(append([]string{}, f.read...), args...)
	if len(paths) == 0 {
		return nil, exitf(exitUsage, "no capture named; - is standard input (see rdmascope --help)")
	}
	return pcaps.Open(paths, pcaps.Options{Stdin: a.stdin})
}

func (f *inputFlags) decodeConfig() wire.Config {
	return wire.Config{RoCEPorts: f.rocePorts, SkipICRC: f.noICRC}
}

// writeFile writes by way of a temporary file beside path, so that a reader
// never sees half a report and a failure leaves the old one. What is there and no
// file, such as /dev/null or a pipe, is written to as it is: a rename would put
// a file in its place.
func writeFile(path string, write func(*os.File) error) error {
	if st, err := os.Stat(path); err == nil && !st.Mode().IsRegular() && !st.IsDir() {
		return writeInto(path, write)
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		var pe *os.PathError
		if errors.As(err, &pe) { // its path is that of the temporary file
			err = pe.Err
		}
		return exitf(exitUsage, "%s: %v", path, err)
	}
	defer os.Remove(tmp.Name()) // fails when the rename went well
	err = write(tmp)
	if e := tmp.Chmod(0o644); err == nil {
		err = e
	}
	if e := tmp.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		return exitf(exitUsage, "%s: %v", path, err)
	}
	return nil
}

// writeInto writes to a device or a pipe.
func writeInto(path string, write func(*os.File) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err == nil {
		err = write(f)
		if e := f.Close(); err == nil {
			err = e
		}
	}
	if err != nil {
		return exitf(exitUsage, "%s: %v", path, bareError(err))
	}
	return nil
}
