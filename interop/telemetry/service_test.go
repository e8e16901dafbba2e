package telemetry

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// patience is how long a test waits for other programs. It only ends a test that hangs.
const patience = 2 * time.Minute

// program returns the example service, built once.
var program = sync.OnceValues(func() (string, error) {
	folder, err := os.MkdirTemp("", "telemetry")
	if err != nil {
		return "", err
	}
	path := filepath.Join(folder, "service")
	build := exec.Command("go", "build", "-o", path, ".")
	build.Dir, build.Stderr = filepath.Join("..", "..", "examples", "telemetry"), os.Stderr
	return path, build.Run()
})

// startService starts the example service, and returns its address as a URL. Collector is the URL of a collector, empty for none.
func startService(t *testing.T, collector string) string {
	t.Helper()
	path, err := program()
	if err != nil {
		t.Fatal(err)
	}
	service := exec.CommandContext(t.Context(), path, "-listen", "127.0.0.1:0")
	service.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector)
	service.Stderr = os.Stderr
	// The end of the test interrupts it, as Ctrl-C does: it must end by itself, without an error.
	service.Cancel, service.WaitDelay = func() error { return service.Process.Signal(syscall.SIGINT) }, patience
	output, err := service.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _ = service.Wait(); service.ProcessState.ExitCode() != 0 {
			t.Errorf("the service ended with %v", service.ProcessState)
		}
	})
	line, err := bufio.NewReader(output).ReadString('\n')
	_, url, found := strings.Cut(strings.TrimSpace(line), "listening on ")
	if err != nil || !found {
		t.Fatalf("the service said %q, and then %v", line, err)
	}
	return url
}

// ask sends a request, which must succeed, and returns the body of the answer.
func ask(t *testing.T, method, url string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if answer.StatusCode != http.StatusOK {
		t.Fatalf("%s %s: %s: %s", method, url, answer.Status, body)
	}
	return string(body)
}
