package bench

import (
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
	"github.com/holdfast-db/holdfast/interop/internal/serverprocess"
)

const (
	// serverRole in the environment makes this test binary the canned server instead.
	serverRole = "HOLDFAST_BENCH_CANNED_SERVER"
	// profileDir in the environment makes TestProfile write its profiles to that folder.
	profileDir = "HOLDFAST_BENCH_PROFILES"
)

func TestMain(m *testing.M) {
	if os.Getenv(serverRole) != "" {
		if err := canned.Serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "canned server:", err)
			os.Exit(1)
		}
		return
	}
	if role := os.Getenv(fileRole); role != "" {
		if err := moveFile(role); err != nil {
			fmt.Fprintln(os.Stderr, "file:", err)
			os.Exit(1)
		}
		return
	}
	if os.Getenv(profileDir) != "" {
		runtime.MemProfileRate = 1 // every allocation; it must be set before there are any
	}
	os.Exit(m.Run())
}

// startServer starts the canned server as a process of its own.
func startServer(t *testing.T) canned.Addresses {
	t.Helper()
	addresses, err := canned.ParseAddresses(serverprocess.Start(t, "canned server", serverRole+"=1").Line(t))
	if err != nil {
		t.Fatal(err)
	}
	return addresses
}
