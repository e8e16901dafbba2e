package shop

import (
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/interop/internal/swap"
)

// TestWithOurImport runs the package's other tests with one line of each file changed: the import of the client.
func TestWithOurImport(t *testing.T) {
	out, changed, err := swap.Test(t, "-skip", "^TestWithOurImport$")
	t.Logf("%d files with another import\n%s", changed, out)
	for _, name := range []string{
		"TestCatalogue", "TestSubdocuments", "TestBytes", "TestLocksAndTheStrategy", "TestBulk", "TestOrders", "TestFailOver",
	} {
		if !strings.Contains(out, "--- PASS: "+name+" ") {
			t.Errorf("%s did not pass", name)
		}
	}
	if err != nil || changed < 6 {
		t.Errorf("%d files were changed; %v", changed, err)
	}
}
