package dropin

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/exportedapi"
)

const (
	officialPath = "go.mongodb.org/mongo-driver/v2/mongo"
	oursPath     = "github.com/holdfast-db/holdfast/mongo"
)

// load returns the exported APIs of the two packages.
func load(t *testing.T) (official, ours exportedapi.API) {
	t.Helper()
	packages := exportedapi.Load(t, officialPath, oursPath)
	reader := exportedapi.Reader{Packages: map[string]string{officialPath: "mongo", oursPath: "mongo"}}
	return reader.Read(packages[0]), reader.Read(packages[1])
}

func TestTheExportedAPIIsTheOfficialOne(t *testing.T) {
	official, ours := load(t)
	found := exportedapi.Differences(official, ours)
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if reason, ok := allowed[name]; ok {
			t.Logf("%s is %s (%s)", name, found[name], reason)
			continue
		}
		t.Errorf("%s is %s", name, found[name])
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if found[name] == "" {
			t.Errorf("%s is as in the official package; delete its row", name)
		}
	}
	fmt.Printf("figure api-names %d\nfigure api-missing %d\n", len(official), len(found))
}

// Each kind of difference is noticed.
func TestDifferences(t *testing.T) {
	want, got := load(t)
	for _, name := range []string{
		"Connect", "Client.Database", "Collection.InsertOne", "Cursor.Current", "ErrNoDocuments", "CommandError.Labels", "CommandError.HasErrorCode",
		"ServerError.ErrorCodes", "DefaultGridFSChunkSize", "Pipeline", "WriteErrors.Error",
	} {
		if want[name] == "" {
			t.Errorf("the official package has no %s", name)
		}
		changed := maps.Clone(got)
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
