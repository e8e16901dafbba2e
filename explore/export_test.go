package explore

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/testrun"
)

// Report explores as [Run] does, and returns the report and its text in place of failing the test. Only, if it is not "", is the one
// case.
func Report(t *testing.T, only string, function func(*Exploration), opts ...Option) (*explore.Report, string) {
	t.Helper()
	report, text, err := explored(t, only, function, opts)
	if err != nil {
		t.Fatal(err)
	}
	return report, text
}

// Hurry shortens the limits of the real clock, for a test that reaches them.
func Hurry() Option {
	return func(c *config) {
		c.Limits = testrun.Limits{Bubble: 300 * time.Millisecond, Leftover: 50 * time.Millisecond, Closing: 50 * time.Millisecond}
	}
}

// CheckOptions returns the error that [Run] has for options.
func CheckOptions(opts ...Option) error {
	_, err := newConfig(opts)
	return err
}
