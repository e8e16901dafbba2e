package testrun

import (
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// Settings are what the options of a public package set that are not about servers.
type Settings struct {
	InMemory       bool
	Chosen         func(explore.Message) bool
	Depth, Samples int
	Seed           int64
	Parallel       int
	Budget         time.Duration // of a run's clock
	MayLeak        bool
	Limits         Limits
}

// Limits are those of the real clock. The first two are reached only if a goroutine of a bubble waits for something outside of it: then
// neither does the bubble's clock go on, nor is it seen that all goroutines wait.
type Limits struct {
	Bubble   time.Duration // until the function has ended in a bubble
	Leftover time.Duration // from then on, until the bubble has
	Closing  time.Duration // over TCP, until a run ends after its budget, and its goroutines after its end
}

// Defaults are the settings without an option.
var Defaults = Settings{Depth: 1, Samples: 200, Seed: 1, Limits: Limits{Bubble: time.Minute, Leftover: 20 * time.Second, Closing: 5 * time.Second}}

// The budgets of a run.
const (
	realBudget = 30 * time.Second
	fakeBudget = time.Hour
)

// Complete returns an error if the settings cannot be explored, and sets the budget if no option did.
func (s *Settings) Complete() error {
	switch {
	case s.Depth < 1:
		return fmt.Errorf("explore: Depth: %d is less than 1", s.Depth)
	case s.Samples < 1:
		return fmt.Errorf("explore: Samples: %d is less than 1", s.Samples)
	case s.Parallel < 0:
		return fmt.Errorf("explore: Parallel: %d is negative", s.Parallel)
	case s.Budget < 0:
		return fmt.Errorf("explore: Budget: %v is negative", s.Budget)
	case s.Budget == 0:
		if s.Budget = realBudget; s.InMemory {
			s.Budget = fakeBudget
		}
	}
	return nil
}
