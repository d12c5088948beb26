package main

import (
	"fmt"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"golang.org/x/net/netutil"

	"rdmascope/analysis"
	"rdmascope/analysis/report"
)

const (
	// maxRequests are served at once; more get 503. A report of many
	// connections takes a while to write, and the capture comes first.
	maxRequests = 4

	// deadAfter is how long no read may come back before the capture counts
	// as stuck: a lull is told ten times a second.
	deadAfter = 5 * time.Second

	// staleAfter is how old the newest snapshot may be, beside what the time
	// between two explains, before the analysis counts as stuck.
	staleAfter = time.Minute

	// maxConnections are open at once: a storm of them takes no more of the
	// process' files than that, and the others wait.
	maxConnections = 128

	// slowest is how long an answer may take. A client that reads no more holds
	// one of maxRequests, and a snapshot in memory.
	slowest = 30 * time.Second
)

// liveServer serves /metrics, /report and /healthz.
type liveServer struct {
	run     *liveRun
	metrics *liveMetrics
	snap    atomic.Pointer[analysis.Snapshot]
	looked  atomic.Int64 // Unix ns of the newest snapshot, or of the start
	busy    chan struct{}
	http    *http.Server
	addr    net.Addr
}

// loopbackAddress completes an address without a host: nobody outside of this
// machine gets in who wasn't invited by name.
func loopbackAddress(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", err
	}
	if host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), nil
}

func newLiveServer(address string, run *liveRun) (*liveServer, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, exitf(exitUsage, "--listen: %v", err)
	}
	s := &liveServer{run: run, busy: make(chan struct{}, maxRequests), addr: l.Addr()}
	s.looked.Store(time.Now().UnixNano())
	s.metrics = &liveMetrics{stats: run.stats, most: map[string]float64{}}
	reg := prometheus.NewRegistry()
	reg.MustRegister(s.metrics, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rdmascope_build_info", Help: "1, with the version.", ConstLabels: prometheus.Labels{"version": version},
	}, func() float64 { return 1 }))
	reg.MustRegister(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "rdmascope_snapshot_time_seconds", Help: "When the newest snapshot was seen, or the capture began, since the epoch.",
	}, func() float64 { return float64(s.looked.Load()) / 1e9 }))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{MaxRequestsInFlight: maxRequests, Timeout: 10 * time.Second}))
	mux.HandleFunc("GET /report", s.report)
	mux.HandleFunc("GET /healthz", s.health)
	s.http = &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 10 * time.Second,
		WriteTimeout: slowest, IdleTimeout: time.Minute, MaxHeaderBytes: 16 << 10}
	go func() { _ = s.http.Serve(netutil.LimitListener(l, maxConnections)) }() // ends with close
	run.notice(fmt.Sprintf("metrics at http://%s/metrics", s.addr))
	return s, nil
}

func (s *liveServer) close() { _ = s.http.Close() }

// update takes over a new snapshot.
func (s *liveServer) update(snap *analysis.Snapshot) {
	s.snap.Store(snap)
	s.looked.Store(time.Now().UnixNano())
	s.metrics.update(snap)
}

// report writes the newest snapshot as JSON.
func (s *liveServer) report(w http.ResponseWriter, _ *http.Request) {
	select {
	case s.busy <- struct{}{}:
		defer func() { <-s.busy }()
	default:
		w.Header().Set("Retry-After", "1")
		http.Error(w, "too many requests at once", http.StatusServiceUnavailable)
		return
	}
	snap := s.snap.Load()
	if snap == nil {
		w.Header().Set("Retry-After", "1")
		http.Error(w, "nothing analysed yet", http.StatusServiceUnavailable)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	opt := s.run.report
	opt.Compact = true
	_ = report.JSON(w, snap, opt) // the client may have gone
}

// health says whether packets can come and are taken and analysed. That none
// come is no fault of the capture's: it is told, and no more.
func (s *liveServer) health(w http.ResponseWriter, _ *http.Request) {
	if fault := s.fault(); fault != "" {
		http.Error(w, fault, http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintln(w, "ok")
	for _, st := range s.run.stats() {
		fmt.Fprintf(w, "%s: up, %d packets received, %d dropped by the kernel", st.Name, st.Received, st.KernelDropped)
		if st.NICDropped >= 0 {
			fmt.Fprintf(w, ", %d by the network card", st.NICDropped)
		}
		fmt.Fprintln(w)
	}
	if last := s.run.tee.last.Load(); last != 0 {
		fmt.Fprintf(w, "last packet %s ago\n", since(last))
	} else {
		fmt.Fprintln(w, "no packet yet")
	}
	fmt.Fprintf(w, "last snapshot %s ago\n", since(s.looked.Load()))
}

func since(unixNS int64) time.Duration {
	return time.Since(time.Unix(0, unixNS)).Round(100 * time.Millisecond)
}

// fault is why the capture is no good, "" when it is.
func (s *liveServer) fault() string {
	if beat := s.run.tee.beat.Load(); beat != 0 && since(beat) > deadAfter {
		return "the capture is stuck"
	}
	if since(s.looked.Load()) > staleAfter+10*s.run.flags.every {
		return "the analysis is stuck"
	}
	for _, st := range s.run.stats() {
		if st.Gone || !st.Up {
			return st.Name + ": the interface is down"
		}
	}
	return ""
}
