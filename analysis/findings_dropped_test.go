package analysis

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestDropsLowerConfidence: when the recorder dropped packets, nothing is sure
// any more but that.
func TestDropsLowerConfidence(t *testing.T) {
	sure := func(dropped *int64, rule *Rule, confidence string) string {
		s := &Snapshot{}
		s.Capture.KernelDroppedPackets = dropped
		f := &finder{Snapshot: s, rule: rule}
		f.add(Finding{Confidence: confidence})
		return f.found[0].Confidence
	}
	assert.Equal(t, ConfidenceHigh, sure(nil, &ruleRCLoss, ""))
	assert.Equal(t, ConfidenceHigh, sure(Int(0), &ruleRCLoss, ""))
	assert.Equal(t, ConfidenceMedium, sure(Int(1), &ruleRCLoss, ""))
	assert.Equal(t, ConfidenceMedium, sure(Int(1), &ruleRCLoss, ConfidenceHigh))
	assert.Equal(t, ConfidenceLow, sure(Int(1), &ruleRCLoss, ConfidenceLow))
	assert.Equal(t, ConfidenceHigh, sure(Int(1), &ruleCaptureLoss, ""))
}
