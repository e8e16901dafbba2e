package main

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// No network is used: the upstream of each of them cannot be reached, and nothing is waited for.
func TestTheErrorOfAWrongSettingNamesIt(t *testing.T) {
	const upstream = "router --upstream mongodb://127.0.0.1:1 "
	for _, c := range []struct{ args, says string }{
		{"router", "--upstream is missing; it must be the connection string"},
		{upstream + "--listen 10.0.0.1:27017", "the host must be a loopback address"},
		{upstream + "--listen example.com:27017", "the host must be an IP address"},
		{upstream + "--listen :27017", "the host must be an IP address"},
		{upstream + "--listen 127.0.0.1", `--listen is "127.0.0.1"; it must be HOST:PORT, or unix: and a path`},
		{upstream + "--listen 127.0.0.1:70000", "it must be HOST:PORT"},
		{upstream + "--listen unix:r.sock", "must be absolute and end in .sock"},
		{upstream + "--listen unix:/tmp/router", "must be absolute and end in .sock"},
		{upstream + "--listen unix:/tmp/" + strings.Repeat("r", 200) + ".sock", "the path of a Unix socket has 210 bytes, it must have at most 10"},
		{upstream + "--max-clients 0", "--max-clients is 0; it must be at least 1"},
		{upstream + "--max-waiting 0", "--max-waiting is 0; it must be at least 1"},
		{upstream + "--max-waiting-bytes 0", "--max-waiting-bytes is 0; it must be at least 1"},
		{upstream + "--max-memory-bytes 1000", "--max-memory-bytes is 1000; it must be at least 192000000"},
		{upstream + "--window 0s", "--window is 0s; it must be positive"},
		{upstream + "--quiesce=-1s", "--quiesce is -1s; it must be positive"},
		{upstream + "--pin request", `--pin must be one of "connection","operation"`},
		{upstream + "--admin 9216", `--admin is "9216"; it must be HOST:PORT`},
		{upstream + "--tls-ca-file ca.pem", "--tls-ca-file needs a --tls-certificate-key-file"},
		{upstream + "--tls-certificate-key-file missing.pem", "--tls-certificate-key-file: open missing.pem"},
		{upstream + "--settings missing.json", "--settings: open missing.json"},
		{"router --upstream localhost", "--upstream: "},
		{"router --upstream mongodb://a/?loadBalanced=true", "--upstream: has loadBalanced=true; a router needs to see each member"},
		{"router --upstream mongodb://a/?timeoutMS=5", "--upstream: has timeoutMS"},
		{"router --upstream mongodb://a/?serverSelectionTimeoutMS=5", "--upstream: has serverSelectionTimeoutMS; --window is how long"},
		{"router --upstream mongodb://a/ --pass-through", "--upstream: has no credential; --pass-through needs"},
	} {
		code, _, errs := holdfast(t.Context(), strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(errs, c.says) {
			t.Errorf("%s: exit code %d, %q, want %q in it", c.args, code, errs, c.says)
		}
	}
}

func TestTheErrorOfASettingsFileNamesTheField(t *testing.T) {
	file := filepath.Join(t.TempDir(), "router.json")
	for text, says := range map[string]string{
		`[]`:                          "it must be a JSON object",
		`{"window": "1s"`:             "it must be a JSON object",
		`{} {}`:                       "there is something after the JSON object",
		`{"windows": "1s"}`:           `there is no setting "windows"; known are: upstream, listen, pass-through, users, tls-certificate-key-file`,
		`{"settings": "a"}`:           `there is no setting "settings"`,
		`{"window": 20}`:              `window is 20; it must be a duration such as "20s"`,
		`{"window": "soon"}`:          `--window: `,
		`{"max-clients": "7"}`:        `max-clients is "7"; it must be a number`,
		`{"max-clients": 7.5}`:        `--max-clients: `,
		`{"max-clients": null}`:       `max-clients is null; it must be a number`,
		`{"listen": "127.0.0.1:0"}`:   `listen is "127.0.0.1:0"; it must be a list of texts`,
		`{"listen": [27017]}`:         `listen is [27017]; it must be a list of texts`,
		`{"upstream": ""}`:            "--upstream: the value is empty; it must be URI",
		`{"pin": "x"}`:                "--pin must be one of",
		`{"pin": "operation", "pin":`: "pin: ",
		`{"pin": "operation", "pin": "connection"}`:            "pin is there twice",
		`{"upstream": "mongodb://a", "listen": ["0.0.0.0:1"]}`: `--listen is "0.0.0.0:1"; without --pass-through or --users the host must be a loopback address`,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		code, _, errs := holdfast(t.Context(), "router", "--settings", file)
		if code != exitUsage || !strings.Contains(errs, says) {
			t.Errorf("%s: exit code %d, %q, want %q in it", text, code, errs, says)
		}
	}
}

// routerProgram is a router that runs as a program.
type routerProgram struct {
	program

	uri, admin string
}

var readyLine = regexp.MustCompile(`Waiting for clients at (\S+), for .*; admin at (\S+)\n(?s:.*) Ready: `)

func startRouter(t *testing.T, args ...string) *routerProgram {
	t.Helper()
	p := &routerProgram{program: program{cmd: asHoldfast(t, append([]string{"router", "--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0"}, args...)...)}}
	if err := p.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.stop)
	var found []string
	err := p.until(func(text string) bool {
		found = readyLine.FindStringSubmatch(text)
		return found != nil
	})
	if err != nil {
		t.Fatalf("%v: %s", err, p.all.String())
	}
	p.uri, p.admin = found[1], found[2]
	return p
}

