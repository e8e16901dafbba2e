package dropin

import (
	"bytes"
	"fmt"
	"go/importer"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
)

const (
	officialPath = "go.mongodb.org/mongo-driver/v2/mongo"
	oursPath     = "github.com/holdfast-db/holdfast/mongo"
)

// load returns the types of the two packages. Types of other packages are the same in both.
func load(t *testing.T) (official, ours *types.Package) {
	t.Helper()
	exports := exportFiles(t)
	gc := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		file := exports[path]
		if file == "" {
			return nil, fmt.Errorf("there are no types of %s", path)
		}
		return os.Open(file)
	})
	var packages [2]*types.Package
	for i, path := range []string{officialPath, oursPath} {
		var err error
		if packages[i], err = gc.Import(path); err != nil {
			t.Fatal(err)
		}
	}
	return packages[0], packages[1]
}

// exportFiles returns the file with the types of each package that the two need.
func exportFiles(t *testing.T) map[string]string {
	t.Helper()
	list := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}", officialPath, oursPath)
	var problems bytes.Buffer
	list.Stderr = &problems
	out, err := list.Output()
	if err != nil {
		t.Fatalf("go list: %v: %s", err, problems.String())
	}
	files := make(map[string]string)
	for line := range strings.Lines(string(out)) {
		if path, file, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			files[path] = file
		}
	}
	return files
}
