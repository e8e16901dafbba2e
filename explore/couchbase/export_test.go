package explore

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/explore"
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

// Refusal returns the error of an exploration that cannot be.
func Refusal(t *testing.T, function func(*Exploration), opts ...Option) error {
	t.Helper()
	_, _, err := explored(t, "", function, opts)
	return err
}
