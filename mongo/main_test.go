package mongo_test

import (
	"os"
	"runtime/debug"
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the tests allocate much and keep little: at 100 the collector takes a quarter of their time
	os.Exit(spectest.Main(m))
}
