package spec

import (
	"os"
	"testing"
)

// whole is the report of a run of all suites, nil if there was none.
var whole *report

func TestMain(m *testing.M) {
	code := m.Run()
	if whole != nil {
		whole.print(os.Stdout)
	}
	os.Exit(code)
}
