# Everything builds and runs without cgo: one static file to copy to a box at
# a mirror port. Only the race detector needs it.
export CGO_ENABLED = 0

BINARY  := rdmascope
FUZZ    ?= 30s
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)

.PHONY: all build run test check fuzz bench load profile golden clean

all: build

build:
	go build -trimpath -ldflags '-s -w -X main.version=$(VERSION)' -o $(BINARY) ./cmd/rdmascope

# make run FILE=capture.pcapng
FILE ?= pcaps/testdata/rxe_exact_single_loss.pcap.gz
run:
	go run ./cmd/rdmascope analyze $(FILE)

test:
	go test ./...

check:
	@test -z "$$(gofmt -l .)" || { gofmt -l .; echo 'gofmt: the files above need formatting'; exit 1; }
	go vet ./...
	go tool staticcheck ./...
	CGO_ENABLED=1 go test -race ./...

# Every fuzz target for $(FUZZ), one after the other.
fuzz:
	@set -e; for pkg in $$(go list ./...); do \
	  for target in $$(go test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$target"; go test -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZ) $$pkg; \
	  done; \
	done

bench:
	go test -run '^$$' -bench . -benchmem ./...

# Live capture beside tcpdump at the highest rate that this machine can send,
# as root, for $(SECONDS) s each. Other load on the machine decides as much.
SECONDS ?= 60
load:
	RDMASCOPE_LOAD_SECONDS=$(SECONDS) go test -run '^$$' -bench '^BenchmarkLiveLoad$$' -benchtime 1x -timeout 30m ./cmd/rdmascope

# What the compiler is told of the hot path: go build finds it beside main and
# inlines by it. Make it again when that path changed much; any older one does no
# harm.
profile:
	go test -run '^$$' -bench '^BenchmarkAnalyze(IWARP)?$$/^(2000_connections|whole_packets|crc|small_messages)$$' \
	  -trimpath -benchtime 20x -cpuprofile cmd/rdmascope/default.pgo -o /dev/null ./cmd/rdmascope

# Freeze reports again, after they were checked against an independent source, and
# make the manual pages of what the flags say.
golden:
	go test ./cmd/rdmascope ./analysis/report ./tui -run Golden -update

clean:
	rm -f $(BINARY)
