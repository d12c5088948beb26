package report

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"rdmascope/analysis"
)

// TestFitText: figures, what would turn them round, and what was assumed; and
// nothing at all without figures.
func TestFitText(t *testing.T) {
	s := samples()["healthy"]
	assert.NotContains(t, render(t, s, Options{Width: 100}), "ROCE OR IWARP")
	limit := analysis.Decimal(0.0033)
	s.TransportFit = analysis.List[analysis.TransportFit]{{ConnectionID: "c1", Transport: "rocev2", SrcIP: "10.0.0.1", DstIP: "10.0.0.2", Lost: 16,
		Sent: 2100, Loss: 0.0076, RTTNS: 1_290_000, InFlight: 64, InFlightFrom: "max_outstanding", GoBackN: 0.67, Selective: 0.9924,
		GoBackNLimit: 0.0017, Rate: analysis.Int(136_000_000), MSS: analysis.Int(1024), Ceiling: analysis.Int(89_200_000), CeilingLimit: &limit}}
	for _, width := range []int{80, 100, 200} {
		text := render(t, s, Options{Width: width})
		for _, line := range strings.Split(text, "\n") {
			assert.LessOrEqual(t, columns(line), width, line)
		}
		words := strings.Join(strings.Fields(text[strings.Index(text, "ROCE OR IWARP"):]), " ")
		for _, want := range []string{"10.0.0.1→10.0.0.2", "16 0.76 % 1.29 ms 64", "67 %", "99.2 %", "89.2 Mb/s", "136 Mb/s", "go-back-N 33 % of its packets",
			"only below a loss of 0.17 %", "would not carry the present 136 Mb/s: that takes a loss below 0.33 %", "Pauses are not visible", "Assumed:"} {
			assert.Contains(t, words, want)
		}
	}
	paused := analysis.Decimal(0.25)
	x := &s.TransportFit[0]
	x.Paused, x.GoBackN, x.Loss, x.Ceiling = &paused, 0.985, 0.0001, analysis.Int(500_000_000)
	words := fitWords(x)
	assert.Contains(t, words, "costs RoCE with go-back-N 1.5 % of its packets; it would be a tenth from a loss of 0.17 % on.")
	assert.Contains(t, words, "would carry the present 136 Mb/s up to a loss of 0.33 %.")
	assert.NotContains(t, words, "Pauses")
	x.Ceiling = nil
	assert.NotContains(t, fitWords(x), "iWARP")
}
