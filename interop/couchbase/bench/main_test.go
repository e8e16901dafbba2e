package bench

import (
	"fmt"
	"os"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/cannedkv"
	"github.com/holdfast-db/holdfast/interop/internal/serverprocess"
)

// serverRole in the environment makes this test binary the canned node instead.
const serverRole = "HOLDFAST_KVBENCH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverRole) != "" {
		if err := cannedkv.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "canned node:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// startServer starts the canned node as a process of its own, and returns its address.
func startServer(t *testing.T) (address string) {
	t.Helper()
	return serverprocess.Start(t, "canned node", serverRole+"=1").Line(t)
}
