package dropin

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/exportedapi"
)

const (
	officialPath = "github.com/couchbase/gocb/v2"
	corePath     = "github.com/couchbase/gocbcore/v10"
	oursPath     = "github.com/holdfast-db/holdfast/couchbase"
	unsupported  = "testdata/unsupported.txt"
)

// load returns the exported APIs of the two packages.
func load(t *testing.T) (official, ours exportedapi.API) {
	t.Helper()
	packages := exportedapi.Load(t, officialPath, oursPath)
	reader := exportedapi.Reader{
		Packages: map[string]string{
			officialPath: "couchbase", officialPath + "/search": "search", officialPath + "/vector": "vector",
			oursPath: "couchbase", oursPath + "/search": "search", oursPath + "/vector": "vector",
		},
		Types: map[string]string{
			corePath + "/memd.StatusCode": "couchbase.StatusCode",
			"*" + corePath + ".dwError":   "error", // of the two timeouts
		},
	}
	return reader.Read(packages[0]), reader.Read(packages[1])
}

// area returns the part of the API that a name belongs to.
func area(name string) string {
	for _, a := range areas {
		if a.matching.MatchString(name) {
			return a.name
		}
	}
	return ""
}

// outside returns why a name is out of scope, or "".
func outside(name string) string {
	for _, row := range outOfScope {
		if row.matching.MatchString(name) {
			return row.reason
		}
	}
	return ""
}

// owner returns the type of a field or a method, or the name itself.
func owner(name string) string {
	owner, _, _ := strings.Cut(name, ".")
	return owner
}

// listed reports whether a table has a name, or its type.
func listed[V any](table map[string]V, name string) bool {
	_, ok := table[name]
	_, hasOwner := table[owner(name)]
	return ok || hasOwner
}

// readUnsupported returns the names of the file. A type stands there for its fields and methods too, if it is missing as a whole.
func readUnsupported(t *testing.T) map[string]bool {
	t.Helper()
	b, err := os.ReadFile(unsupported)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for line := range strings.Lines(string(b)) {
		if name := strings.TrimSpace(line); name != "" {
			names[name] = true
		}
	}
	return names
}

// count is what is known of one area.
type count struct{ covered, missing int }

func TestTheExportedAPIIsGocbs(t *testing.T) {
	official, ours := load(t)
	found := exportedapi.Differences(official, ours)
	pending := readUnsupported(t)
	counts, outOfScopeCounts := make(map[string]count), make(map[string]int)
	var all count
	for _, name := range slices.Sorted(maps.Keys(official)) {
		reason, difference := outside(name), found[name]
		switch {
		case reason != "":
			outOfScopeCounts[reason]++
			continue
		case difference == "":
			all.covered++
		case listed(different, name):
			t.Logf("%s: %s is %s", area(name), name, difference)
			continue
		default:
			all.missing++
			if !listed(pending, name) {
				t.Errorf("%s: %s is %s", area(name), name, difference)
			}
		}
		c := counts[area(name)]
		if difference == "" {
			c.covered++
		} else {
			c.missing++
		}
		counts[area(name)] = c
	}
	for name := range pending {
		if found[name] == "" {
			t.Errorf("%s is as in gocb; delete its line in %s", name, unsupported)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		fmt.Printf("%-14s %4d covered, %4d missing\n", name, counts[name].covered, counts[name].missing)
	}
	for _, reason := range slices.Sorted(maps.Keys(outOfScopeCounts)) {
		fmt.Printf("out of scope: %-26s %4d\n", reason, outOfScopeCounts[reason])
	}
	fmt.Printf("figure gocb-names-covered %d\nfigure gocb-names-missing %d\n", all.covered, all.missing)
}

// Every row of the tables is needed.
func TestTheTablesHaveNoSpareRow(t *testing.T) {
	official, ours := load(t)
	differences := exportedapi.Differences(official, ours)
	for name := range different {
		if differences[name] == "" {
			t.Errorf("%s is as in gocb; delete its row", name)
		}
	}
	for _, row := range outOfScope {
		found := false
		for name := range official {
			found = found || row.matching.MatchString(name)
		}
		if !found {
			t.Errorf("no name of gocb is about %s; delete the row", row.reason)
		}
	}
	for name := range ours {
		if reason := outside(name); reason != "" {
			t.Errorf("package couchbase has %s, but %s are out of scope", name, reason)
		}
	}
}

// Each kind of difference is noticed.
func TestDifferences(t *testing.T) {
	want, _ := load(t)
	for _, name := range []string{
		"Connect", "Cluster.Bucket", "Collection.Get", "GetOptions.Project", "ErrDocumentNotFound", "KeyValueError.StatusCode", "RetryStrategy.RetryAfter",
		"DurabilityLevelMajority", "Cas", "MutationResult.Cas", "SearchRequest.SearchQuery",
	} {
		if want[name] == "" {
			t.Errorf("gocb has no %s", name)
		}
		changed := maps.Clone(want)
		delete(changed, name)
		if exportedapi.Differences(want, changed)[name] == "" {
			t.Errorf("nobody notices that %s is missing", name)
		}
		changed[name] = "something else"
		if exportedapi.Differences(want, changed)[name] == "" {
			t.Errorf("nobody notices that %s is different", name)
		}
	}
}

// TestWriteUnsupported writes the file anew if HOLDFAST_WRITE_NAMES is set. It is for someone who added names to package couchbase.
func TestWriteUnsupported(t *testing.T) {
	if os.Getenv("HOLDFAST_WRITE_NAMES") == "" {
		t.Skip("HOLDFAST_WRITE_NAMES is not set")
	}
	official, ours := load(t)
	found := exportedapi.Differences(official, ours)
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if outside(name) != "" || listed(different, name) {
			continue
		}
		if o := owner(name); o != name && strings.HasPrefix(found[o], "missing") {
			continue // the line of its type is enough
		}
		lines = append(lines, name+"\n")
	}
	if err := os.WriteFile(unsupported, []byte(strings.Join(lines, "")), 0o644); err != nil {
		t.Fatal(err)
	}
}
