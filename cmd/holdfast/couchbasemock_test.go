package main

import (
	"bufio"
	"bytes"
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
)

// runningCouchbase is the process of a `holdfast mock --backend couchbase`.
type runningCouchbase struct {
	ConnectionString, Username, Password, Control string

	t       *testing.T
	process *exec.Cmd
	done    chan error
}

// startCouchbase starts the program in a process of its own. The test's end ends it.
func startCouchbase(t *testing.T, args ...string) *runningCouchbase {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := &runningCouchbase{t: t, done: make(chan error, 1)}
	c.process = exec.Command(program, append([]string{"mock", "--backend", "couchbase", "--json"}, args...)...)
	c.process.Env = append(os.Environ(), asProgram+"=1")
	var complaints bytes.Buffer
	c.process.Stderr = &complaints
	out, err := c.process.StdoutPipe()
	if err == nil {
		err = c.process.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, readErr := bufio.NewReader(out).ReadBytes('\n')
	go func() { c.done <- c.process.Wait() }()
	if err := errors.Join(readErr, json.Unmarshal(line, c)); err != nil {
		_ = c.process.Process.Kill()
		<-c.done
		t.Fatalf("the program says %q: %v\n%s", line, err, &complaints)
	}
	t.Cleanup(func() {
		_ = c.process.Process.Kill()
		<-c.done
	})
	return c
}

// end sends a signal, and returns the exit code.
func (c *runningCouchbase) end(s os.Signal) int {
	c.t.Helper()
	if err := c.process.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
	err := <-c.done
	c.done <- err
	return c.process.ProcessState.ExitCode()
}

// do sends a command to the control port, and decodes the answer into one. It returns the status.
func (c *runningCouchbase) do(method, path, body string, into any) int {
	c.t.Helper()
	r, err := http.NewRequestWithContext(c.t.Context(), method, c.Control+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	reply, err := http.DefaultClient.Do(r)
	if err != nil {
		c.t.Fatal(err)
	}
	defer reply.Body.Close()
	text, err := io.ReadAll(reply.Body)
	if err == nil && into != nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		c.t.Fatalf("%s %s: %v: %s", method, path, err, text)
	}
	return reply.StatusCode
}

// ok is do for a command that succeeds.
func (c *runningCouchbase) ok(method, path, body string, into any) {
	c.t.Helper()
	var answer json.RawMessage
	if status := c.do(method, path, body, &answer); status != http.StatusOK {
		c.t.Fatalf("%s %s: status %d: %s", method, path, status, answer)
	}
	if into != nil {
		if err := json.Unmarshal(answer, into); err != nil {
			c.t.Fatal(err)
		}
	}
}

// connect returns the default collection and the cluster, through the client.
func (c *runningCouchbase) connect(security couchbase.SecurityConfig) (*couchbase.Cluster, *couchbase.Collection) {
	c.t.Helper()
	cluster, err := couchbase.Connect(c.ConnectionString, couchbase.ClusterOptions{
		Username: c.Username, Password: c.Password, SecurityConfig: security,
		TimeoutsConfig: couchbase.TimeoutsConfig{KVTimeout: 30 * time.Second, KVDurableTimeout: 30 * time.Second, QueryTimeout: 30 * time.Second},
	})
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = cluster.Close(nil) })
	bucket := cluster.Bucket("default")
	if err := bucket.WaitUntilReady(30*time.Second, nil); err != nil {
		c.t.Fatal(err)
	}
	return cluster, bucket.DefaultCollection()
}

// journalEntry is what tests read of an entry.
type journalEntry struct {
	Seq                int64
	Opcode             string
	Applied, ReplyLost bool
	Status             int
}

func (c *runningCouchbase) journal(key string) []journalEntry {
	c.t.Helper()
	var answer struct{ Entries []journalEntry }
	c.ok("GET", "/journal?bucket=default&key="+key, "", &answer)
	return answer.Entries
}

func TestTheCouchbaseMockEndsAtASignal(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP} {
		c := startCouchbase(t)
		if code := c.end(s); code != exitOK {
			t.Errorf("after %v the exit code is %d, want %d", s, code, exitOK)
		}
	}
}

func TestTheCouchbaseMockSaysHowToReachIt(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r, w := io.Pipe()
	code := make(chan int, 1)
	go func() {
		code <- run(ctx, []string{"mock", "--backend", "couchbase", "--user", "alice:s3cret"}, w, os.Stderr, noEnvironment)
		_ = w.Close()
	}()
	lines := bufio.NewScanner(r)
	for _, want := range []string{"couchbase://127.0.0.1:", "username: alice", "password: s3cret", "control: http://127.0.0.1:", "Waiting for connections"} {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), want) {
			t.Fatalf("it says %q, want %s...", lines.Text(), want)
		}
	}
	cancel()
	if !lines.Scan() || lines.Text() != "Ends: signal" {
		t.Errorf("it ends with %q", lines.Text())
	}
	if got := <-code; got != exitOK {
		t.Errorf("exit code %d", got)
	}
}

