//go:build spec_holdfast

package spec

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
	"github.com/holdfast-db/holdfast/internal/devtools/spectest/unified"
	"github.com/holdfast-db/holdfast/mongo"
)

// engine is the real server in HOLDFAST_MONGODB_URI, which is a standalone.
type engine struct {
	uri   string
	facts unified.Facts
}

var _ unified.Deployment = engine{}

func (e engine) URI() string                      { return e.uri }
func (e engine) SingleURI() string                { return e.uri }
func (e engine) Configure(*options.ClientOptions) {}
func (e engine) Facts() unified.Facts             { return e.facts }

func engineOf(t *testing.T) engine {
	t.Helper()
	uri := spectest.Server(t)
	client, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Disconnect(t.Context())
	var info struct{ Version string }
	if err := client.Database("admin").RunCommand(t.Context(), bson.D{{Key: "buildInfo", Value: 1}}).Decode(&info); err != nil {
		t.Fatal(err)
	}
	version, _, _ := strings.Cut(info.Version, "-")
	return engine{uri, unified.Facts{Version: version, Topology: "single"}}
}

// caseLimit is longer than the engine needs to come back after it has ended.
const caseLimit = 30 * time.Second

// engineSuites are the suites with cases that a standalone without sessions and fail points can run.
var engineSuites = []string{
	"collection-management", "command-logging-and-monitoring", "crud", "index-management", "read-write-concern/tests/operation", "run-command",
	"unified-test-format/tests/valid-pass", "versioned-api",
}

// engineTable lists the cases that do not pass on the engine, with the reasons.
const engineTable = "expected_engine.json"

// TestClientOnTheEngine runs the cases that a standalone may run on MongoDB's own engine, one after the other, because they
// share its databases.
func TestClientOnTheEngine(t *testing.T) {
	table, e := readTable(t, engineTable), engineOf(t)
	root := spectest.Folder(t)
	var results []result
	for _, suite := range engineSuites {
		for _, file := range filesIn(t, root, suite) {
			t.Run(file, func(t *testing.T) {
				for _, r := range e.runFile(t, root, file) {
					results = append(results, r)
					if v := verdict(table, readMissing(t), r); v != "" && !*update {
						t.Errorf("%s: %s", r.name, v)
					}
				}
			})
		}
	}
	if *update {
		writeFile(t, engineTable, updated(table, results))
		return
	}
	for _, name := range unknown(table, results) {
		t.Errorf("%s lists a case that there is not: %s", engineTable, name)
	}
	counts := make(map[outcome]int)
	for _, r := range results {
		counts[r.outcome()]++
	}
	fmt.Printf("not for a standalone: %d\n", counts[skipped])
	fmt.Printf("figure spec-engine-passed %d\n", counts[passes])
	fmt.Printf("figure spec-engine-skipped %d\n", counts[fails]+counts[unsupported])
}

// runFile runs the cases of a file. The engine ends now and then and comes back, so a case whose connection broke is run
// once more.
func (e engine) runFile(t *testing.T, root, file string) []result {
	f, err := unified.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return nil // TestClientOnMongotest checks the files that cannot be read
	}
	var results []result
	for i := range f.Tests {
		r := result{file: file, name: f.Tests[i].Description}
		if r.err = e.facts.Admit(f, &f.Tests[i]); r.err == nil {
			if r.err = e.run(t, f, &f.Tests[i]); r.err != nil && mongo.IsNetworkError(r.err) {
				r.err = e.run(t, f, &f.Tests[i])
			}
		}
		results = append(results, r)
	}
	return results
}

func (e engine) run(t *testing.T, f *unified.File, c *unified.Test) error {
	ctx, cancel := context.WithTimeout(t.Context(), caseLimit)
	defer cancel()
	runner := unified.Runner{Deployment: e, SetInternal: setInternal}
	return runner.Run(ctx, f, c)
}
