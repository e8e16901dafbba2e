package main

import (
	"runtime"
	"testing"
)

func TestAServerUsesAtLeastFourProcessorsUnlessTheEnvironmentSaysOtherwise(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	for _, c := range []struct {
		has         int
		environment string
		want        int
	}{
		{1, "", 4},
		{3, "", 4},
		{4, "", 4},
		{6, "", 6},
		{2, "2", 2},
	} {
		t.Setenv("GOMAXPROCS", c.environment)
		runtime.GOMAXPROCS(c.has)
		useProcessors()
		if got := runtime.GOMAXPROCS(0); got != c.want {
			t.Errorf("of %d, with GOMAXPROCS=%q: %d are used, want %d", c.has, c.environment, got, c.want)
		}
	}
}
