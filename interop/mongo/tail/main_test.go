package tail

import (
	"fmt"
	"os"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/interop/internal/serverprocess"
)

// serverRole in the environment makes this test binary the canned server instead.
const serverRole = "HOLDFAST_TAIL_CANNED_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverRole) != "" {
		if err := canned.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "canned server:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// startServer starts the canned server as a process of its own, and returns its address.
func startServer(t *testing.T) string {
	t.Helper()
	addresses, err := canned.ParseAddresses(serverprocess.Start(t, "canned server", serverRole+"=1").Line(t))
	if err != nil {
		t.Fatal(err)
	}
	return addresses.Plain
}
