package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"rdmascope/analysis"
)

// serve starts the server of a run that captures nothing.
func serve(t *testing.T) (*liveServer, *liveRun, string) {
	t.Helper()
	var said bytes.Buffer
	r := &liveRun{app: &app{stderr: &said}, flags: &liveFlags{every: time.Second}, tee: &liveTee{}}
	s, err := newLiveServer("127.0.0.1:0", r)
	require.NoError(t, err)
	t.Cleanup(s.close)
	return s, r, "http://" + s.addr.String()
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	res, err := http.Get(url)
	require.NoError(t, err)
	defer res.Body.Close()
	b, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return res.StatusCode, string(b)
}

// TestHealth: a lull is no fault; a capture or an analysis that stands still is.
func TestHealth(t *testing.T) {
	s, r, url := serve(t)
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).UnixNano() }
	healthy := func() (bool, string) {
		code, text := get(t, url+"/healthz")
		return code == http.StatusOK, text
	}
	ok, text := healthy()
	assert.True(t, ok)
	assert.Contains(t, text, "no packet yet\n")

	r.tee.beat.Store(ago(0))
	r.tee.last.Store(ago(time.Hour))
	ok, text = healthy()
	assert.True(t, ok, "a lull")
	assert.Contains(t, text, "last packet 1h0m0s ago\n")

	r.tee.beat.Store(ago(10 * time.Second))
	ok, text = healthy()
	assert.False(t, ok)
	assert.Equal(t, "the capture is stuck\n", text)

	r.tee.beat.Store(ago(0))
	s.looked.Store(ago(2 * time.Minute))
	ok, text = healthy()
	assert.False(t, ok)
	assert.Equal(t, "the analysis is stuck\n", text)
	s.update(&analysis.Snapshot{})
	ok, _ = healthy()
	assert.True(t, ok)

	code, _ := get(t, url+"/")
	assert.Equal(t, http.StatusNotFound, code)
	code, _ = get(t, url+"/report")
	assert.Equal(t, http.StatusOK, code)
}

// TestScrapeStorm: a hundred scrapers at once, some of them too slow to read
// their answer. New snapshots come in meanwhile, the last one is what is told
// then, and nothing of the storm stays.
func TestScrapeStorm(t *testing.T) {
	s, _, url := serve(t)
	snap := analyzed(t, testdata("rxe_write_loss1_before_cap.pcap.gz"))
	s.update(snap)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: 10 * time.Second}
	for range 10 {
		_, _ = client.Get(url + "/metrics")
	}
	goroutines, files := runtime.NumGoroutine(), openFiles()
	begin := time.Now()
	var wg sync.WaitGroup
	var answered, refused, broken atomic.Int64
	for i := range 100 {
		wg.Go(func() {
			if i%10 == 0 { // asks, and reads nothing
				c, err := net.Dial("tcp", s.addr.String())
				if err != nil {
					return
				}
				defer c.Close()
				fmt.Fprintf(c, "GET /report HTTP/1.1\r\nHost: x\r\n\r\n")
				time.Sleep(2 * time.Second)
				return
			}
			for time.Since(begin) < 2*time.Second {
				res, err := client.Get(url + []string{"/metrics", "/report", "/healthz"}[i%3])
				if err != nil {
					broken.Add(1)
					continue
				}
				_, _ = io.Copy(io.Discard, res.Body)
				_ = res.Body.Close()
				switch res.StatusCode {
				case http.StatusOK:
					answered.Add(1)
				case http.StatusServiceUnavailable:
					refused.Add(1)
				default:
					broken.Add(1)
				}
			}
		})
	}
	slowest := time.Duration(0)
	for time.Since(begin) < 2*time.Second { // as the capture does
		start := time.Now()
		s.update(snap)
		slowest = max(slowest, time.Since(start))
		time.Sleep(20 * time.Millisecond)
	}
	last := *snap
	last.Capture.Packets++
	last.Protocols.RoCEv2.Packets = 4711
	s.update(&last)
	wg.Wait()
	t.Logf("%d answered, %d refused; a snapshot waited for %v at most", answered.Load(), refused.Load(), slowest)
	assert.Zero(t, broken.Load())
	assert.Positive(t, answered.Load())
	assert.Less(t, slowest, 2*time.Second, "scrapes hold up no snapshot")
	_, m := get(t, url+"/metrics")
	assert.Contains(t, m, `rdmascope_packets_total{protocol="rocev2"} 4711`)
	for line := range strings.Lines(m) {
		assert.NotContains(t, line, "10.77.0.", "no address in a label")
	}
	http.DefaultClient.CloseIdleConnections()
	assert.Eventually(t, func() bool { return runtime.NumGoroutine() <= goroutines+2 && openFiles() <= files+2 }, 10*time.Second, 50*time.Millisecond,
		"%d goroutines before, %d after; %d files before, %d after", goroutines, runtime.NumGoroutine(), files, openFiles())
}

// openFiles counts the process' open files, 0 where there is no /proc.
func openFiles() int {
	list, _ := os.ReadDir("/proc/self/fd")
	return len(list)
}

// TestManyConnections: more connections than are served at once wait for their
// turn; none of them is dropped.
func TestManyConnections(t *testing.T) {
	s, _, url := serve(t)
	var idle []net.Conn
	for range maxConnections + 20 {
		c, err := net.Dial("tcp", s.addr.String())
		require.NoError(t, err)
		idle = append(idle, c)
	}
	done := make(chan int, 1)
	go func() {
		res, err := (&http.Client{Timeout: 30 * time.Second}).Get(url + "/healthz")
		if err != nil {
			done <- 0
			return
		}
		_ = res.Body.Close()
		done <- res.StatusCode
	}()
	select {
	case <-done:
		require.Fail(t, "served beyond the limit")
	case <-time.After(200 * time.Millisecond):
	}
	for _, c := range idle {
		require.NoError(t, c.Close())
	}
	assert.Equal(t, http.StatusOK, <-done)
}