func TestTheErrorOfAWrongFlagOfTheCouchbaseMockNamesIt(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"--backend redis", "--backend must be one of"},
		{"--nodes 3", "--nodes is for --backend couchbase"},
		{"--json", "--json is for --backend couchbase"},
		{"--backend couchbase --members 3", "--members is for --backend mongodb"},
		{"--backend couchbase --standalone", "--standalone is for --backend mongodb"},
		{"--backend couchbase --replSet rs", "--replSet is for --backend mongodb"},
		{"--backend couchbase --quiet", "--quiet is for --backend mongodb"},
		{"--backend couchbase --nodes 0", "--nodes is 0; it must be 1 to 100"},
		{"--backend couchbase --replicas 4", "--replicas is 4; it must be 0 to 3"},
		{"--backend couchbase --vbuckets 0", "--vbuckets is 0: there are 1 to"},
		{"--backend couchbase --port 65531", "--port is 65531; it must be 0 to 65530"},
		{"--backend couchbase --port 65525 --tls-ca-file ca.pem", "--port is 65525; it must be 0 to 65524"},
		{"--backend couchbase --control-port=-1", "--control-port is -1; it must be 0 to 65535"},
		{"--backend couchbase --port 9000 --control-port 9005", "--control-port is 9005; the nodes have the ports 9000 to 9005"},
		{"--backend couchbase --user alice", `--user is "alice"; it must be NAME:PASSWORD`},
		{"--backend couchbase --user a:b --user c:d", "--user is given more than once"},
		{"--backend couchbase --server-version 4.6", `--server-version is "4.6": the oldest is 5.0`},
		{"--backend couchbase --bucket b --bucket b", `--bucket: the bucket "b" is there twice`},
		{"--backend couchbase --bucket=", "--bucket: the value is empty; it must be NAME"},
	} {
		code, stdout, stderr := holdfast(t.Context(), append([]string{"mock"}, strings.Fields(c.args)...)...)
		if code != exitUsage || !strings.HasPrefix(stderr, "holdfast: "+c.says) || stdout != "" {
			t.Errorf("holdfast mock %s: exit code %d, %q, %q", c.args, code, stderr, stdout)
		}
	}
}

func TestTheErrorOfTheCouchbaseMockNamesThePortInUse(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	for _, flag := range []string{"--port", "--control-port"} {
		code, _, stderr := holdfast(t.Context(), "mock", "--backend", "couchbase", flag, port)
		if code != exitCannotRun || !strings.HasPrefix(stderr, "holdfast: "+flag+": ") || !strings.Contains(stderr, port+": bind: address already in use") {
			t.Errorf("%s: exit code %d, %q", flag, code, stderr)
		}
	}
	code, _, stderr := holdfast(t.Context(), "mock", "--backend", "couchbase", "--host", "192.0.2.1")
	if code != exitCannotRun || !strings.HasPrefix(stderr, "holdfast: --host: ") {
		t.Errorf("--host: exit code %d, %q", code, stderr)
	}
}

// freePorts returns the first of as many ports in a row that nobody uses.
func freePorts(t *testing.T, count int) int {
	t.Helper()
	for first := 20000; first < 30000; first += count {
		free := 0
		for ; free < count; free++ {
			l, err := net.Listen("tcp", "127.0.0.1:"+strconv.Itoa(first+free))
			if err != nil {
				break
			}
			_ = l.Close()
		}
		if free == count {
			return first
		}
	}
	t.Fatal("there are no free ports")
	return 0
}

func TestANodeOfTheCouchbaseMockHasItsPortsInARow(t *testing.T) {
	first := freePorts(t, 12)
	c := startCouchbase(t, "--nodes", "2", "--port", strconv.Itoa(first))
	if want := fmt.Sprintf("couchbase://127.0.0.1:%d,127.0.0.1:%d", first, first+6); c.ConnectionString != want {
		t.Errorf("the connection string is %s, want %s", c.ConnectionString, want)
	}
	var state struct {
		Nodes []struct{ Addresses map[string]string }
	}
	c.ok("GET", "/", "", &state)
	for i, service := range []string{"kv", "mgmt", "capi", "n1ql", "fts", "cbas"} {
		if got, want := state.Nodes[1].Addresses[service], fmt.Sprintf("127.0.0.1:%d", first+6+i); got != want {
			t.Errorf("%s is at %s, want %s", service, got, want)
		}
	}
}

func TestTheCouchbaseMockHasTLSAndBuckets(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ca.pem")
	c := startCouchbase(t, "--tls-ca-file", file, "--user", "alice:s3cret", "--bucket", "default", "--bucket", "other", "--server-version", "7.0")
	if !strings.HasPrefix(c.ConnectionString, "couchbases://") {
		t.Errorf("the connection string is %s", c.ConnectionString)
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	trusted := x509.NewCertPool()
	trusted.AppendCertsFromPEM(text)
	_, collection := c.connect(couchbase.SecurityConfig{TLSRootCAs: trusted})
	if _, err := collection.Upsert("k", 1, nil); err != nil {
		t.Error(err)
	}
	var state struct{ Buckets []struct{ Name string } }
	if c.ok("GET", "/", "", &state); len(state.Buckets) != 2 || state.Buckets[1].Name != "other" {
		t.Errorf("the buckets are %v", state.Buckets)
	}
}
