// Package house holds the rules of the repository that are tests.
package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// ours names what a package may import of this module: only what stands below it. A package that is not here may not
// exist.
var ours = map[string][]string{
	"retry":                         {},
	"retry/mongoreason":             {"retry"},
	"retry/couchbasereason":         {"retry"},
	"retry/retryhttp":               {"retry"},
	"retry/retryslog":               {"retry"},
	"internal/couchbase/memd":       {"internal/sizedread"},
	"internal/couchbase/clustermap": {"internal/couchbase/memd"},
	"internal/couchbase/connstr":    {},
	"internal/couchbase/services":   {"internal/couchbase/clustermap", "retry", "retry/couchbasereason"},
	"internal/couchbase/cluster":    {"internal/couchbase/clustermap", "internal/couchbase/kv", "internal/couchbase/memd", "internal/mutant", "retry"},
	"internal/couchbase/nodescript": {"internal/couchbase/memd", "internal/memnet"},
	"internal/couchbase/operation":  {"internal/couchbase/cluster", "internal/couchbase/clustermap", "internal/couchbase/kv", "internal/couchbase/memd", "internal/mutant", "retry", "retry/couchbasereason"},
	"internal/couchbase/kv":         {"internal/couchbase/memd", "internal/panicked", "internal/scramclient", "retry"},
	"internal/memnet":               {},
	"internal/openloop":             {},
	"internal/panicked":             {},
	"internal/peek":                 {},
	"internal/filelock":             {},
	"internal/scramclient":          {},
	"internal/sizedread":            {},
	"internal/mutant":               {},
	"internal/mongo/wire":           {"internal/sizedread"},
	"internal/mongo/bsoncodec":      {},
	"internal/mongo/topology":       {"internal/mongo/wire"},
	"internal/mongo/auth":           {"internal/mongo/wire", "internal/scramclient"},
	"internal/mongo/logging":        {"internal/mongo/wire"},
	"internal/mongo/drivererror":    {"internal/mongo/topology"},
	"internal/mongo/cluster":        {"internal/mongo/auth", "internal/mongo/drivererror", "internal/mongo/logging", "internal/mongo/topology", "internal/mongo/wire", "internal/panicked", "internal/peek", "retry"},
	"internal/mongo/operation":      {"internal/mongo/cluster", "internal/mongo/drivererror", "internal/mongo/logging", "internal/mongo/topology", "internal/mongo/wire", "internal/mutant", "retry", "retry/mongoreason"},
	"mongo":                         {"internal/mongo/operation", "internal/mongo/auth", "internal/mongo/logging", "internal/mongo/bsoncodec", "internal/mongo/cluster", "internal/mongo/topology", "internal/mongo/wire", "internal/mutant", "retry"},
	"mongo/mongoslog":               {},
	"mongo/once":                    {"internal/panicked", "retry", "retry/mongoreason"},
	"couchbase": {
		"internal/couchbase/cluster", "internal/couchbase/clustermap", "internal/couchbase/connstr", "internal/couchbase/kv",
		"internal/couchbase/memd", "internal/couchbase/operation", "internal/couchbase/services", "couchbase/search", "couchbase/vector",
		"internal/mutant", "retry", "retry/couchbasereason",
	},
	"couchbase/search": {},
	"couchbase/vector": {"couchbase/search"},
	"couchbase/couchbasetest": {
		"couchbase/couchbasetest/internal/httpapi", "couchbase/couchbasetest/internal/store", "couchbase/couchbasetest/internal/subjson",
		"internal/couchbase/memd", "internal/couchbase/clustermap", "internal/memnet", "internal/mutant", "internal/testserver",
	},
	"couchbase/couchbasetest/internal/httpapi": {"internal/couchbase/clustermap"},
	"couchbase/couchbasetest/internal/store":   {"couchbase/couchbasetest/internal/subjson", "internal/couchbase/memd"},
	"couchbase/couchbasetest/internal/subjson": {"internal/couchbase/memd"},
	"internal/testserver":                      {"internal/memnet"},
	"mongo/mongotest": {
		"mongo/mongotest/internal/pipeline", "mongo/mongotest/internal/query", "mongo/mongotest/internal/collation",
		"mongo/mongotest/internal/changes", "mongo/mongotest/internal/store", "mongo/mongotest/internal/fields", "mongo/mongotest/internal/version",
		"mongo/mongotest/internal/setconfig", "mongo/mongotest/internal/writeconcern", "mongo/mongotest/internal/planfilter", "mongo/mongotest/internal/account", "mongo/mongotest/internal/permission", "mongo/mongotest/internal/failpoint",
		"mongo/mongotest/internal/stableapi", "mongo/mongotest/internal/currentop", "mongo/mongotest/internal/javascript", "mongo/mongotest/internal/explain",
		"mongo/mongotest/internal/mongoerr", "internal/memnet", "internal/peek", "internal/testserver",
		"internal/mongo/wire", "internal/mutant",
	},
	"mongo/mongotest/internal/currentop": {},
	"mongo/mongotest/internal/explain": {
		"mongo/mongotest/internal/store", "mongo/mongotest/internal/query", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/changes": {
		"mongo/mongotest/internal/store", "mongo/mongotest/internal/query", "mongo/mongotest/internal/fields", "mongo/mongotest/internal/version",
		"mongo/mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/store": {
		"mongo/mongotest/internal/pipeline", "mongo/mongotest/internal/query", "mongo/mongotest/internal/collation", "mongo/mongotest/internal/fulltext",
		"mongo/mongotest/internal/fields", "mongo/mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/setconfig": {
		"mongo/mongotest/internal/query", "mongo/mongotest/internal/fields", "mongo/mongotest/internal/version", "mongo/mongotest/internal/mongoerr",
		"internal/mongo/wire",
	},
	"mongo/mongotest/internal/planfilter": {
		"mongo/mongotest/internal/explain", "mongo/mongotest/internal/store", "mongo/mongotest/internal/query",
		"mongo/mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/writeconcern": {
		"mongo/mongotest/internal/setconfig", "mongo/mongotest/internal/query", "mongo/mongotest/internal/fields", "mongo/mongotest/internal/version",
		"mongo/mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/account": {"mongo/mongotest/internal/mongoerr", "internal/mongo/wire"},
	"mongo/mongotest/internal/permission": {
		"mongo/mongotest/internal/account", "mongo/mongotest/internal/query", "mongo/mongotest/internal/fields", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/stableapi": {
		"mongo/mongotest/internal/query", "mongo/mongotest/internal/fields", "mongo/mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/failpoint": {
		"mongo/mongotest/internal/query", "mongo/mongotest/internal/fields", "mongo/mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/pipeline": {
		"mongo/mongotest/internal/expr", "mongo/mongotest/internal/query", "mongo/mongotest/internal/javascript", "mongo/mongotest/internal/mongoerr",
		"mongo/mongotest/internal/version", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/backtrack": {},
	"mongo/mongotest/internal/expr": {
		"mongo/mongotest/internal/javascript", "mongo/mongotest/internal/query", "mongo/mongotest/internal/backtrack",
		"mongo/mongotest/internal/version", "mongo/mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/geo":        {},
	"mongo/mongotest/internal/fulltext":   {"internal/mongo/wire"},
	"mongo/mongotest/internal/javascript": {"mongo/mongotest/internal/query", "mongo/mongotest/internal/mongoerr", "internal/mongo/wire"},
	"mongo/mongotest/internal/query": {
		"mongo/mongotest/internal/backtrack", "mongo/mongotest/internal/geo", "mongo/mongotest/internal/fulltext",
		"mongo/mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongo/mongotest/internal/collation": {"mongo/mongotest/internal/query", "mongo/mongotest/internal/mongoerr", "internal/mongo/wire"},
	"mongo/mongotest/internal/fields":    {"mongo/mongotest/internal/query", "mongo/mongotest/internal/mongoerr", "internal/mongo/wire"},
	"mongo/mongotest/internal/version":   {"mongo/mongotest/internal/mongoerr"},
	"mongo/mongotest/internal/mongoerr":  {},
	"internal/figures":                   {},
	"internal/flaky":                     {},
	"internal/mutation":                  {},
	"internal/paint":                     {},
	"internal/prove":                     {"internal/paint", "mongo", "mongo/mongotest", "couchbase", "couchbase/couchbasetest", "internal/couchbase/memd", "internal/mutant", "mongo/once", "retry", "retry/mongoreason"},
	"cmd/holdfast":                       {"internal/filelock", "internal/paint", "internal/inspect", "internal/rules", "mongo", "mongo/once", "internal/mockcontrol", "internal/prove", "internal/report", "mongo/mongotest", "couchbase/couchbasetest"},
	"internal/inspect":                   {"internal/paint", "internal/mongo/topology", "mongo"},
	"internal/report":                    {"internal/prove"},
	"internal/rules":                     {"internal/couchbase/memd", "retry", "retry/couchbasereason", "retry/mongoreason"},
	"internal/mockcontrol":               {"couchbase/couchbasetest"},
	"internal/spectest":                  {"internal/filelock"},
	"internal/spectest/unified":          {"mongo"}, // with the build tag spec_holdfast
}

func TestAPackageImportsOnlyWhatStandsBelowIt(t *testing.T) {
	pkgs := append(ofThisModule(t), list(t, "-tags=spec_holdfast", "./internal/spectest/...")...)
	if len(pkgs) < 5 {
		t.Fatalf("only %d packages were found", len(pkgs))
	}
	for _, p := range pkgs {
		name := strings.TrimPrefix(p.ImportPath, module)
		if len(p.GoFiles) == 0 {
			continue // only tests
		}
		allowed, known := ours[name]
		if !known {
			t.Errorf("%s has no place in the table of import rules", name)
		}
		for _, path := range p.Imports {
			below, isOurs := strings.CutPrefix(path, module)
			switch {
			case isOurs && !slices.Contains(allowed, below):
				t.Errorf("%s imports %s, which does not stand below it", name, below)
			case path == "testing" || strings.HasPrefix(path, "testing/"):
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
	"mongo": {
		"go.mongodb.org/mongo-driver/v2",
		// The dependencies of the official module's types.
		"github.com/klauspost/compress", "github.com/xdg-go/pbkdf2", "github.com/xdg-go/scram", "github.com/xdg-go/stringprep",
		"github.com/youmark/pkcs8", "golang.org/x/crypto", "golang.org/x/sync", "golang.org/x/text",
	},
	"mongo/mongotest": {
		"go.mongodb.org/mongo-driver/v2", "golang.org/x/text",
		"github.com/klauspost/compress", "github.com/xdg-go/pbkdf2", "github.com/xdg-go/scram", "github.com/xdg-go/stringprep",
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
