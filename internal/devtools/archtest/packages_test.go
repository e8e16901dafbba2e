package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/holdfast-db/holdfast/"

// pkg is what `go list -json` says of a package, as far as the rules look at it.
type pkg struct {
	ImportPath   string
	Standard     bool
	Doc          string
	Export       string // the file with its compiled types
	Imports      []string
	Deps         []string
	GoFiles      []string
	TestGoFiles  []string
	XTestGoFiles []string
	Module       *struct{ Path, Version string }
}

const wanted = "-json=ImportPath,Standard,Doc,Export,Imports,Deps,GoFiles,TestGoFiles,XTestGoFiles,Module"

// loadAll loads the packages of the module, and those that they import, by import path. It is called once, because it takes seconds.
var loadAll = sync.OnceValues(func() (map[string]pkg, error) {
	all, err := goList("-export", "-deps", "./...")
	byPath := make(map[string]pkg, len(all))
	for _, p := range all {
		byPath[p.ImportPath] = p
	}
	return byPath, err
})

func loaded(t *testing.T) map[string]pkg {
	t.Helper()
	all, err := loadAll()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// ofThisModule returns the packages of the module.
func ofThisModule(t *testing.T) (ours []pkg) {
	t.Helper()
	for path, p := range loaded(t) {
		if strings.HasPrefix(path, module) {
			ours = append(ours, p)
		}
	}
	return ours
}

// named returns the module's package of a folder.
func named(t *testing.T, folder string) pkg {
	t.Helper()
	p, ok := loaded(t)[module+folder]
	if !ok {
		t.Fatalf("there is no package %s", folder)
	}
	return p
}

func list(t *testing.T, args ...string) []pkg {
	t.Helper()
	pkgs, err := goList(args...)
	if err != nil {
		t.Fatal(err)
	}
	return pkgs
}

func goList(args ...string) ([]pkg, error) {
	cmd := exec.Command("go", append([]string{"list", wanted}, args...)...)
	cmd.Dir = "../../.."
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		if errors.As(err, &failed) {
			return nil, fmt.Errorf("go list: %w: %s", err, failed.Stderr)
		}
		return nil, fmt.Errorf("go list: %w", err)
	}
	var pkgs []pkg
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return pkgs, nil
		} else if err != nil {
			return nil, err
		}
		pkgs = append(pkgs, p)
	}
}
