package prove

import (
	"os"
	"runtime/debug"
	"testing"
)

func TestMain(m *testing.M) {
	debug.SetGCPercent(400) // the tests allocate much and keep little: at 100 the collector takes a quarter of their time
	os.Exit(m.Run())
}
