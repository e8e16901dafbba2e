//go:build defects

package simulation

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/devtools/defect"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// TestDefectsOfTheRouterAreFound checks that the life of each seed shows each defect of a router, by the rule that the defect breaks, and shows
// nothing without the defect.
func TestDefectsOfTheRouterAreFound(t *testing.T) {
	for _, test := range []struct {
		name   string // of the figure
		rule   string
		defect defect.Name
		life   func(seed uint64) settings
	}{
		{"response-to-unchecked", "asker", defect.ResponseToUnchecked, eventful},
		{"get-more-to-another-member", "cursor", defect.GetMoreToAnotherMember, calm},
		{"pin-kept-past-new-primary", "pin", defect.PinKeptPastNewPrimary, calm},
	} {
		t.Run(test.name, func(t *testing.T) {
			caught := 0
			for seed := simlife.FirstSeed(); seed < simlife.FirstSeed()+uint64(simlife.Seeds(2, raceEnabled)); seed++ {
				if found := liveInBubble(t, test.life(seed)).check(); len(found) > 0 {
					t.Errorf("seed %d shows without the defect: %v", seed, found[0])
				}
				off := defect.Switch(test.defect)
				found := liveInBubble(t, test.life(seed)).check()
				off()
				if slices.ContainsFunc(found, func(v violation) bool { return v.Rule == test.rule }) {
					caught++
					continue
				}
				t.Errorf("seed %d shows nothing: %.500v", seed, fmt.Sprint(found))
			}
			fmt.Printf("figure router-mutants-caught-%s %d\n", test.name, caught)
		})
	}
}

// eventful is a short life behind two routers with many faults.
func eventful(seed uint64) settings {
	s := routed(seed)
	s.Operations, s.Duration, s.Faults = 15, 5*time.Minute, 120
	return s
}
