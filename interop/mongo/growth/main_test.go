package growth

import (
	"fmt"
	"os"
	"testing"
)

// serverRole in the environment makes this test binary the server instead.
const serverRole = "HOLDFAST_GROWTH_SERVER"

func TestMain(m *testing.M) {
	if os.Getenv(serverRole) != "" {
		if err := serve(os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, "server:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}
