package main

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"syscall"

	"github.com/spf13/cobra"

	"rdmascope/analysis"
	"rdmascope/analysis/filter"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
)

// packetsFlags are the flags of `packets`, named as tshark's.
type packetsFlags struct {
	inputFlags
	filter  string
	count   int64
	from    int64
	to      int64
	times   string
	verbose bool
	hex     bool
	format  string
	fields  []string
	options []string
	flush   bool
}

const packetsHelp = `Prints one line a packet, as tshark does: number, time, source, destination,
protocol, length, and what it is.

  rdmascope packets -Y 'infiniband.aeth.syndrome & 0x60' FILE
  rdmascope packets -V -x --from 120 --to 121 FILE
  rdmascope packets -T fields -e frame.number -e infiniband.bth.psn FILE

A frame that receive offload (GRO) merged from several RoCE packets is printed
packet by packet, all with the frame's number.

Filters and field names are Wireshark's; rdmascope fields lists them.`

func (a *app) packetsCommand() *cobra.Command {
	f := &packetsFlags{}
	cmd := &cobra.Command{
		Use:   "packets [flags] FILE…",
		Short: "print packets, one line each, or taken apart",
		Long:  packetsHelp,
		RunE: func(_ *cobra.Command, args []string) error {
			return a.packets(f, args)
		},
	}
	f.register(cmd)
	fl := cmd.Flags()
	fl.StringVarP(&f.filter, "display-filter", "Y", "", "print only packets that pass the `FILTER`, in Wireshark's syntax")
	fl.Int64VarP(&f.count, "count", "c", 0, "stop after reading `N` packets")
	fl.Int64Var(&f.from, "from", 1, "first packet `NUMBER` to print")
	fl.Int64Var(&f.to, "to", 0, "last packet `NUMBER` to print")
	fl.StringVarP(&f.times, "time", "t", "r", "`FORM` of times: r since the first packet, d since the packet before, dd since the one printed before, a time of day, ad date and time, e since 1970; all UTC")
	fl.BoolVarP(&f.verbose, "verbose", "V", false, "print the header tree")
	fl.BoolVarP(&f.hex, "hex", "x", false, "print the octets")
	fl.StringVarP(&f.format, "type", "T", "text", "`FORMAT`: text, fields or json")
	fl.StringArrayVarP(&f.fields, "field", "e", nil, "`NAME` of a field to print, with -T fields")
	fl.StringArrayVarP(&f.options, "field-option", "E", nil, "`OPTION` of -T fields: header=y, separator=/t|/s|CHAR, quote=d|s|n, occurrence=a|f|l, aggregator=CHAR")
	fl.BoolVarP(&f.flush, "line-buffered", "l", false, "write out each packet at once")
	fl.BoolP("no-resolve", "n", true, "names are never resolved; for the habit of writing -n")
	return cmd
}

// check finds fault with the flags before any file is opened.
func (f *packetsFlags) check() error {
	if !oneOf(f.format, "text", "fields", "json") {
		return exitf(exitUsage, "-T %s: the formats are text, fields and json", f.format)
	}
	if _, ok := timeForms[f.times]; !ok {
		return exitf(exitUsage, "-t %s: r, d, dd, a, ad, e, u or ud", f.times)
	}
	if f.format == "fields" && len(f.fields) == 0 {
		return exitf(exitUsage, "-T fields: name the fields with -e")
	}
	if f.format != "fields" && len(f.fields)+len(f.options) > 0 {
		return exitf(exitUsage, "-e and -E belong to -T fields")
	}
	if f.format != "text" && (f.verbose || f.hex) {
		return exitf(exitUsage, "-V and -x belong to -T text")
	}
	if f.count < 0 || f.from < 1 || f.to < 0 || f.to > 0 && f.to < f.from {
		return exitf(exitUsage, "-c %d, --from %d, --to %d: no such packets", f.count, f.from, f.to)
	}
	return nil
}

// packetWriter prints packets in one of the formats.
type packetWriter interface {
	begin(dst []byte) []byte
	packet(dst []byte, p *wire.Packet) []byte
	end(dst []byte) []byte
}

