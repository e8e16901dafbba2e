package official

import (
	"os"
	"strings"
	"testing"
)

// otherImports turns the text of package official into that of package ours.
var otherImports = strings.NewReplacer(
	"// Package official has one call of the client for each key-value operation and option. Package ours is the same text with\n// other imports.\npackage official",
	"// Package ours is the text of package official with other imports.\npackage ours",
	"package official", "package ours",
	`couchbase "github.com/couchbase/gocb/v2"`, `"github.com/holdfast-db/holdfast/couchbase"`,
)

// TestBothClientsRunTheSameText writes package ours anew if UPDATE is set.
func TestBothClientsRunTheSameText(t *testing.T) {
	for _, file := range []string{"connect.go", "operations.go", "parts.go", "others.go"} {
		official, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		want := otherImports.Replace(string(official))
		if os.Getenv("UPDATE") != "" {
			if err := os.WriteFile("../ours/"+file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		ours, err := os.ReadFile("../ours/" + file)
		if err != nil {
			t.Fatal(err)
		}
		if string(ours) != want {
			t.Errorf("ours/%s is not official/%s with other imports; set UPDATE to write it", file, file)
		}
	}
}
