// Package archtest holds the rules of the repository that are tests.
package archtest

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// level is one row of the picture in docs/ARCHITECTURE.md, or a part of one. Its packages do not import each other.
type level struct {
	what     string
	packages []string
}

// levels are the packages of the module from the bottom up. A package imports only packages of the levels below its own, so that none is
// imported upward. A package that is not here may not exist.
var levels = []level{
	{"the engine, and what clients tell about their work", []string{"retry", "telemetry"}},
	{"the engine, for one database or protocol", []string{"retry/couchbasereason", "retry/mongoreason", "retry/retryhttp", "retry/retryslog"}},
	{"what is made of what clients tell", []string{"internal/base/retold", "telemetry/health", "telemetry/metrics"}},

	{"what several layers stand on", []string{
		"internal/base/filelock", "internal/base/openloop", "internal/base/panicked", "internal/base/pause", "internal/base/peek",
		"internal/base/rawsocket", "internal/base/scramclient", "internal/base/shortanswer", "internal/base/sizedread", "internal/base/threadtime",
		"internal/explore",
	}},
	{"what several layers stand on", []string{"internal/base/memnet"}},
	{"what several layers stand on", []string{"internal/base/testserver"}},

	{"the clients' layers: messages", []string{"internal/couchbase/connstr", "internal/couchbase/memd", "internal/mongo/bsoncodec", "internal/mongo/largebuffer", "internal/mongo/wire"}},
	{"the clients' layers: a server, a topology", []string{
		"internal/couchbase/clustermap", "internal/couchbase/kv", "internal/couchbase/nodescript", "internal/couchbase/pools",
		"internal/mongo/auth", "internal/mongo/logging", "internal/mongo/revocation", "internal/mongo/topology",
	}},
	{"the clients' layers: errors and services", []string{"internal/couchbase/services", "internal/mongo/cloudlogin", "internal/mongo/drivererror"}},
	{"the clients' layers: connections to a cluster", []string{"internal/couchbase/cluster", "internal/mongo/cluster"}},
	{"the clients' layers: one operation", []string{"internal/couchbase/operation", "internal/mongo/operation"}},
	{"the clients' layers: one operation", []string{"internal/mongo/unwrap"}},

	{"below the test servers", []string{
		"couchbasetest/internal/httpapi", "couchbasetest/internal/subjson",
		"mongotest/internal/backtrack", "mongotest/internal/currentop", "mongotest/internal/fulltext", "mongotest/internal/geo", "mongotest/internal/mongoerr",
		"mongotest/internal/profiling",
	}},
	{"below the test servers", []string{
		"couchbasetest/internal/store", "mongotest/internal/account", "mongotest/internal/query", "mongotest/internal/version",
	}},
	{"below the test servers", []string{
		"mongotest/internal/collation", "mongotest/internal/datetext", "mongotest/internal/decimal", "mongotest/internal/fields", "mongotest/internal/javascript",
		"mongotest/internal/ordered", "mongotest/internal/parameter", "mongotest/internal/status", "mongotest/internal/textfind",
	}},
	{"below the test servers", []string{
		"mongotest/internal/expr", "mongotest/internal/failpoint", "mongotest/internal/permission", "mongotest/internal/setconfig", "mongotest/internal/stableapi",
	}},
	{"below the test servers", []string{"mongotest/internal/pipeline", "mongotest/internal/writeconcern"}},
	{"below the test servers", []string{"mongotest/internal/store"}},
	{"below the test servers", []string{"mongotest/internal/changes", "mongotest/internal/explain"}},
	{"below the test servers", []string{"mongotest/internal/journal", "mongotest/internal/planfilter", "mongotest/internal/replica"}},
	{"below the test servers", []string{"mongotest/internal/call"}},
	{"below the test servers", []string{"mongotest/internal/admin", "mongotest/internal/command"}},

	{"below the public packages", []string{"couchbase/search"}},
	{"below the public packages", []string{"couchbase/vector"}},
	{"the public packages", []string{"couchbase", "couchbasetest", "mongo", "mongo/mongoslog", "mongo/once", "mongotest"}},

	{"below the router", []string{"internal/router/scramserver"}},
	{"below the router", []string{"internal/router/userfile"}},
	{"a router on a client", []string{"internal/router"}},

	{"what explores every fault", []string{"internal/explore/site", "internal/explore/testrun"}},
	{"what explores every fault", []string{"internal/explore/couchbasefault", "internal/explore/mongofault"}},
	{"what explores every fault", []string{"explore", "explore/couchbase"}},

	{"what the command line is made of", []string{"internal/cli/mockcontrol", "internal/cli/paint", "internal/cli/prometheustext", "internal/cli/rules", "internal/cli/timeline", "internal/cli/webpage"}},
	{"what the command line is made of", []string{"internal/cli/inspect", "internal/cli/prove"}},
	{"what the command line is made of", []string{"internal/cli/explorereport", "internal/cli/report"}},
	{"the command line", []string{"cmd/holdfast"}},
	{"programs one can run", []string{"examples/couchbase", "examples/engine", "examples/faultproxy", "examples/service"}},

	{"for those who work on the code", []string{
		"internal/devtools/beside", "internal/devtools/defect", "internal/devtools/driverload", "internal/devtools/figures", "internal/devtools/flaky", "internal/devtools/mutation", "internal/devtools/spectest",
	}},
	{"for those who work on the code", []string{"internal/devtools/spectest/unified"}}, // with the build tag spec_holdfast
}

