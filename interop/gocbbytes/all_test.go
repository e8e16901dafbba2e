package gocbbytes

import (
	"maps"
	"slices"
	"testing"
)

// TestThePacketsAreThoseOfGocb compares the packets of all operations and options byte for byte.
func TestThePacketsAreThoseOfGocb(t *testing.T) {
	want, got := officialRecording(t), ourRecording(t)
	unexplained, explained := 0, 0
	for _, name := range slices.Sorted(maps.Keys(want.steps)) {
		reason := differences[name]
		switch {
		case want.steps[name] == "":
			t.Errorf("%s: gocb sent nothing", name)
		case got.steps[name] != want.steps[name] && reason == "":
			unexplained++
			t.Errorf("%s:\n--- ours\n%s\n--- gocb\n%s", name, got.steps[name], want.steps[name])
		case got.steps[name] == want.steps[name] && reason != "":
			t.Errorf("%s: the packets are the same; delete its row", name)
		case reason != "" && !onlyFor(reason, name, got, want):
			unexplained++
			t.Errorf("%s: the packets do not only differ because %s:\n--- ours\n%s\n--- gocb\n%s", name, reason, got.steps[name], want.steps[name])
		case reason != "":
			explained++
		}
	}
	for name := range differences {
		if _, ok := want.steps[name]; !ok {
			t.Errorf("there is no step %q", name)
		}
	}
	t.Logf("%d calls were compared; %d differ, with a reason", len(want.steps), explained)
	if got.handshake != want.handshake {
		unexplained++
		t.Errorf("handshake:\n--- ours\n%s\n--- gocb\n%s", got.handshake, want.handshake)
	}
	t.Logf("\nfigure cb-bytes-unexplained %d", unexplained)
}
