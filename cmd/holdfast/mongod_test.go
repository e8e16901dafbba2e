package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
)

// asProgram is the environment variable that makes the test binary run the program itself.
const asProgram = "HOLDFAST_TEST_AS_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		main()
		return
	}
	_ = os.Setenv("GOGC", "400")                                                         // of the programs, which end before a collection is worth its time
	_ = os.Setenv("GORACE", strings.TrimSpace("atexit_sleep_ms=0 "+os.Getenv("GORACE"))) // with the race detector each program would end a second late
	debug.SetGCPercent(400)
	for _, s := range []os.Signal{syscall.SIGHUP, syscall.SIGINT} { // under nohup, or in a shell's background, the programs would ignore it too
		if signal.Ignored(s) {
			signal.Notify(make(chan os.Signal, 1), s)
		}
	}
	testscript.Main(allTests{m}, map[string]func(){"holdfast": main, "counter": counterProgram})
}

// allTests runs the tests of this package, for testscript.
type allTests struct{ m *testing.M }

// Run returns the exit code.
func (a allTests) Run() int { return spectest.Main(a.m) }

// output is the output of a process so far.
type output struct {
	mu   sync.Mutex
	text strings.Builder
	more chan struct{} // closed when there is more output
}

// Write adds to the output.
func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more != nil {
		close(o.more)
		o.more = nil
	}
	return o.text.Write(b)
}

// String returns the output.
func (o *output) String() string {
	text, _ := o.read()
	return text
}

func (o *output) read() (text string, more <-chan struct{}) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.more == nil {
		o.more = make(chan struct{})
	}
	return o.text.String(), o.more
}

// running is a process of the program.
type running struct {
	t      *testing.T
	cmd    *exec.Cmd
	port   int
	ready  chan struct{} // closed when it waits for connections
	exited chan struct{}

	log, errors output // its standard output and standard error
}

// mongodProcess starts the program under the name mongod. It does not wait for it.
func mongodProcess(t *testing.T, args ...string) *running {
	t.Helper()
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	p := &running{t: t, ready: make(chan struct{}), exited: make(chan struct{})}
	p.cmd = &exec.Cmd{Path: program, Args: append([]string{"mongod"}, args...), Env: append(os.Environ(), asProgram+"=1"), Stderr: &p.errors}
	out, err := p.cmd.StdoutPipe()
	if err == nil {
		err = p.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go p.follow(out)
	t.Cleanup(func() {
		_ = p.cmd.Process.Kill()
		<-p.exited
		if t.Failed() {
			t.Logf("mongod %s:\n%s%s", strings.Join(args, " "), p.log.String(), p.errors.String())
		}
	})
	return p
}

// startMongod starts the program under the name mongod and waits until it accepts connections.
func startMongod(t *testing.T, args ...string) *running {
	t.Helper()
	p := mongodProcess(t, args...)
	select {
	case <-p.ready:
	case <-p.exited:
		t.Fatalf("mongod %v ends before it is ready: %s", args, p.errors.String())
	}
	return p
}

// follow reads the log and the port.
func (p *running) follow(out io.Reader) {
	for lines := bufio.NewScanner(out); lines.Scan(); {
		fmt.Fprintln(&p.log, lines.Text())
		var event struct {
			Message string             `json:"msg"`
			Attr    struct{ Port int } `json:"attr"`
		}
		if json.Unmarshal(lines.Bytes(), &event) == nil && event.Message == "Waiting for connections" {
			p.port = event.Attr.Port
			close(p.ready)
		}
	}
	_ = p.cmd.Wait()
	close(p.exited)
}

func (p *running) address() string { return fmt.Sprintf("127.0.0.1:%d", p.port) }

// ends waits for the end of the process and checks its exit code.
func (p *running) ends(code int) {
	p.t.Helper()
	select {
	case <-p.exited:
	case <-time.After(20 * time.Second):
		p.t.Fatalf("the process on port %d does not end", p.port)
	}
	if got := p.cmd.ProcessState.ExitCode(); got != code {
		p.t.Errorf("the process on port %d ends with %v, want exit code %d", p.port, p.cmd.ProcessState, code)
	}
}

func (p *running) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// signalUntilItEnds sends a signal again and again, because one that comes soon after the first is taken for the same.
func (p *running) signalUntilItEnds(s os.Signal) {
	tick := time.NewTicker(sameInterrupt)
	defer tick.Stop()
	for limit := time.After(programLimit); ; {
		select {
		case <-tick.C:
			_ = p.cmd.Process.Signal(s)
		case <-p.exited:
			return
		case <-limit:
			return
		}
	}
}

// client returns a client for a URI.
func client(t *testing.T, uri string, more ...*options.ClientOptions) *official.Client {
	t.Helper()
	c, err := official.Connect(append([]*options.ClientOptions{options.Client().ApplyURI(uri).SetServerSelectionTimeout(15 * time.Second).
		SetHeartbeatInterval(500 * time.Millisecond)}, more...)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel() // Disconnect must not wait for a server that has ended
		_ = c.Disconnect(ctx)
	})
	return c
}