// apart has what a folder's packages do not import, although it stands below them.
var apart = []struct {
	folders, never []string
	except         []string
}{
	{folders: []string{"internal/couchbase", "couchbase", "couchbasetest"}, never: []string{"internal/mongo"}},
	{folders: []string{"internal/mongo", "mongo", "mongotest"}, never: []string{"internal/couchbase"}},
	// A test server shares the bytes of the messages with its client, and nothing that decides.
	{folders: []string{"mongotest"}, never: []string{"internal/mongo", "retry"}, except: []string{"internal/mongo/wire"}},
	{folders: []string{"couchbasetest"}, never: []string{"internal/couchbase", "retry"}, except: []string{"internal/couchbase/memd", "internal/couchbase/clustermap"}},
	// What explores works with any client.
	{
		folders: []string{"explore", "internal/explore"}, never: []string{"mongo", "couchbase", "internal/mongo", "internal/couchbase"},
		except: []string{"internal/couchbase/memd"},
	},
	// Exactly-once updates work with any client.
	{folders: []string{"mongo/once"}, never: []string{"internal/mongo"}},
	{folders: []string{"mongo", "couchbase"}, never: []string{"internal/base/memnet", "internal/base/testserver", "couchbasetest/internal", "mongotest/internal"}},
}

// forTests are the packages whose functions take a *testing.T.
var forTests = map[string]bool{"explore": true, "explore/couchbase": true, "internal/explore/testrun": true}

// within reports whether a package is one of the folders or in one.
func within(name string, folders []string) bool {
	return slices.ContainsFunc(folders, func(f string) bool { return name == f || strings.HasPrefix(name, f+"/") })
}

// mayImport reports whether the tables allow an import.
func mayImport(name, imported string, ranks map[string]int) bool {
	for _, a := range apart {
		if within(name, a.folders) && within(imported, a.never) && !within(imported, a.except) {
			return false
		}
	}
	rank, known := ranks[imported]
	return known && rank < ranks[name]
}

// ranksOf returns the place of each package from the bottom.
func ranksOf(levels []level) map[string]int {
	ranks := make(map[string]int)
	for i, l := range levels {
		for _, p := range l.packages {
			ranks[p] = i
		}
	}
	return ranks
}

func TestAPackageImportsOnlyWhatStandsBelowIt(t *testing.T) {
	pkgs := append(ofThisModule(t), list(t, "-tags=spec_holdfast", "./internal/devtools/spectest/...")...)
	if len(pkgs) < 5 {
		t.Fatalf("only %d packages were found", len(pkgs))
	}
	ranks := ranksOf(levels)
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module)
		if len(p.GoFiles) == 0 {
			continue // only tests
		}
		if _, known := ranks[name]; !known {
			t.Errorf("%s has no place in the table of levels", name)
		}
		for _, path := range p.Imports {
			below, isOurs := strings.CutPrefix(path, module)
			switch {
			case isOurs && !mayImport(name, below, ranks):
				t.Errorf("%s imports %s, which does not stand below it, or is apart from it", name, below)
			case !forTests[name] && (path == "testing" || strings.HasPrefix(path, "testing/")):
				t.Errorf("%s imports %s outside its tests", name, path)
			case strings.HasPrefix(path, "go.mongodb.org/mongo-driver/v2/x/") && name != "internal/mongo/drivererror":
				t.Errorf("%s imports the official module's %s", name, path)
			}
		}
		if p.Doc == "" {
			t.Errorf("%s has no package documentation", name)
		}
	}
}

// Each package of the table exists, once.
func TestTheLevelsNameEachPackageOnce(t *testing.T) {
	seen := make(map[string]bool)
	for _, l := range levels {
		for _, p := range l.packages {
			if seen[p] {
				t.Errorf("%s stands on two levels", p)
			}
			seen[p] = true
			if _, err := os.Stat(filepath.Join("../../..", p)); err != nil {
				t.Errorf("the table of levels: %v", err)
			}
		}
	}
}

