package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
	"rdmascope/decode/wire"
	"rdmascope/pcaps"
	"rdmascope/pcaps/synth"
)

// benchSpec is the capture that speed is told of: 2 million packets cut at 128
// octets, of 2,000 connections interleaved at random packet by packet. Bursts
// of one connection would flatter every cache.
var benchSpec = synth.BenchSpec{Packets: 2_000_000, Connections: 2_000, SnapLen: 128}

// generate writes a capture into the benchmark's folder and reads it once, so
// that it lies in the page cache.
func generate(b *testing.B, spec synth.BenchSpec) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "bench.pcap")
	f, err := os.Create(path)
	require.NoError(b, err)
	w := bufio.NewWriterSize(f, 1<<20)
	require.NoError(b, synth.WriteBench(w, spec))
	require.NoError(b, w.Flush())
	_, err = f.Seek(0, io.SeekStart)
	require.NoError(b, err)
	_, err = io.Copy(io.Discard, f)
	require.NoError(b, err)
	require.NoError(b, f.Close())
	return path
}

func openBench(b *testing.B, path string) *pcaps.Files {
	b.Helper()
	src, err := pcaps.Open([]string{path}, pcaps.Options{})
	require.NoError(b, err)
	return src
}

// perPacket reports time and allocations for each packet.
func perPacket(b *testing.B, run func() int64) {
	b.Helper()
	var packets int64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for b.Loop() {
		packets += run()
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(packets), "ns/packet")
	b.ReportMetric(float64(packets)/b.Elapsed().Seconds()/1e6, "Mpackets/s")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(packets), "allocs/packet")
}

func BenchmarkRead(b *testing.B) {
	path := generate(b, benchSpec)
	var buf []byte
	var recs []analysis.Record
	perPacket(b, func() (n int64) {
		src := openBench(b, path)
		defer src.Close()
		for {
			var err error
			if buf, recs, err = src.ReadBlock(buf[:0], recs[:0]); errors.Is(err, io.EOF) {
				return n
			}
			require.NoError(b, err)
			n += int64(len(recs))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	path := generate(b, benchSpec)
	perPacket(b, func() (n int64) {
		src := openBench(b, path)
		defer src.Close()
		require.NoError(b, analysis.Packets(src, wire.Config{}, func(*wire.Packet) bool { n++; return true }))
		return n
	})
}

func BenchmarkAnalyze(b *testing.B) {
	for _, c := range []struct {
		name string
		spec synth.BenchSpec
	}{
		{"2000_connections", benchSpec},
		{"one_host_pair", synth.BenchSpec{Packets: 2_000_000, Connections: 2_000, SnapLen: 128, Heavy: 0.9}},
		{"100000_connections", synth.BenchSpec{Packets: 2_000_000, Connections: 100_000, SnapLen: 128}},
		{"whole_packets", synth.BenchSpec{Packets: 500_000, Connections: 2_000, SnapLen: -1}},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := generate(b, c.spec)
			if info, err := os.Stat(path); err == nil {
				b.SetBytes(info.Size())
			}
			perPacket(b, func() int64 {
				src := openBench(b, path)
				defer src.Close()
				s, err := analysis.Analyze(context.Background(), src, analysis.Options{})
				require.NoError(b, err)
				return s.Capture.Packets
			})
		})
	}
}

// BenchmarkAnalyzeIWARP is BenchmarkAnalyze over TCP: every octet is read for
// MPA's framing, and for its CRC where that is on, so bytes/s count beside
// packets. "whole_packets" of BenchmarkAnalyze is the like of RoCE.
func BenchmarkAnalyzeIWARP(b *testing.B) {
	for _, c := range []struct {
		name string
		spec synth.IWARPBenchSpec
	}{
		{"crc", synth.IWARPBenchSpec{CRC: true}},
		{"no_crc", synth.IWARPBenchSpec{}},
		{"small_messages", synth.IWARPBenchSpec{CRC: true, Payload: 64}},
	} {
		b.Run(c.name, func(b *testing.B) {
			path := filepath.Join(b.TempDir(), "bench.pcap")
			f, err := os.Create(path)
			require.NoError(b, err)
			w := bufio.NewWriterSize(f, 1<<20)
			require.NoError(b, synth.WriteIWARPBench(w, c.spec))
			require.NoError(b, w.Flush())
			size, err := f.Seek(0, io.SeekCurrent)
			require.NoError(b, err)
			require.NoError(b, f.Close())
			b.SetBytes(size)
			perPacket(b, func() int64 {
				src := openBench(b, path)
				defer src.Close()
				s, err := analysis.Analyze(context.Background(), src, analysis.Options{})
				require.NoError(b, err)
				require.EqualValues(b, s.Capture.Packets, s.Protocols.IWARP.Packets)
				return s.Capture.Packets
			})
		})
	}
}

// BenchmarkAgainst runs the whole program in turn with tcpdump (which reads and
// filters the same file) and with tshark (which prints two fields), as
// processes, and reports how their times compare.
func BenchmarkAgainst(b *testing.B) {
	binary := filepath.Join(b.TempDir(), "rdmascope")
	build := exec.Command("go", "build", "-o", binary, ".")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	out, err := build.CombinedOutput()
	require.NoError(b, err, string(out))
	against := func(name string, other func(path string) []string) {
		b.Run(name, func(b *testing.B) {
			if _, err := exec.LookPath(name); err != nil {
				b.Skip(name + " is not installed")
			}
			path := generate(b, benchSpec)
			ours := []string{binary, "analyze", "-q", path}
			theirs := other(path)
			timed(b, ours)
			var us, them time.Duration
			var peak int64
			for b.Loop() {
				wall, memory := timed(b, ours)
				us, peak = us+wall, max(peak, memory)
				wall, _ = timed(b, theirs)
				them += wall
			}
			if us < them {
				b.ReportMetric(float64(them)/float64(us), "x_faster_than_"+name)
			} else {
				b.ReportMetric(float64(us)/float64(them), "x_time_of_"+name)
			}
			b.ReportMetric(float64(peak)/1e6, "MB_peak")
			b.ReportMetric(0, "ns/op") // says nothing here
		})
	}
	against("tcpdump", func(path string) []string {
		return []string{"tcpdump", "-nn", "-r", path, "udp port 4792"}
	})
	against("tshark", func(path string) []string {
		return []string{"tshark", "-nr", path, "-T", "fields", "-e", "infiniband.bth.destqp", "-e", "infiniband.bth.psn"}
	})
}

// timed runs a command to its end and returns its wall time and the most
// memory that it used.
func timed(b *testing.B, args []string) (time.Duration, int64) {
	b.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	start := time.Now()
	err := cmd.Run()
	took := time.Since(start)
	require.NoError(b, err, fmt.Sprint(args))
	return took, peakMemory(cmd.ProcessState)
}