func (p *running) client() *official.Client {
	return client(p.t, "mongodb://"+p.address()+"/?directConnection=true")
}

// command runs a command on the admin database, with a direct connection to this process.
func (p *running) command(command bson.D) (bson.Raw, error) {
	return p.client().Database("admin").RunCommand(p.t.Context(), command).Raw()
}

// threeMongods starts three processes with --replSet, without replSetInitiate.
func threeMongods(t *testing.T) (processes []*running, config bson.D) {
	t.Helper()
	var members bson.A
	for i := range 3 {
		p := startMongod(t, "--port", "0", "--replSet", "trio", "--noauth", "--storageEngine", "wiredTiger", "--bind_ip", "127.0.0.1")
		processes = append(processes, p)
		members = append(members, bson.D{{Key: "_id", Value: 10 + i}, {Key: "host", Value: p.address()}})
	}
	return processes, bson.D{
		{Key: "_id", Value: "trio"},
		{Key: "members", Value: members},
		{Key: "settings", Value: bson.D{{Key: "electionTimeoutMillis", Value: 500}}},
	}
}

// initiatedMongods starts three processes of a set. The process with that index is the host.
func initiatedMongods(t *testing.T, hosting int) ([]*running, *official.Client) {
	t.Helper()
	processes, config := threeMongods(t)
	if _, err := processes[hosting].command(bson.D{{Key: "replSetInitiate", Value: config}}); err != nil {
		t.Fatal(err)
	}
	return processes, client(t, fmt.Sprintf("mongodb://%s,%s/?replicaSet=trio", processes[0].address(), processes[1].address()))
}

// insert inserts a document with w: members.
func insert(t *testing.T, c *official.Client, id, members int) error {
	t.Helper()
	_, err := c.Database("db").Collection("c", options.Collection().SetWriteConcern(&writeconcern.WriteConcern{W: members})).InsertOne(t.Context(), bson.D{{Key: "_id", Value: id}})
	return err
}

func TestProcessesBecomeASet(t *testing.T) {
	processes, c := initiatedMongods(t, 1)
	if err := insert(t, c, 1, 3); err != nil {
		t.Fatal(err)
	}
	for i, p := range processes {
		hello, err := p.command(bson.D{{Key: "hello", Value: 1}})
		if err != nil {
			t.Fatal(err)
		}
		me, primary := hello.Lookup("me").StringValue(), hello.Lookup("isWritablePrimary").Boolean()
		if me != p.address() || primary != (i == 1) {
			t.Errorf("process %d at %s says it is %s, primary: %t", i, p.address(), me, primary)
		}
		p.awaitLog(map[bool]string{true: "Transition to primary complete; database writes are now permitted", false: `"newState":"SECONDARY"`}[primary])
		if n, err := p.client().Database("db").Collection("c").CountDocuments(t.Context(), bson.D{}); n != 1 || err != nil {
			t.Errorf("process %d has %d documents (%v), want 1", i, n, err)
		}
	}
	if _, err := processes[2].command(bson.D{{Key: "replSetInitiate", Value: bson.D{}}}); !hasCode(err, 23) {
		t.Errorf("a second replSetInitiate: %v", err)
	}
	if errs := processes[0].errors.String(); !strings.Contains(errs, "without effect here: --storageEngine\n") {
		t.Errorf("standard error is %q", errs)
	}
}

