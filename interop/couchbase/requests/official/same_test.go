package official

import (
	"os"
	"strings"
	"testing"
)

// otherImports turns the text of package official into that of package ours.
var otherImports = strings.NewReplacer(
	"// Package official has one call of the client for each operation and option of the HTTP services. Package ours is the same text with\n// other imports.\npackage official",
	"// Package ours is the text of package official with other imports.\npackage ours",
	`couchbase "github.com/couchbase/gocb/v2"`, `"github.com/holdfast-db/holdfast/couchbase"`,
	`"github.com/couchbase/gocb/v2/`, `"github.com/holdfast-db/holdfast/couchbase/`,
)

// TestBothClientsRunTheSameText writes package ours anew if UPDATE is set.
func TestBothClientsRunTheSameText(t *testing.T) {
	official, err := os.ReadFile("operations.go")
	if err != nil {
		t.Fatal(err)
	}
	want := otherImports.Replace(string(official))
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile("../ours/operations.go", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ours, err := os.ReadFile("../ours/operations.go")
	if err != nil {
		t.Fatal(err)
	}
	if string(ours) != want {
		t.Error("ours/operations.go is not official/operations.go with other imports; set UPDATE to write it")
	}
}
