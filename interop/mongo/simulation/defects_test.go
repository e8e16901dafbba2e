package simulation

import (
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/mutant"
)

// TestDefectsAreFound checks that a life shows each defect of a server or of our client, by the rule that the defect breaks.
func TestDefectsAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string
		rule   string
		defect func(*settings)
	}{
		{"a client that takes a new transaction number for a retry", "once", func(s *settings) { s.client = mutant.Client{NewTxnNumberOnRetry: true} }},
		{"a server that does not deduplicate", "once", func(s *settings) { s.server = mutant.Server{NoDeduplication: true} }},
		{"deduplication lost at a failover", "once", func(s *settings) { s.server = mutant.Server{DeduplicationLostAtFailover: true} }},
		{"acknowledgement before a majority has it", "once", func(s *settings) { s.server = mutant.Server{AcknowledgeBeforeMajority: true} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			const attempts = 10 // not every order of goroutines shows every defect
			for seed := range uint64(attempts) {
				s := simulated(seed + 1)
				s.duration, s.operations = 5*time.Minute, 160
				s.faults = 60
				test.defect(&s)
				found := liveInBubble(t, s).check()
				if slices.ContainsFunc(found, func(v violation) bool { return v.Rule == test.rule }) {
					return
				}
				t.Logf("seed %d shows nothing: %v", s.seed, found)
			}
			t.Errorf("no life of %d shows it", attempts)
		})
	}
}
