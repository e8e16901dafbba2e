package explore

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// Report explores as [Run] does, and returns the report and its text in place of failing the test. Only, if it is not "", is the one
// case.
func Report(t *testing.T, only string, function func(*Exploration), opts ...Option) (*explore.Report, string) {
	t.Helper()
	report, text, err := run(t, only, function, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report, text
}

// Hurry shortens the limits of the real clock until the end of the test, which must reach them.
func Hurry(t *testing.T) {
	t.Helper()
	a, b, c := bubbleLimit, leftoverLimit, closing
	bubbleLimit, leftoverLimit, closing = 300*time.Millisecond, 50*time.Millisecond, 50*time.Millisecond
	t.Cleanup(func() { bubbleLimit, leftoverLimit, closing = a, b, c })
}
