// Package archtest holds the rules of the repository that are tests.
package archtest

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
	"internal/couchbase/memd":       {"internal/base/sizedread"},
	"internal/couchbase/clustermap": {"internal/couchbase/memd"},
	"internal/couchbase/connstr":    {},
	"internal/couchbase/services":   {"internal/couchbase/clustermap", "retry", "retry/couchbasereason"},
	"internal/couchbase/cluster":    {"internal/couchbase/clustermap", "internal/couchbase/kv", "internal/couchbase/memd", "internal/base/mutant", "retry"},
	"internal/couchbase/nodescript": {"internal/couchbase/memd", "internal/base/memnet"},
	"internal/couchbase/operation":  {"internal/couchbase/cluster", "internal/couchbase/clustermap", "internal/couchbase/kv", "internal/couchbase/memd", "internal/base/mutant", "retry", "retry/couchbasereason"},
	"internal/couchbase/kv":         {"internal/couchbase/memd", "internal/base/panicked", "internal/base/scramclient", "retry"},
	"internal/base/memnet":          {},
	"internal/base/openloop":        {},
	"internal/base/panicked":        {},
	"internal/base/peek":            {},
	"internal/base/filelock":        {},
	"internal/base/scramclient":     {},
	"internal/base/sizedread":       {},
	"internal/base/mutant":          {},
	"internal/mongo/wire":           {"internal/base/sizedread"},
	"internal/mongo/bsoncodec":      {},
	"internal/mongo/topology":       {"internal/mongo/wire"},
	"internal/mongo/auth":           {"internal/mongo/wire", "internal/base/scramclient"},
	"internal/mongo/logging":        {"internal/mongo/wire"},
	"internal/mongo/drivererror":    {"internal/mongo/topology"},
	"internal/mongo/cluster":        {"internal/mongo/auth", "internal/mongo/drivererror", "internal/mongo/logging", "internal/mongo/topology", "internal/mongo/wire", "internal/base/panicked", "internal/base/peek", "retry"},
	"internal/mongo/operation":      {"internal/mongo/cluster", "internal/mongo/drivererror", "internal/mongo/logging", "internal/mongo/topology", "internal/mongo/wire", "internal/base/mutant", "retry", "retry/mongoreason"},
	"mongo":                         {"internal/mongo/operation", "internal/mongo/auth", "internal/mongo/logging", "internal/mongo/bsoncodec", "internal/mongo/cluster", "internal/mongo/topology", "internal/mongo/wire", "internal/base/mutant", "retry"},
	"mongo/mongoslog":               {},
	"mongo/once":                    {"internal/base/panicked", "retry", "retry/mongoreason"},
	"couchbase": {
		"internal/couchbase/cluster", "internal/couchbase/clustermap", "internal/couchbase/connstr", "internal/couchbase/kv",
		"internal/couchbase/memd", "internal/couchbase/operation", "internal/couchbase/services", "couchbase/search", "couchbase/vector",
		"internal/base/mutant", "retry", "retry/couchbasereason",
	},
	"couchbase/search": {},
	"couchbase/vector": {"couchbase/search"},
	"couchbasetest": {
		"couchbasetest/internal/httpapi", "couchbasetest/internal/store", "couchbasetest/internal/subjson",
		"internal/couchbase/memd", "internal/couchbase/clustermap", "internal/base/memnet", "internal/base/mutant", "internal/base/testserver",
	},
	"couchbasetest/internal/httpapi": {"internal/couchbase/clustermap"},
	"couchbasetest/internal/store":   {"couchbasetest/internal/subjson", "internal/couchbase/memd"},
	"couchbasetest/internal/subjson": {"internal/couchbase/memd"},
	"internal/base/testserver":       {"internal/base/memnet"},
	"mongotest": {
		"mongotest/internal/pipeline", "mongotest/internal/query", "mongotest/internal/collation",
		"mongotest/internal/changes", "mongotest/internal/store", "mongotest/internal/fields", "mongotest/internal/version",
		"mongotest/internal/setconfig", "mongotest/internal/writeconcern", "mongotest/internal/planfilter", "mongotest/internal/account", "mongotest/internal/permission", "mongotest/internal/failpoint",
		"mongotest/internal/stableapi", "mongotest/internal/currentop", "mongotest/internal/javascript", "mongotest/internal/explain",
		"mongotest/internal/mongoerr", "internal/base/memnet", "internal/base/peek", "internal/base/testserver",
		"internal/mongo/wire", "internal/base/mutant",
	},
	"mongotest/internal/currentop": {},
	"mongotest/internal/explain": {
		"mongotest/internal/store", "mongotest/internal/query", "internal/mongo/wire",
	},
	"mongotest/internal/changes": {
		"mongotest/internal/store", "mongotest/internal/query", "mongotest/internal/fields", "mongotest/internal/version",
		"mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongotest/internal/store": {
		"mongotest/internal/pipeline", "mongotest/internal/query", "mongotest/internal/collation", "mongotest/internal/fulltext",
		"mongotest/internal/fields", "mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongotest/internal/setconfig": {
		"mongotest/internal/query", "mongotest/internal/fields", "mongotest/internal/version", "mongotest/internal/mongoerr",
		"internal/mongo/wire",
	},
	"mongotest/internal/planfilter": {
		"mongotest/internal/explain", "mongotest/internal/store", "mongotest/internal/query",
		"mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongotest/internal/writeconcern": {
		"mongotest/internal/setconfig", "mongotest/internal/query", "mongotest/internal/fields", "mongotest/internal/version",
		"mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongotest/internal/account": {"mongotest/internal/mongoerr", "internal/mongo/wire"},
	"mongotest/internal/permission": {
		"mongotest/internal/account", "mongotest/internal/query", "mongotest/internal/fields", "internal/mongo/wire",
	},
	"mongotest/internal/stableapi": {
		"mongotest/internal/query", "mongotest/internal/fields", "mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongotest/internal/failpoint": {
		"mongotest/internal/query", "mongotest/internal/fields", "mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongotest/internal/pipeline": {
		"mongotest/internal/expr", "mongotest/internal/query", "mongotest/internal/javascript", "mongotest/internal/mongoerr",
		"mongotest/internal/version", "internal/mongo/wire",
	},
	"mongotest/internal/backtrack": {},
	"mongotest/internal/expr": {
		"mongotest/internal/javascript", "mongotest/internal/query", "mongotest/internal/backtrack",
		"mongotest/internal/version", "mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongotest/internal/geo":        {},
	"mongotest/internal/fulltext":   {"internal/mongo/wire"},
	"mongotest/internal/javascript": {"mongotest/internal/query", "mongotest/internal/mongoerr", "internal/mongo/wire"},
	"mongotest/internal/query": {
		"mongotest/internal/backtrack", "mongotest/internal/geo", "mongotest/internal/fulltext",
		"mongotest/internal/mongoerr", "internal/mongo/wire",
	},
	"mongotest/internal/collation":       {"mongotest/internal/query", "mongotest/internal/mongoerr", "internal/mongo/wire"},
	"mongotest/internal/fields":          {"mongotest/internal/query", "mongotest/internal/mongoerr", "internal/mongo/wire"},
	"mongotest/internal/version":         {"mongotest/internal/mongoerr"},
	"mongotest/internal/mongoerr":        {},
	"internal/devtools/figures":          {},
	"internal/devtools/flaky":            {},
	"internal/devtools/mutation":         {},
	"internal/cli/paint":                 {},
	"internal/cli/prove":                 {"internal/cli/paint", "mongo", "mongotest", "couchbase", "couchbasetest", "internal/couchbase/memd", "internal/base/mutant", "mongo/once", "retry", "retry/mongoreason"},
	"cmd/holdfast":                       {"internal/base/filelock", "internal/cli/paint", "internal/cli/inspect", "internal/cli/rules", "mongo", "mongo/once", "internal/cli/mockcontrol", "internal/cli/prove", "internal/cli/report", "mongotest", "couchbasetest"},
	"internal/cli/inspect":               {"internal/cli/paint", "internal/mongo/topology", "mongo"},
	"internal/cli/report":                {"internal/cli/prove"},
	"internal/cli/rules":                 {"internal/couchbase/memd", "retry", "retry/couchbasereason", "retry/mongoreason"},
	"internal/cli/mockcontrol":           {"couchbasetest"},
	"internal/devtools/spectest":         {"internal/base/filelock"},
	"internal/devtools/spectest/unified": {"mongo"}, // with the build tag spec_holdfast
}

func TestAPackageImportsOnlyWhatStandsBelowIt(t *testing.T) {
	pkgs := append(ofThisModule(t), list(t, "-tags=spec_holdfast", "./internal/devtools/spectest/...")...)
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
	"mongotest": {
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
