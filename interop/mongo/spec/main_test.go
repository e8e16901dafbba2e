package spec

import (
	"os"
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
)

// whole is the report of a run of all suites, nil if there was none.
var whole *report

func TestMain(m *testing.M) {
	code := spectest.Main(m)
	if whole != nil {
		whole.print(os.Stdout)
	}
	os.Exit(code)
}