func hasCode(err error, code int) bool {
	var e official.ServerError
	return errors.As(err, &e) && e.HasErrorCode(code)
}

func TestAMemberIsDownWhileItsProcessDoesNotRun(t *testing.T) {
	processes, c := initiatedMongods(t, 0)
	processes[2].signal(syscall.SIGKILL)
	processes[2].ends(-1)
	if err := insert(t, c, 1, 2); err != nil {
		t.Fatal(err)
	}
	awaitState(t, processes[0], 2, "(not reachable/healthy)")
	startMongod(t, "--port", fmt.Sprint(processes[2].port), "--replSet", "trio")
	awaitState(t, processes[0], 2, "SECONDARY")
	if err := insert(t, c, 2, 3); err != nil {
		t.Fatal(err)
	}
}

// awaitState waits until a member has a state in replSetGetStatus.
func awaitState(t *testing.T, p *running, member int, want string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c := p.client().Database("admin")
	for {
		status, err := c.RunCommand(ctx, bson.D{{Key: "replSetGetStatus", Value: 1}}).Raw()
		if err != nil {
			t.Fatalf("member %d does not become %s: %v", member, want, err)
		}
		for _, m := range must(status.Lookup("members").Array().Values()) {
			if doc := m.Document(); doc.Lookup("_id").AsInt64() == int64(10+member) && doc.Lookup("stateStr").StringValue() == want {
				return
			}
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func TestProcessesEnd(t *testing.T) {
	for _, c := range []struct {
		name  string
		end   func(processes []*running)
		codes [3]int
		says  string // standard error of the last process
	}{
		{"a signal to the host ends all", func(p []*running) { p[0].signal(syscall.SIGTERM) }, [3]int{exitOK, exitOK, exitOK}, ""},
		{"the death of the host ends the others with an error", func(p []*running) { p[0].signal(syscall.SIGKILL) }, [3]int{-1, exitCannotRun, exitCannotRun}, "which hosted the set, is gone"},
		{"a second signal ends the host immediately", func(p []*running) {
			p[0].signal(syscall.SIGINT)
			p[0].awaitLog("Shutting down")
			p[0].signalUntilItEnds(syscall.SIGINT)
		}, [3]int{-1, exitCannotRun, exitCannotRun}, "which hosted the set, is gone"},
		{"the shutdown command ends one process", func(p []*running) {
			for i := range p {
				_, err := p[2-i].command(bson.D{{Key: "shutdown", Value: 1}, {Key: "force", Value: true}})
				if !official.IsNetworkError(err) {
					t.Errorf("shutdown is answered: %v", err)
				}
				if i < 2 {
					p[2-i].ends(exitOK)
				}
			}
		}, [3]int{exitOK, exitOK, exitOK}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			processes, _ := initiatedMongods(t, 0)
			c.end(processes)
			for i, p := range processes {
				p.ends(c.codes[i])
			}
			if errs := processes[2].errors.String(); !strings.Contains(errs, c.says) {
				t.Errorf("standard error is %q, want in it %q", errs, c.says)
			}
		})
	}
}

// awaitLog waits until the log of the process has a text.
func (p *running) awaitLog(text string) {
	p.t.Helper()
	for {
		said, more := p.log.read()
		if strings.Contains(said, text) {
			return
		}
		select {
		case <-more:
		case <-p.exited:
			p.t.Fatalf("the process on port %d ends without saying %q", p.port, text)
		}
	}
}

func TestTheErrorOfReplSetInitiateNamesTheMissingMember(t *testing.T) {
	other := startMongod(t, "--port", "0", "--replSet", "duo")
	alone := startMongod(t, "--port", "0")
	willing := startMongod(t, "--port", "0", "--replSet", "trio")
	p := startMongod(t, "--port", "0", "--replSet", "trio")
	for _, c := range []struct{ host, says string }{
		{other.address(), other.address() + " failed with it was started with --replSet duo"},
		{alone.address(), alone.address() + " failed with it is not a `holdfast mock --replSet`"},
		{"127.0.0.1:1", "127.0.0.1:1 failed with dial tcp 127.0.0.1:1: connect: connection refused"},
	} {
		_, err := p.command(bson.D{{Key: "replSetInitiate", Value: bson.D{{Key: "_id", Value: "trio"}, {Key: "members", Value: bson.A{
			bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: fmt.Sprintf("localhost:%d", p.port)}},
			bson.D{{Key: "_id", Value: 1}, {Key: "host", Value: c.host}},
			bson.D{{Key: "_id", Value: 2}, {Key: "host", Value: willing.address()}},
		}}}}})
		if !hasCode(err, 74) || !strings.Contains(err.Error(), "responded affirmatively: "+c.says) || strings.Contains(err.Error(), willing.address()) {
			t.Errorf("with %s: %v\nwant %s", c.host, err, c.says)
		}
	}
	// A process that accepted is free for the next set.
	for _, free := range []*running{other, willing} {
		reply, err := free.command(bson.D{{Key: "replSetInitiate", Value: bson.D{}}})
		if err != nil || reply.Lookup("me").StringValue() != free.address() {
			t.Errorf("%v, %v", reply, err)
		}
	}
}