// get returns the status and the text of a page of --admin.
func (p *routerProgram) get(t *testing.T, page string) (int, string) {
	t.Helper()
	r, err := http.Get(p.admin + page)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	text, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(text)
}

func connected(t *testing.T, uri string) *official.Client {
	t.Helper()
	c, err := official.Connect(options.Client().ApplyURI(uri).SetServerSelectionTimeout(programLimit))
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	t.Cleanup(func() { _ = c.Disconnect(ended) }) // it does not look for a router that has ended
	return c
}

// A router with TLS serves a driver, its pages tell of it, and at the signal it quiesces with its clients connected; a second signal ends it.
func TestARouterFromItsStartToItsEnd(t *testing.T) {
	file := certificateFile(t)
	p := startRouter(t, "--upstream", mongotest.RunReplicaSetT(t, 3).URI(), "--tls-certificate-key-file", file, "--tls-ca-file", file, "--quiesce", "1h")
	c := connected(t, p.uri+"&tlsCAFile="+file+"&tlsCertificateKeyFile="+file).Database("app").Collection("c")
	if _, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]string{
		"healthz": "ok\n", "readyz": "writes go to 127.0.0.1:",
		"metrics": `db_client_operation_duration_seconds_count{db_system_name="mongodb",db_namespace="app",db_collection_name="c",db_operation_name="insert"} 1` + "\n",
	} {
		if status, text := p.get(t, page); status != http.StatusOK || !strings.Contains(text, want) {
			t.Errorf("%s: %d %q, want %q in it", page, status, text, want)
		}
	}
	p.signal(t, syscall.SIGTERM, "Quiesces: ")
	if status, text := p.get(t, "readyz"); status != http.StatusServiceUnavailable || text != "the router will end soon\n" {
		t.Errorf("readyz in the quiesce: %d %q", status, text)
	}
	tick := time.NewTicker(sameInterrupt) // a signal that comes sooner is taken for the first one
	defer tick.Stop()
	for running := true; running; {
		select {
		case <-tick.C:
			_ = p.cmd.Process.Signal(syscall.SIGTERM)
		case <-p.ended:
			running = false
		case <-time.After(programLimit):
			t.Fatalf("the router does not end: %s", p.all.String())
		}
	}
}

type writerFunc func(line []byte)

func (f writerFunc) Write(line []byte) (int, error) {
	f(line)
	return len(line), nil
}

// Who reads that line may ask the router at once.
func TestARouterQuiescesBeforeItSaysSo(t *testing.T) {
	r, err := router.New(router.Config{Upstream: options.Client().ApplyURI("mongodb://127.0.0.1:1")})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var states []string
	log := &lineLog{w: writerFunc(func(line []byte) {
		if strings.Contains(string(line), "Quiesces: ") {
			state, _ := r.Ready()
			states = append(states, state)
		}
	})}
	if err := new(routerCommand).attend(&session{ctx: ctx}, r, log, nil, nil); err != nil {
		t.Fatal(err)
	}
	if want := []string{"the router will end soon"}; !slices.Equal(states, want) {
		t.Errorf("the states at that line are %q, want %q", states, want)
	}
}

// signal sends a signal and waits for a text.
func (p *routerProgram) signal(t *testing.T, s os.Signal, text string) {
	t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		t.Fatal(err)
	}
	if err := p.until(func(all string) bool { return strings.Contains(all, text) }); err != nil {
		t.Fatalf("%v: %s", err, p.all.String())
	}
}

func TestARouterSaysWhomItRefuses(t *testing.T) {
	p := startRouter(t, "--upstream", mongotest.RunStandaloneT(t).URI(), "--max-clients", "1")
	address := strings.TrimSuffix(strings.TrimPrefix(p.uri, "mongodb://"), "/")
	for range 2 {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
	}
	if err := p.until(regexp.MustCompile(`Refused 127.0.0.1:\d+: one too many: at most 1 may be connected\n`).MatchString); err != nil {
		t.Errorf("%v: %s", err, p.all.String())
	}
}

func TestThePagesOfAdminAreOnlyRead(t *testing.T) {
	h := adminHandler(func() (string, bool) { return "no", false }, http.NotFoundHandler())
	for request, want := range map[string]int{
		"GET /healthz": 200, "HEAD /healthz": 200, "POST /healthz": 405, "GET /readyz": 503, "GET /nothing": 404, "GET /metrics": 404,
	} {
		method, page, _ := strings.Cut(request, " ")
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequest(method, page, nil))
		if w.Code != want {
			t.Errorf("%s: %d, want %d", request, w.Code, want)
		}
	}
}

func TestOneListenerThatFailsClosesTheOthers(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "r.sock")
	if err := os.WriteFile(filepath.Join(filepath.Dir(socket), "file.sock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	c := &routerCommand{Listen: []string{"unix:" + socket, "unix:" + filepath.Join(filepath.Dir(socket), "file.sock")}}
	if _, err := c.listeners(); err == nil || !strings.Contains(err.Error(), "file.sock") {
		t.Errorf("the error is %v", err)
	}
	if _, err := os.Stat(socket); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the first socket is still there: %v", err)
	}
}
