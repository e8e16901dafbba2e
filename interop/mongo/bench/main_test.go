package bench

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/canned"
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
	if os.Getenv(profileDir) != "" {
		runtime.MemProfileRate = 1 // every allocation; it must be set before there are any
	}
	os.Exit(m.Run())
}

// startServer starts the canned server as a process of its own, so that its time is not the client's. It ends with the
// test, or with this process.
func startServer(t *testing.T) canned.Addresses {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), serverRole+"=1")
	cmd.Stderr = os.Stderr
	in, out := pipes(t, cmd)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error("canned server:", err)
		}
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal("canned server's addresses:", err)
	}
	addresses, err := canned.ParseAddresses(line)
	if err != nil {
		t.Fatal(err)
	}
	return addresses
}

func pipes(t *testing.T, cmd *exec.Cmd) (io.WriteCloser, io.Reader) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	return in, out
}