func TestMongodIsAStandaloneWithoutReplSet(t *testing.T) {
	folder := t.TempDir()
	p := startMongod(t, "--port", "0", "--dbpath", folder, "--wiredTigerCacheSizeGB", "0.25", "-vvv", "--setParameter", "ttlMonitorEnabled=false",
		"--setParameter", "diagnosticDataCollectionEnabled=false", "--nounixsocket", "--pidfilepath", filepath.Join(folder, "pid"))
	c := p.client()
	if _, err := c.Database("db").Collection("c").InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	got, err := p.command(bson.D{{Key: "getParameter", Value: 1}, {Key: "ttlMonitorEnabled", Value: 1}})
	if err != nil || got.Lookup("ttlMonitorEnabled").Boolean() {
		t.Errorf("the parameter is %v, %v", got, err)
	}
	for _, want := range []string{"nothing is stored: of --dbpath " + folder, "without effect here: --wiredTigerCacheSizeGB, --verbose, --setParameter diagnosticDataCollectionEnabled"} {
		if !strings.Contains(p.errors.String(), want) {
			t.Errorf("standard error is %q, want in it %q", p.errors.String(), want)
		}
	}
	if code, _, stderr := holdfast(t.Context(), "mock", "--dbpath", folder); code != exitCannotRun || !strings.Contains(stderr, "is used by the process") {
		t.Errorf("another one with this --dbpath: exit code %d, %q", code, stderr)
	}
	if code, stdout, stderr := holdfast(t.Context(), "mock", "--shutdown", "--dbpath", folder); code != exitOK || !strings.Contains(stdout, "has ended") {
		t.Errorf("--shutdown: exit code %d, %q", code, stderr)
	}
	p.ends(exitOK)
	if left := namesIn(t, folder); !slices.Equal(left, []string{lockName}) || readPID(filepath.Join(folder, lockName)) != 0 {
		t.Errorf("it leaves %v, want an empty lock file", left)
	}
	if code, _, stderr := holdfast(t.Context(), "mock", "--shutdown", "--dbpath", folder); code != exitCannotRun || !strings.Contains(stderr, "there doesn't seem to be a server running") {
		t.Errorf("--shutdown of nothing: exit code %d, %q", code, stderr)
	}
}

func TestTheErrorOfMongodNamesThePortInUse(t *testing.T) {
	p := startMongod(t, "--port", "0")
	second := mongodProcess(t, "--port", fmt.Sprint(p.port))
	second.ends(exitCannotRun)
	if !strings.Contains(second.errors.String(), fmt.Sprintf("127.0.0.1:%d: bind: address already in use", p.port)) {
		t.Errorf("standard error is %q", second.errors.String())
	}
}