func TestImportsUpwardAndAsideAreRefused(t *testing.T) {
	ranks := ranksOf(levels)
	for _, c := range []struct {
		name, imported string
		allowed        bool
	}{
		{"mongo", "retry", true},
		{"mongo", "internal/mongo/operation", true},
		{"mongo", "couchbase", false},
		{"mongo", "mongotest", false},
		{"mongo", "internal/couchbase/memd", false},
		{"mongo", "internal/base/memnet", false},
		{"mongo/once", "internal/mongo/wire", false},
		{"retry", "internal/base/panicked", false},
		{"retry/mongoreason", "retry", true},
		{"internal/mongo/cluster", "internal/mongo/operation", false},
		{"internal/mongo/cluster", "mongo", false},
		{"mongotest", "internal/mongo/wire", true},
		{"mongotest", "internal/mongo/topology", false},
		{"mongotest/internal/query", "internal/mongo/topology", false},
		{"couchbasetest", "internal/couchbase/memd", true},
		{"couchbasetest", "internal/couchbase/kv", false},
		{"internal/cli/prove", "internal/couchbase/memd", true},
		{"internal/cli/prove", "internal/devtools/figures", false},
		{"cmd/holdfast", "internal/nothing", false},
	} {
		if mayImport(c.name, c.imported, ranks) != c.allowed {
			t.Errorf("%s imports %s: allowed must be %t", c.name, c.imported, c.allowed)
		}
	}
}

// pure packages have no sockets and no goroutines of their own.
func TestThePurePackagesAreStandardLibraryOrVocabulary(t *testing.T) {
	forbidden := []string{"net", "os", "os/exec", "syscall", "log/slog"}
	for _, name := range []string{"retry", "retry/mongoreason", "retry/couchbasereason", "internal/mongo/wire", "internal/mongo/topology", "internal/mongo/auth"} {
		p := named(t, name)
		for _, path := range p.Imports {
			// The engine's budget and breakers, and the keys derived from a password, are shared and locked; what the others
			// hold is immutable.
			locked := strings.HasSuffix(p.ImportPath, "/retry") || strings.HasSuffix(p.ImportPath, "/auth")
			if slices.Contains(forbidden, path) || path == "sync" && !locked {
				t.Errorf("%s imports %s", p.ImportPath, path)
			}
		}
	}
}

// mayDependOn lists the modules that may be linked into a program through each of these packages.
var mayDependOn = map[string][]string{
	"retry":                 {},
	"retry/mongoreason":     {},
	"retry/couchbasereason": {},
	"retry/retryhttp":       {},
	"retry/retryslog":       {},
	"telemetry":             {},
	"telemetry/metrics":     {},
	"mongo": {
		"go.mongodb.org/mongo-driver/v2",
		// The dependencies of the official module's types.
		"github.com/klauspost/compress", "github.com/xdg-go/pbkdf2", "github.com/xdg-go/scram", "github.com/xdg-go/stringprep",
		"github.com/youmark/pkcs8", "golang.org/x/crypto", "golang.org/x/sync", "golang.org/x/text",
		"golang.org/x/net",                                         // SOCKS5; OCSP is in golang.org/x/crypto
		"github.com/aws/aws-sdk-go-v2", "github.com/aws/smithy-go", // the signature of MONGODB-AWS
	},
	"mongotest": {
		"go.mongodb.org/mongo-driver/v2", "golang.org/x/text",
		"github.com/klauspost/compress", "github.com/xdg-go/pbkdf2", "github.com/xdg-go/scram", "github.com/xdg-go/stringprep",
		"golang.org/x/crypto",                 // OCSP answers
		"golang.org/x/sys",                    // whether a client has closed its connection
		"github.com/dlclark/regexp2/v2",       // the syntax of the regular expressions that Go's engine refuses
		"github.com/golang/geo",               // geometries on the sphere
		"github.com/blevesearch/snowballstem", // stems of words
		// JavaScript ($where, $function, $accumulator, mapReduce), with what its engine needs. No client needs them.
		"github.com/dop251/goja", "github.com/go-sourcemap/sourcemap", "github.com/google/pprof",
	},
}

func TestDependenciesAreThoseThatAreAllowed(t *testing.T) {
	for root, allowed := range mayDependOn {
		for _, path := range named(t, root).Deps {
			p := loaded(t)[path]
			if p.Standard || p.Module == nil || strings.HasPrefix(p.ImportPath+"/", module) {
				continue
			}
			if !slices.Contains(allowed, p.Module.Path) {
				t.Errorf("%s depends on %s of module %s, which is not on its list", root, p.ImportPath, p.Module.Path)
			}
		}
	}
}

func TestTheModuleReplacesNothing(t *testing.T) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{if .Replace}}{{.Path}}{{end}}", "all").Output()
	if err != nil {
		t.Fatal(err)
	}
	if replaced := strings.TrimSpace(string(out)); replaced != "" {
		t.Errorf("go.mod replaces %s", replaced)
	}
}
