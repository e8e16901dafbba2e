package archtest

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	mongotest = "mongotest"

	mostComponentLines = 4180
	mostExecFields     = 40
)

// checked is a package as the compiler sees it, without its tests.
type checked struct {
	pkg   *types.Package
	fset  *token.FileSet
	lines map[string]int             // of each file, by its name
	needs map[string]map[string]bool // which files a file uses names of
}

// checkedBefore has the packages that were checked: a large one takes a second.
var checkedBefore = make(map[string]*checked)

// check type-checks a package of the module.
func check(t *testing.T, dir string) *checked {
	t.Helper()
	if c := checkedBefore[dir]; c != nil {
		return c
	}
	all := loaded(t)
	c := &checked{fset: token.NewFileSet(), lines: make(map[string]int), needs: make(map[string]map[string]bool)}
	var files []*ast.File
	for _, name := range named(t, dir).GoFiles {
		text, err := os.ReadFile(filepath.Join("../../..", dir, name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(c.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
		c.lines[name] = bytes.Count(text, []byte("\n"))
		c.needs[name] = make(map[string]bool)
	}
	config := types.Config{Importer: importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if all[path].Export == "" {
			return nil, errors.New("there is no export data")
		}
		return os.Open(all[path].Export)
	})}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	var err error
	if c.pkg, err = config.Check(module+dir, c.fset, files, info); err != nil {
		t.Fatal(err)
	}
	for name, object := range info.Uses {
		if object.Pkg() != c.pkg {
			continue
		}
		user, declarer := c.fset.Position(name.Pos()).Filename, c.fset.Position(object.Pos()).Filename
		if user != declarer {
			c.needs[user][declarer] = true
		}
	}
	checkedBefore[dir] = c
	return c
}

// reached returns the files that a file needs, directly or through others.
func (c *checked) reached(from string) map[string]bool {
	found := make(map[string]bool)
	for left := []string{from}; len(left) > 0; {
		name := left[len(left)-1]
		left = left[:len(left)-1]
		for next := range c.needs[name] {
			if !found[next] {
				found[next] = true
				left = append(left, next)
			}
		}
	}
	return found
}

// largestKnot returns the files of the largest group in which each file needs each other, and their lines.
func (c *checked) largestKnot() (files []string, lines int) {
	reached := make(map[string]map[string]bool)
	for name := range c.needs {
		reached[name] = c.reached(name)
	}
	for name := range c.needs {
		group, n := []string{name}, c.lines[name]
		for other := range reached[name] {
			if other != name && reached[other][name] {
				group, n = append(group, other), n+c.lines[other]
			}
		}
		if n > lines {
			files, lines = group, n
		}
	}
	slices.Sort(files)
	return files, lines
}

// largest-knot-lines: two files need each other if each uses a name that the other declares (an identifier, a method or a field,
// as the compiler resolves it), directly or through further files. Only files of the package count, and no tests.
func TestMongotestsLargestKnotIsSmallEnough(t *testing.T) {
	c := check(t, mongotest)
	files, lines := c.largestKnot()
	t.Logf("%d of %d files need each other: %s", len(files), len(c.lines), strings.Join(files, " "))
	fmt.Printf("figure largest-knot-lines %d\n", lines)
	if lines > mostComponentLines {
		t.Errorf("mongotest's largest group of files that need each other has %d lines, more than %d", lines, mostComponentLines)
	}
}

// exec-fields counts the fields of exec, and instead of an embedded struct of mongotest the fields of that struct. Of
// exec and the structs that are its fields, it is the count of the largest.
func TestMongotestsExecHasFewFields(t *testing.T) {
	c := check(t, mongotest)
	exec := c.pkg.Scope().Lookup("exec")
	if exec == nil {
		t.Fatal("there is no type exec")
	}
	most := fields(exec.Type(), make(map[types.Type]bool))
	t.Logf("exec: %d", most)
	parts := exec.Type().Underlying().(*types.Struct)
	for i := range parts.NumFields() {
		if part := parts.Field(i); fromHere(part.Type()) {
			n := fields(part.Type(), make(map[types.Type]bool))
			t.Logf("%s: %d", part.Name(), n)
			most = max(most, n)
		}
	}
	fmt.Printf("figure exec-fields %d\n", most)
	if most > mostExecFields {
		t.Errorf("exec, or one of its parts, has %d fields, more than %d", most, mostExecFields)
	}
}

// fields counts a struct's fields, those of embedded structs among them. A struct that is embedded twice counts once.
func fields(typ types.Type, seen map[types.Type]bool) int {
	if p, ok := typ.(*types.Pointer); ok {
		typ = p.Elem()
	}
	s, ok := typ.Underlying().(*types.Struct)
	if !ok || seen[typ] {
		return 0
	}
	seen[typ] = true
	n := 0
	for i := range s.NumFields() {
		if f := s.Field(i); f.Embedded() && fromHere(f.Type()) {
			n += fields(f.Type(), seen)
		} else {
			n++
		}
	}
	return n
}

// fromHere reports whether a type, or what it points to, is declared in this module.
func fromHere(typ types.Type) bool {
	if p, ok := typ.(*types.Pointer); ok {
		typ = p.Elem()
	}
	named, ok := typ.(*types.Named)
	return ok && named.Obj().Pkg() != nil && strings.HasPrefix(named.Obj().Pkg().Path(), module)
}
