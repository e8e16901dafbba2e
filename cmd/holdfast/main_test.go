package main

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"time"

	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/mongotest"
)

func noEnvironment(string) string { return "" }

// holdfast runs a command line and returns its exit code and its output.
func holdfast(ctx context.Context, args ...string) (code int, stdout, stderr string) {
	var out, errs bytes.Buffer
	code = run(ctx, args, &out, &errs, noEnvironment)
	return code, out.String(), errs.String()
}

func TestTheErrorOfBadInputNamesTheFlag(t *testing.T) {
	for _, c := range []struct{ args, says string }{
		{"prove --strategy hope", `unknown strategy "hope"; known are: no-retry`},
		{"prove --failure flood", `unknown failure "flood"; known are: request-lost`},
		{"prove --duration=-1s", "--duration is -1s; it must be positive"},
		{"prove --duration soon", "--duration"},
		{"prove --w 2", `--w is "2"; it must be majority or 1`},
		{"prove --writers 0", "--writers is 0"},
		{"prove --rollbacks --w 1", "--rollbacks excludes --w 1 and --failure"},
		{"prove --rollbacks --failure mixed", "--rollbacks excludes --w 1 and --failure"},
		{"prove --lag=-5ms", "--lag is -5ms; it must not be negative"},
		{"prove --lag soon", "--lag"},
		{"prove --lag 40s", "--lag is 40s; it must be less than --duration, which is 40s"},
		{"prove --schedule --html page.html", "--schedule excludes --check and --html"},
		{"prove --uri", "--uri: the value is missing\n"},
		{"topology --uri mongodb://a --uri mongodb://b", "--uri: the flag is there twice; it has one value\nTry: holdfast topology --help"},
		{"check --timeout 1s --json --timeout=2s", "--timeout: the flag is there twice"},
		{"prove --lag 5ms --uri mongodb://localhost", "--lag excludes --uri"},
		{"prove --router --uri mongodb://localhost", "--router excludes --uri"},
		{"prove --backend couchbase --router", "--router is for --backend mongodb"},
		{"prove --backend couchbase --lag 5ms", "--lag is for --backend mongodb"},
		{"prove --schedule --uri mongodb://localhost", "--schedule excludes --uri"},
		{"prove --schedule --check", "--schedule excludes --check and --html"},
		{"prove --seed x", "--seed"},
		{"prove --html missing/page.html", "--html missing/page.html: the folder missing does not exist"},
		{"prove --html main.go/page.html", "--html main.go/page.html: main.go is not a folder"},
		{"prove --html .", "--html . is there and is not a regular file"},
		{"prove --backend oracle", `--backend must be one of "mongodb","couchbase"`},
		{"prove --backend couchbase --w 1", "--w is for --backend mongodb"},
		{"prove --backend couchbase --w majority", "--w is for --backend mongodb"},
		{"prove --backend couchbase --no-explore", "--no-explore is for --backend mongodb"},
		{"prove --backend couchbase --rollbacks", "--rollbacks is for --backend mongodb"},
		{"prove --backend couchbase --uri couchbase://localhost", "--uri is for --backend mongodb"},
		{"prove --backend couchbase --strategy retryable-writes", `unknown strategy "retryable-writes"; known are: no-retry, five-blind, best-effort, cas-loop`},
		{"prove --backend couchbase --failure overload", `unknown failure "overload"; known are: request-lost, reply-lost, rebalance`},
		{"prove --backend couchbase --duration 0s", "--duration is 0s; it must be positive"},
		{"prove --failure a3", `unknown failure "a3"; known are: request-lost, reply-lost, step-down`},
		{"prove --nonsense", "unknown flag --nonsense"},
		{"prove more", "unexpected argument more"},
		{"sweep", "missing flags: --ns=DATABASE.COLLECTION,..."},
		{"sweep --uri mongodb://127.0.0.1:1 --ns counters", `--ns is "counters"; it must be a database and a collection`},
		{"sweep --uri mongodb://127.0.0.1:1 --ns app.counters --older-than 0s", "--older-than is 0s; it must be positive"},
		{"sweep --uri http://127.0.0.1:1 --ns app.counters", "the connection string: "},
		{"sweep --ns app.counters", "give --uri, --uri-file or the environment variable HOLDFAST_URI"},
		{"sweep --uri mongodb://a --uri-file f --ns app.counters", "--uri and --uri-file exclude each other"},
		{"sweep --uri mongodb://a --ns app.counters --timeout 0s", "--timeout is 0s; it must be positive"},
		{"topology", "give --uri, --uri-file or the environment variable HOLDFAST_URI"},
		{"topology --uri mongodb://a --timeout=-1s", "--timeout is -1s; it must be positive"},
		{"topology --uri mongodb://a/?maxPoolSize=x", `"maxPoolSize"`},
		{"topology --uri-file /nonexistent/uri", "--uri-file: open /nonexistent/uri"},
		{"check --uri alice:s3cret@example.com", "the connection string: "},
		{"check --timeout 0s", "--timeout is 0s; it must be positive"},
		{"completion powershell", `must be one of "bash","zsh","fish" but got "powershell"`},
		{"completion", `expected "<shell>"`},
		{"mock --members 8", "--members is 8; it must be 1 to 7"},
		{"mock --port 70000", "--port is 70000; it must be 0 to 65533"},
		{"mock --port 65534", "--port is 65534; it must be 0 to 65533"},
		{"mock --port 65536 --standalone", "--port is 65536; it must be 0 to 65535"},
		{"mock --user alice", `--user is "alice"; it must be NAME:PASSWORD`},
		{"mock --election-timeout 0s", "--election-timeout is 0s; it must be positive"},
		{"mock --nonsense", "unknown flag --nonsense"},
		{"mock --fork", "--fork is not supported; start the program in the background instead"},
		{"mock -f mongod.conf", "--config is not supported; give its settings as flags"},
		{"mock --mongos=-1", "--mongos is -1; it must be 0 to 10"},
		{"mock --mongos 2 --standalone", "--mongos excludes --standalone and --replSet"},
		{"mock --standalone --replSet rs0", "--standalone and --replSet exclude each other"},
		{"mock --auth --noauth", "--noauth excludes --auth"},
		{"mock --bind_ip 127.0.0.1 --bind_ip_all", "--bind_ip and --bind_ip_all exclude each other"},
		{"mock --setParameter quiet", `--setParameter is "quiet"; it must be NAME=VALUE`},
		{"mock --setParameter quiet=perhaps", `--setParameter: quiet: "perhaps" is neither true nor false`},
		{"mock --setParameter logLevel=high", `--setParameter: logLevel: "high" is no whole number`},
		{"mock --networkMessageCompressors lzma", `holdfast: --networkMessageCompressors: there is no compressor "lzma"`},
		{"mock --server-version 2.6", `holdfast: --server-version: "2.6" is not known`},
		{"mock --user u:p --user u:q", "holdfast: --user: admin.u is there twice"},
		{"mock --set=", "holdfast: --set: the value is empty; it must be NAME"},
		{"mock --standalone --members 5", "--members is 5; it must be 1 for a standalone, and with --replSet"},
		{"mock --replSet rs0 --members 3", "--members is 3; it must be 1 for a standalone, and with --replSet"},
		{"mock --members 0", "--members is 0; it must be 1 to 7"},
		{"mock --shutdown", "--shutdown needs the --dbpath"},
		{"mock --tlsMode perhaps", "--tlsMode must be one of"},
		{"mock --tlsMode requireTLS", "--tlsMode requireTLS needs a --tlsCertificateKeyFile"},
		{"mock --tlsCAFile ca.pem", "--tlsCertificateKeyFile and --tlsCAFile need a --tlsMode"},
		{"mock --tls-ca-file ca.pem --replSet rs0", "--tls-ca-file excludes --tlsMode and --replSet"},
		{"explore", "give the program to run, after --"},
		{"explore --depth 0 -- true", "--depth is 0; it must be at least 1"},
		{"explore --samples 0 -- true", "--samples is 0; it must be at least 1"},
		{"explore --parallel=-1 -- true", "--parallel is -1; it must not be negative"},
		{"explore --budget 0s -- true", "--budget is 0s; it must be positive"},
		{"explore --members 8 -- true", "--members is 8; it must be 1 to 7"},
		{"explore --mongos 11 -- true", "--mongos is 11; it must be 0 to 10"},
		{"explore --standalone --mongos 1 -- true", "--standalone excludes --members and --mongos"},
		{"explore --standalone --members 1 -- true", "--standalone excludes --members and --mongos"},
		{"explore --failures flood -- true", `--failures: there is no failure "flood"; known are: request-lost, reply-lost`},
		{"explore --standalone --failures partitioned -- true", `--failures: there is no failure "partitioned"; known are: request-lost, reply-lost`},
		{"explore --only update/a.b/1 -- true", `--only: "update/a.b/1" is not a case such as update/shop.orders/1:reply-lost`},
		{"explore --only update/a.b/1:flood -- true", `--only: the case "update/a.b/1:flood": there is no failure "flood"`},
		{"explore --json missing/report.json -- true", "--json missing/report.json: the folder missing does not exist"},
		{"explore --junit . -- true", "--junit . is there and is not a regular file"},
		{"explore --backend oracle -- true", `--backend must be one of "mongodb","couchbase"`},
		{"explore --nodes 3 -- true", "--nodes is for --backend couchbase"},
		{"explore --bucket shop -- true", "--bucket is for --backend couchbase"},
		{"explore --backend couchbase --standalone -- true", "--standalone is for --backend mongodb"},
		{"explore --backend couchbase --members 3 -- true", "--members is for --backend mongodb"},
		{"explore --backend couchbase --mongos 1 --list-failures", "--mongos is for --backend mongodb"},
		{"explore --backend couchbase --nodes 0 -- true", "--nodes is 0; it must be 1 to 100"},
		{"explore --backend couchbase --bucket b,b -- true", `--bucket: the bucket "b" is there twice`},
		{"explore --backend couchbase --bucket= -- true", "--bucket: the value is empty; it must be NAME"},
		{"explore --backend couchbase --failures step-down-before -- true", `--failures: there is no failure "step-down-before"; known are: request-lost, reply-lost`},
		{"explore --backend couchbase --nodes 1 --failures isolated -- true", `--failures: there is no failure "isolated"; known are: request-lost, reply-lost`},
		{"explore --backend couchbase --only set/default/k/1:partitioned -- true", `--only: the case "set/default/k/1:partitioned": there is no failure "partitioned"`},
		{"dance", "unexpected argument dance"},
		{"", "prove"},
		{"prove --uri http://localhost", "--uri: the connection string cannot be used"},
		{"prove --uri mongodb://localhost/?maxPoolSize=x", `"maxPoolSize"`},
		{"prove --uri mongodb+srv://nobody.invalid/", "--uri: the connection string cannot be used: the proxy that makes the faults"},
		{"prove --uri mongodb://localhost/?tls=true", "--uri: the connection string cannot be used: the proxy that makes the faults"},
		{"prove --uri mongodb://localhost/?tlsInsecure=true&ssl=true", "the proxy that makes the faults"},
	} {
		code, stdout, stderr := holdfast(t.Context(), strings.Fields(c.args)...)
		if code != exitUsage || !strings.Contains(stderr, c.says) || stdout != "" {
			t.Errorf("holdfast %s: exit code %d, %q, %q", c.args, code, stderr, stdout)
		}
	}
}