func TestMongodEndsCleanlyAfterItsLogPipeIsClosed(t *testing.T) {
	folder := t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := &exec.Cmd{
		Path: must(os.Executable()), Args: []string{"mongod", "--port", "0", "--pidfilepath", filepath.Join(folder, "pid")},
		Env: append(os.Environ(), asProgram+"=1"), Stdout: w,
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	_ = w.Close()
	for lines := bufio.NewScanner(r); lines.Scan() && !strings.Contains(lines.Text(), "Waiting for connections"); {
	}
	_ = r.Close()
	if err := errors.Join(cmd.Process.Signal(syscall.SIGHUP), cmd.Wait()); err != nil {
		t.Error(err)
	}
	if names := namesIn(t, folder); len(names) != 0 {
		t.Errorf("it leaves %v", names)
	}
}

func TestTheServerVersionHasMongodsForm(t *testing.T) {
	p := mongodProcess(t, "--version")
	p.ends(exitOK)
	if !strings.HasPrefix(p.log.String(), "db version v7.0.25\n") {
		t.Errorf("mongod --version says %q", p.log.String())
	}
	if code, stdout, _ := holdfast(t.Context(), "mock", "--version", "--server-version", "8.0"); code != exitOK || !strings.HasPrefix(stdout, "db version v8.0.15\n") {
		t.Errorf("exit code %d, %q", code, stdout)
	}
}

func TestMockListensAtAllGivenAddresses(t *testing.T) {
	folder := t.TempDir()
	uri, end := startMock(t, "--standalone", "--bind_ip", "127.0.0.2,127.0.0.3", "--unixSocketPrefix", folder)
	if !strings.HasPrefix(uri, "mongodb://127.0.0.2:") {
		t.Errorf("the URI is %s", uri)
	}
	sockets, _ := filepath.Glob(filepath.Join(folder, "mongodb-*.sock"))
	if len(sockets) != 1 {
		t.Fatalf("the sockets are %v", sockets)
	}
	for _, at := range []string{uri, strings.Replace(uri, "127.0.0.2", "127.0.0.3", 1), "mongodb://" + strings.ReplaceAll(sockets[0], "/", "%2F")} {
		if err := use(t, at); err != nil {
			t.Errorf("%s: %v", at, err)
		}
	}
	end()
	if _, err := net.Dial("unix", sockets[0]); err == nil {
		t.Error("the socket is still there")
	}
}

func TestMockLogsToAFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log := func(args ...string) string {
		ctx, cancel := context.WithCancel(t.Context())
		cancel() // it ends as soon as it runs
		code, stdout, stderr := holdfast(ctx, append([]string{"mock", "--standalone", "--logpath", path}, args...)...)
		text, _ := os.ReadFile(path)
		if code != exitOK || stdout != "" {
			t.Errorf("exit code %d, %q, %q", code, stdout, stderr)
		}
		return string(text)
	}
	for i, c := range []struct {
		args []string
		runs int // in the log
	}{{nil, 1}, {[]string{"--logappend"}, 2}, {nil, 1}} {
		if got := strings.Count(log(c.args...), "Waiting for connections"); got != c.runs {
			t.Errorf("after run %d the log is of %d runs, want %d", i, got, c.runs)
		}
	}
	if files, _ := filepath.Glob(path + "*"); len(files) != 2 {
		t.Errorf("the logs are %v, want the present and the one before", files)
	}
}

func TestMockWithAuthAllowsTheFirstUserToBeCreated(t *testing.T) {
	uri, end := startMock(t, "--standalone", "--auth")
	defer end()
	admin := client(t, uri).Database("admin")
	user := bson.D{{Key: "createUser", Value: "u"}, {Key: "pwd", Value: "p"}, {Key: "roles", Value: bson.A{"root"}}}
	if err := admin.RunCommand(t.Context(), user).Err(); err != nil {
		t.Fatal(err)
	}
	if err := use(t, uri); !hasCode(err, 13) {
		t.Errorf("somebody who has not authenticated: %v", err)
	}
	if err := use(t, uri, options.Client().SetAuth(options.Credential{Username: "u", Password: "p"})); err != nil {
		t.Error(err)
	}
}
