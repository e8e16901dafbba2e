package engine

import (
	"fmt"
	"testing"
)

// TestAllocations counts the allocations of one operation: ours must make none. It says the same on any machine.
func TestAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("measurements mean nothing under the race detector")
	}
	for _, c := range contenders(t) {
		for _, path := range []struct {
			name  string
			fails uint64
		}{{"success", never}, {"retry", first}} {
			lib := c.path(path.fails)
			if lib == nil || c.figure == "" {
				continue
			}
			n := allocations(t, lib, path.fails)
			fmt.Printf("figure %s-%s-allocs %.1f\n", c.figure, path.name, n)
			if c.name == oursName && n != 0 {
				t.Errorf("%s-%s-allocs is %v; it must be 0", c.figure, path.name, n)
			}
		}
	}
}