// A flag that is given with an empty value, perhaps because a variable of the shell is not set, is not the same as one that
// is not given.
func TestAnEmptyValueIsAnErrorThatNamesTheFlag(t *testing.T) {
	const name, list = "the value is empty; it must be NAME", "no-retry"
	for _, c := range []struct {
		args []string
		says string
	}{
		{[]string{"prove", "--uri", ""}, "--uri: the value is empty; it must be URI\nTry: holdfast prove --help"},
		{[]string{"prove", "--w", ""}, "--w: the value is empty; it must be majority|1"},
		{[]string{"prove", "--strategy", ""}, "--strategy: " + name},
		{[]string{"prove", "--strategy="}, "--strategy: " + name},
		{[]string{"prove", "--strategy", list, "--strategy", ""}, "--strategy: " + name},
		{[]string{"prove", "--strategy", "", "--strategy", list}, "--strategy: " + name},
		{[]string{"prove", "--strategy", list + ","}, "--strategy: " + name},
		{[]string{"prove", "--failure", "outage,,mixed"}, "--failure: " + name},
		{[]string{"prove", "--html", ""}, "--html: the value is empty; it must be FILE"},
		{[]string{"prove", "--seed", ""}, "--seed"},
		{[]string{"prove", "--writers", ""}, "--writers"},
		{[]string{"prove", "--lag", ""}, "--lag"},
		{[]string{"prove", "--duration", ""}, "--duration"},
		{[]string{"mock", "--host", ""}, "--host: the value is empty; it must be HOST"},
		{[]string{"mock", "--user", ""}, "--user: the value is empty; it must be NAME:PASSWORD"},
		{[]string{"mock", "--bind_ip", ""}, "--bind_ip: the value is empty; it must be HOST"},
		{[]string{"mock", "--bind_ip", "127.0.0.1,"}, "--bind_ip: the value is empty; it must be HOST"},
		{[]string{"mock", "--setParameter", ""}, "--setParameter: the value is empty; it must be NAME=VALUE"},
		{[]string{"mock", "--replSet", ""}, "--replSet: " + name},
		{[]string{"mock", "--tlsMode", ""}, "--tlsMode: the value is empty; it must be MODE"},
		{[]string{"mock", "--networkMessageCompressors", ""}, "--networkMessageCompressors: the value is empty; it must be NAMES"},
	} {
		code, stdout, stderr := holdfast(t.Context(), c.args...)
		if code != exitUsage || !strings.HasPrefix(stderr, "holdfast: "+c.says) || stdout != "" {
			t.Errorf("holdfast %q: exit code %d, %q, %q", c.args, code, stderr, stdout)
		}
	}
}

