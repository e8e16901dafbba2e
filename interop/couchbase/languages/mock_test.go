package languages

import (
	"bufio"
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// mock is a running `holdfast mock --backend couchbase`.
type mock struct {
	ConnectionString, Username, Password, Control string

	t *testing.T
}

// build builds the program and returns its path.
func build(t *testing.T) string {
	t.Helper()
	path := out(t, "holdfast")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", path, "./cmd/holdfast")
	cmd.Dir = "../../.."
	if text, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return path
}

// start starts the program. The test's end ends it by SIGINT, after which its exit code must be 0.
func start(t *testing.T, program string) *mock {
	t.Helper()
	cmd := exec.Command(program, "mock", "--backend", "couchbase", "--nodes", "3", "--json")
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	stdout, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the mock ends with %v\n%s", err, &complaints)
		}
	})
	m := &mock{t: t}
	line, _ := bufio.NewReader(stdout).ReadBytes('\n')
	if err := json.Unmarshal(line, m); err != nil {
		t.Fatalf("the mock says %q: %v\n%s", line, err, &complaints)
	}
	return m
}

// get reads from the control port.
func (m *mock) get(path string, into any) { m.do(http.MethodGet, path, "", into) }

func (m *mock) do(method, path, body string, into any) {
	m.t.Helper()
	r, err := http.NewRequestWithContext(m.t.Context(), method, m.Control+path, strings.NewReader(body))
	if err != nil {
		m.t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		m.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil || reply.StatusCode != http.StatusOK {
		m.t.Fatalf("%s %s: %s, %v: %s", method, path, reply.Status, err, text)
	}
}
