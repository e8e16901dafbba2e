package topology

import (
	"errors"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/devtools/spectest"
)

// suites are the folders of which every file is run.
var suites = []string{
	"server-discovery-and-monitoring/tests/rs",
	"server-discovery-and-monitoring/tests/single",
	"server-discovery-and-monitoring/tests/sharded",
	"server-discovery-and-monitoring/tests/load-balanced",
	"server-discovery-and-monitoring/tests/errors",
	"server-selection/tests/server_selection",
	"server-selection/tests/rtt",
	"max-staleness/tests",
}

// notRun has the folders of published files that this package's tests do not run, with the reason.
var notRun = map[string]string{
	"server-discovery-and-monitoring/tests/monitoring": "about events: run by internal/mongo/cluster",
	"server-discovery-and-monitoring/tests/unified":    "needs a client and a server: run by interop/mongo/spec",
	"server-selection/tests/logging":                   "needs a client and a server: run by interop/mongo/spec",
	"server-selection/tests/in_window":                 "chooses by operation counts, which this package does not keep: run by internal/mongo/cluster",
}

// runSuite runs each JSON file under folder as a subtest, and fails if there are fewer than least.
func runSuite[T any](t *testing.T, folder string, least int, run func(*testing.T, T)) {
	root := spectest.Folder(t)
	files := jsonFiles(t, filepath.Join(root, filepath.FromSlash(folder)))
	for _, file := range files {
		name, err := filepath.Rel(filepath.Join(root, filepath.FromSlash(folder)), file)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(path.Base(folder)+"/"+strings.TrimSuffix(filepath.ToSlash(name), ".json"), func(t *testing.T) {
			var spec T
			spectest.Load(t, file, &spec)
			run(t, spec)
		})
	}
	if len(files) < least {
		t.Errorf("%s has %d cases, at least %d are expected", folder, len(files), least)
	}
	t.Logf("%s: %d cases", folder, len(files))
}

func jsonFiles(t *testing.T, folder string) []string {
	t.Helper()
	var files []string
	err := filepath.WalkDir(folder, func(file string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(file) == ".json" {
			files = append(files, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestNoPublishedFolderIsForgotten checks that each published file is either run or listed in notRun.
func TestNoPublishedFolderIsForgotten(t *testing.T) {
	root := spectest.Folder(t)
	for _, suite := range []string{"server-discovery-and-monitoring", "server-selection", "max-staleness"} {
		for _, file := range jsonFiles(t, filepath.Join(root, suite)) {
			name, err := filepath.Rel(root, file)
			if err != nil {
				t.Fatal(err)
			}
			if !covered(filepath.ToSlash(name)) {
				t.Errorf("%s is neither run nor in the table of those that are not", name)
			}
		}
	}
}

func covered(name string) bool {
	for folder := range notRun {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	for _, folder := range suites {
		if strings.HasPrefix(name, folder+"/") {
			return true
		}
	}
	return false
}

// configOf reads the parts of a connection string that the suites use.
func configOf(t *testing.T, uri string) Config {
	t.Helper()
	rest, ok := strings.CutPrefix(uri, "mongodb://")
	hosts, options, _ := strings.Cut(rest, "/")
	query, err := url.ParseQuery(strings.TrimPrefix(options, "?"))
	if !ok || err != nil {
		t.Fatalf("%q is no connection string: %v", uri, err)
	}
	cfg := Config{SetName: query.Get("replicaSet"), LoadBalanced: query.Get("loadBalanced") == "true"}
	for host := range strings.SplitSeq(hosts, ",") {
		if bracket := strings.LastIndex(host, "]"); !strings.Contains(host[bracket+1:], ":") {
			host += ":27017"
		}
		cfg.Seeds = append(cfg.Seeds, host)
	}
	if direct := query.Get("directConnection"); direct != "" {
		cfg.Direct = ptr(direct == "true")
	}
	return cfg
}

func ptr[T any](v T) *T { return &v }

var errConnection = errors.New("connection refused")