func (a *app) packets(f *packetsFlags, args []string) error {
	if err := f.check(); err != nil {
		return err
	}
	w, err := f.writer()
	if err != nil {
		return err
	}
	match, err := a.packetFilter(&f.inputFlags, f.filter, args)
	if err != nil {
		return err
	}
	files, err := a.open(&f.inputFlags, args)
	if err != nil {
		return err
	}
	defer files.Close()
	src, err := f.stamped(files, "")
	if err != nil {
		return err
	}
	err = a.printPackets(f, src, match, w)
	var lost *writeError
	if errors.As(err, &lost) {
		return outputError(lost.err)
	}
	if err == nil {
		a.warnPackets(files)
	}
	return err
}

// packetFilter compiles -Y. A filter that asks for findings, or for packets sent
// again and the like, has the capture analysed in a first pass.
func (a *app) packetFilter(in *inputFlags, expr string, args []string) (*filter.PacketFilter, error) {
	f, err := filter.CompilePacket(expr)
	if err != nil {
		return nil, exitf(exitUsage, "-Y: %v", err)
	}
	if !f.NeedsMarks() && !f.NeedsFindings() {
		return f, nil
	}
	if slices.Contains(append(append([]string{}, in.read...), args...), pcaps.Stdin) {
		return nil, exitf(exitUsage, "-Y: findings and rdma.analysis need the capture to be read twice, which standard input cannot be")
	}
	files, err := a.open(in, args)
	if err != nil {
		return nil, err
	}
	defer files.Close()
	src, err := in.stamped(files, "")
	if err != nil {
		return nil, err
	}
	opt := analysis.Options{Decode: in.decodeConfig(), Version: version}
	var marks filter.MarkSet
	if f.NeedsMarks() {
		opt.Mark = marks.Add
	}
	snap, err := newEngine(src, opt).Run(context.Background())
	if err != nil {
		return nil, err
	}
	f.SetMarks(&marks)
	f.SetFindings(snap.Findings)
	return f, nil
}

// writeError tells a failure of the output from one of the input.
type writeError struct{ err error }

func (e *writeError) Error() string { return e.err.Error() }

func (a *app) printPackets(f *packetsFlags, src analysis.Source, match *filter.PacketFilter, w packetWriter) error {
	out := bufio.NewWriterSize(a.stdout, 256<<10)
	_, tty := terminal(a.stdout)
	last := f.to
	if f.count > 0 && (last == 0 || f.count < last) {
		last = f.count
	}
	var failed error
	write := func(b []byte) bool {
		if _, failed = out.Write(b); failed == nil && (tty || f.flush) {
			failed = out.Flush()
		}
		return failed == nil
	}
	line := w.begin(nil)
	write(line)
	err := analysis.Packets(src, f.decodeConfig(), func(p *wire.Packet) bool {
		if last > 0 && p.Number > last || failed != nil {
			return false
		}
		if clock, ok := w.(interface{ tick(*wire.Packet) }); ok {
			clock.tick(p)
		}
		if match.Match(p) && p.Number >= f.from {
			line = w.packet(line[:0], p)
			return write(line)
		}
		return true
	})
	if err == nil && failed == nil {
		write(w.end(line[:0]))
	}
	if failed == nil {
		failed = out.Flush()
	}
	if failed != nil {
		return &writeError{failed}
	}
	return err
}

// outputError is what a failed write to standard output means: nothing when its
// reader has closed it, having read enough.
func outputError(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, io.ErrClosedPipe) || errors.Is(err, os.ErrClosed) {
		return nil
	}
	return exitf(exitUsage, "writing the output: %v", err)
}

func (a *app) warnPackets(files *pcaps.Files) {
	for _, in := range files.Inputs() {
		if in.Error != "" {
			a.warnf("%s: %s; all before it printed", in.Path, in.Error)
		}
	}
}

// writer makes the writer for the format that the flags ask for.
func (f *packetsFlags) writer() (packetWriter, error) {
	switch f.format {
	case "fields":
		return newFieldsWriter(f.fields, f.options)
	case "json":
		return &jsonWriter{}, nil
	}
	return &textWriter{clock: packetClock{form: timeForms[f.times]}, verbose: f.verbose, hex: f.hex}, nil
}