func TestAListFlagMayBeRepeatedAndMayHaveCommas(t *testing.T) {
	args := []string{"prove", "--failure", "command-error,overload", "--strategy", "one-retry,two-step", "--strategy", "five-blind"}
	code, stdout, stderr := holdfast(t.Context(), append(args, "--duration", "1ns")...) // too little for verdicts
	if code != exitOK || !strings.Contains(stdout, " of 6 cells as expected") {
		t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
}

func TestCheckFailsIfNoCellHasAVerdict(t *testing.T) {
	server := mongotest.RunStandaloneT(t)
	args := []string{"prove", "--uri", server.URI(), "--strategy", "retryable-writes", "--failure", "request-lost"}
	if code, stdout, stderr := holdfast(t.Context(), args...); code != exitOK || !strings.Contains(stdout, "not supported: standalone") {
		t.Errorf("without --check: exit code %d:\n%s\n%s", code, stdout, stderr)
	}
	code, stdout, stderr := holdfast(t.Context(), append(args, "--check")...)
	if code != exitUnexpected || !strings.Contains(stderr, "--check: no cell has a verdict") {
		t.Errorf("with --check: exit code %d:\n%s\n%s", code, stdout, stderr)
	}
}

func TestTheHelpNamesAllCommandsAndFlags(t *testing.T) {
	code, stdout, _ := holdfast(t.Context(), "prove", "--help")
	words := strings.Join(strings.Fields(stdout), " ")
	wanted := []string{"--uri", "--seed", "--check", "--json", "--w", "--backend", "--retry-busy"}
	for _, b := range prove.Backends() {
		wanted = slices.Concat(wanted, b.StrategyNames(), b.FailureNames())
	}
	for _, want := range wanted {
		if code != exitOK || !strings.Contains(words, want) {
			t.Errorf("exit code %d; %s is not in the help:\n%s", code, want, stdout)
		}
	}
	if code, stdout, _ := holdfast(t.Context(), "--help"); code != exitOK || !strings.Contains(stdout, "prove") {
		t.Errorf("exit code %d:\n%s", code, stdout)
	}
}

func TestVersion(t *testing.T) {
	if code, stdout, _ := holdfast(t.Context(), "version"); code != exitOK || !strings.HasPrefix(stdout, "holdfast ") {
		t.Errorf("exit code %d: %s", code, stdout)
	}
}

func TestAnUnreachableServerIsAnErrorWithinSeconds(t *testing.T) {
	began := time.Now()
	code, _, stderr := holdfast(t.Context(), "prove", "--uri", "mongodb://127.0.0.1:1/")
	if code != exitCannotRun || !strings.Contains(stderr, "cannot reach the server") || !strings.Contains(stderr, "127.0.0.1:1") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}

func TestTheScheduleOfASeed(t *testing.T) {
	for _, backend := range []string{"mongodb", "couchbase"} {
		for _, format := range []string{"", "--json"} {
			schedule := func(seed string) string {
				t.Helper()
				args := slices.DeleteFunc([]string{"prove", "--schedule", "--backend", backend, "--seed", seed, format}, func(arg string) bool { return arg == "" })
				code, stdout, stderr := holdfast(t.Context(), args...)
				if code != exitOK || stderr != "" || !strings.Contains(stdout, "request-lost") {
					t.Errorf("%v: exit code %d, %s\n%s", args, code, stderr, stdout)
				}
				return stdout
			}
			if first, again := schedule("7"), schedule("7"); first != again {
				t.Errorf("%s: two runs print\n%s\n%s", backend, first, again)
			} else if other := schedule("8"); first == other {
				t.Errorf("%s: another seed has the same schedule", backend)
			}
		}
	}
}

// quick is a cell that takes little time.
var quick = []string{"prove", "--failure", "command-error", "--strategy", "one-retry", "--strategy", "five-blind", "--retry-busy", "9"}

func TestProvePrintsAndChecks(t *testing.T) {
	code, stdout, stderr := holdfast(t.Context(), append(quick, "--check")...)
	if code != exitOK || !strings.Contains(stdout, "2 of 2 cells as expected") || !strings.Contains(stdout, "wastes time") {
		t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
	// This load is too small for a verdict.
	code, stdout, stderr = holdfast(t.Context(), append(quick, "--check", "--duration", "1ns")...)
	if code != exitUnexpected || !strings.Contains(stdout, "not shown") || !strings.Contains(stderr, "2 cells") {
		t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
}

func TestJSON(t *testing.T) {
	code, stdout, _ := holdfast(t.Context(), append(quick, "--json", "--seed", "5")...)
	var d struct {
		AsExpected bool                  `json:"as_expected"`
		Settings   struct{ Seed uint64 } `json:"settings"`
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != exitOK || !d.AsExpected || d.Settings.Seed != 5 {
		t.Errorf("exit code %d, %v:\n%s", code, err, stdout)
	}
}

// quickCouchbase are two cells of Couchbase that take little time.
var quickCouchbase = []string{"prove", "--backend", "couchbase", "--failure", "temporary-failure", "--strategy", "no-retry", "--strategy", "cas-loop", "--retry-busy", "9"}

func TestProveWithCouchbasePrintsAndChecks(t *testing.T) {
	code, stdout, stderr := holdfast(t.Context(), append(quickCouchbase, "--check")...)
	if code != exitOK || !strings.Contains(stdout, "Right: CAS loop; wrong: no retry (under-counts); 2 of 2 cells as expected") {
		t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
	code, stdout, stderr = holdfast(t.Context(), append(quickCouchbase, "--check", "--duration", "1ns")...)
	if code != exitUnexpected || !strings.Contains(stdout, "not shown") || !strings.Contains(stderr, "2 cells") {
		t.Errorf("too little load: exit code %d:\n%s\n%s", code, stdout, stderr)
	}
}

func TestJSONWithCouchbaseHasOnlyItsOwnSettings(t *testing.T) {
	code, stdout, _ := holdfast(t.Context(), append(quickCouchbase, "--json", "--seed", "5")...)
	var d struct {
		Backend    string         `json:"backend"`
		AsExpected bool           `json:"as_expected"`
		Settings   map[string]any `json:"settings"`
	}
	if err := json.Unmarshal([]byte(stdout), &d); err != nil || code != exitOK || !d.AsExpected || d.Backend != "Couchbase" {
		t.Fatalf("exit code %d, %v:\n%s", code, err, stdout)
	}
	for name, want := range map[string]bool{"seed": true, "operation": true, "black_hole": true, "w": false, "server_selection": false, "election": false} {
		if _, there := d.Settings[name]; there != want {
			t.Errorf("the setting %q is there: %t", name, there)
		}
	}
}

func TestAnInterruptWithCouchbasePrintsTheReport(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	code, stdout, stderr := holdfast(ctx, "prove", "--backend", "couchbase", "--failure", "black-hole")
	if code != exitInterrupted || !strings.Contains(stdout, "interrupted") || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
}

func TestAnInterruptPrintsTheReportAndCleansUp(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3)
	ctx, interrupt := context.WithCancel(t.Context())
	rs.Use("update", mongotest.Always(mongotest.Fault{Before: interrupt}))
	code, stdout, stderr := holdfast(ctx, "prove", "--failure", "reply-lost", "--uri", rs.URI())
	if code != exitInterrupted || !strings.Contains(stdout, "interrupted") || !strings.Contains(stderr, "interrupted") {
		t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
	checkNothingIsLeft(t, rs.URI())
}

func TestAnExistingDatabaseIsNotChanged(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3)
	owner, err := prove.ConnectServer(t.Context(), rs.URI(), prove.Default())
	if err != nil {
		t.Fatal(err)
	}
	code, _, stderr := holdfast(t.Context(), "prove", "--uri", rs.URI())
	if code != exitCannotRun || !strings.Contains(stderr, "holdfast_prove exists already") {
		t.Errorf("exit code %d: %s", code, stderr)
	}
	if err := owner.Leave(); err != nil {
		t.Error(err)
	}
	checkNothingIsLeft(t, rs.URI())
}

// checkNothingIsLeft fails if the database still exists: ConnectServer needs that it does not.
func checkNothingIsLeft(t *testing.T, uri string) {
	t.Helper()
	server, err := prove.ConnectServer(t.Context(), uri, prove.Default())
	if err != nil {
		t.Fatal(err)
	}
	if err := server.Leave(); err != nil {
		t.Error(err)
	}
}

// TestARealServer runs on the server in HOLDFAST_MONGODB_URI. A cell that a busy machine disturbs needs no verdict here: to run each again alone
// would take longer than a test may.
func TestARealServer(t *testing.T) {
	uri := spectest.Server(t)
	dropLeftOver(t, uri)
	code, stdout, stderr := holdfast(t.Context(), "prove", "--check", "--retry-busy", "0", "--uri", uri)
	if code != exitOK && code != exitBusy {
		t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
	t.Log(stdout)
	checkNothingIsLeft(t, uri)
}

// dropLeftOver drops the database of a run that ended with its server.
func dropLeftOver(t *testing.T, uri string) {
	t.Helper()
	client, err := official.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	if err := client.Database(prove.Database).Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
}
