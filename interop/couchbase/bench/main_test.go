package bench

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/cannedkv"
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

// startServer starts the canned node as a process of its own, so that its time is not the client's. It ends with the test, or with this
// process.
func startServer(t *testing.T) (address string) {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverRole+"=1")
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error("canned node:", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("the canned node's address:", err)
	}
	return strings.TrimSpace(line)
}
