package exportedapi

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

// Load returns the types of packages. Types of other packages are the same in all of them.
func Load(t testing.TB, paths ...string) []*types.Package {
	t.Helper()
	exports := exportFiles(t, paths)
	gc := importer.ForCompiler(token.NewFileSet(), "gc", func(path string) (io.ReadCloser, error) {
		file := exports[path]
		if file == "" {
			return nil, fmt.Errorf("there are no types of %s", path)
		}
		return os.Open(file)
	})
	packages := make([]*types.Package, len(paths))
	for i, path := range paths {
		var err error
		if packages[i], err = gc.Import(path); err != nil {
			t.Fatal(err)
		}
	}
	return packages
}

// exportFiles returns the file with the types of each package that some packages need.
func exportFiles(t testing.TB, paths []string) map[string]string {
	t.Helper()
	args := append([]string{"list", "-export", "-deps", "-f", "{{.ImportPath}} {{.Export}}"}, paths...)
	list := exec.CommandContext(t.Context(), "go", args...)
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
