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

// The bars of issue 25 are 5,000 lines, 120 methods, 60 functions and 60 files. A ceiling is the measured value and 3 % more, never above the
// bar; a commit that raises one says why.
const (
	mostKnotLines     = 5000
	mostMethods       = 106
	mostMutexFuncs    = 39
	mostFilesOfFolder = 60
	mostCallFields    = 40
)

// checked is a package as the compiler sees it, without its tests.
type checked struct {
	pkg   *types.Package
	fset  *token.FileSet
	lines map[string]int             // of each file, by its name
	needs map[string]map[string]bool // which files a file uses names of
	files []*ast.File
	uses  map[*ast.Ident]types.Object
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
	for _, name := range named(t, dir).GoFiles {
		text := source(t, dir, name)
		f, err := parser.ParseFile(c.fset, name, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, f)
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
	if c.pkg, err = config.Check(module+dir, c.fset, c.files, info); err != nil {
		t.Fatal(err)
	}
	c.uses = info.Uses
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

// source returns the text of a file of the module.
func source(t *testing.T, dir, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("../../..", dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return text
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

// mongotestPackages are mongotest and the packages below it of which a condition is true.
func mongotestPackages(t *testing.T, wanted func(p pkg) bool) []string {
	t.Helper()
	var list []string
	for path, p := range loaded(t) {
		dir, ok := strings.CutPrefix(path, module)
		if ok && (dir == "mongotest" || strings.HasPrefix(dir, "mongotest/internal/")) && wanted(p) {
			list = append(list, dir)
		}
	}
	slices.Sort(list)
	return list
}

// servesCommands reports whether a package knows the replica set.
func servesCommands(p pkg) bool {
	return slices.Contains(p.Deps, module+"mongotest/internal/replica")
}

// isLong reports whether a package has enough lines to have a knot that is too large.
func isLong(t *testing.T) func(p pkg) bool {
	return func(p pkg) bool {
		lines := 0
		for _, name := range p.GoFiles {
			lines += bytes.Count(source(t, strings.TrimPrefix(p.ImportPath, module), name), []byte("\n"))
		}
		return lines > mostKnotLines
	}
}

// largest-knot-lines: two files need each other if each uses a name that the other declares (an identifier, a method or a field,
// as the compiler resolves it), directly or through further files. Only files of one package count, and no tests.
func TestMongotestsLargestKnotIsSmallEnough(t *testing.T) {
	most := 0
	for _, dir := range mongotestPackages(t, isLong(t)) {
		c := check(t, dir)
		files, lines := c.largestKnot()
		if lines > mostKnotLines {
			t.Errorf("%s: a group of %d files that need each other has %d lines, more than %d: %s", dir, len(files), lines, mostKnotLines, strings.Join(files, " "))
		}
		most = max(most, lines)
	}
	fmt.Printf("figure largest-knot-lines %d\n", most)
}

// most-methods-of-a-type counts the methods of a pointer to a type, with those of what it embeds. Only packages that know the replica set count.
func TestMongotestsTypesHaveFewMethods(t *testing.T) {
	most, of := 0, ""
	for _, dir := range mongotestPackages(t, servesCommands) {
		scope := check(t, dir).pkg.Scope()
		for _, name := range scope.Names() {
			typ, ok := scope.Lookup(name).(*types.TypeName)
			if !ok || types.IsInterface(typ.Type()) {
				continue
			}
			if n := types.NewMethodSet(types.NewPointer(typ.Type())).Len(); n > most {
				most, of = n, dir+"."+name
			}
		}
	}
	t.Logf("%s has %d methods", of, most)
	fmt.Printf("figure most-methods-of-a-type %d\n", most)
	if most > mostMethods {
		t.Errorf("%s has %d methods, more than %d", of, most, mostMethods)
	}
}

// mutex-functions: those outside replica that lock or unlock the set's mutex, or must be called with it held, which their names say. What a
// call does with the mutex held takes a call.Locked, which only those have who hold it: that is no rule to know, and not counted.
func TestFewFunctionsKnowTheSetsMutex(t *testing.T) {
	n := 0
	for _, dir := range mongotestPackages(t, servesCommands) {
		found := check(t, dir).mutexFunctions()
		t.Logf("%s: %d", dir, found)
		n += found
	}
	fmt.Printf("figure mutex-functions %d\n", n)
	if n > mostMutexFuncs {
		t.Errorf("%d functions lock the set's mutex or need it, more than %d", n, mostMutexFuncs)
	}
}

// mutexFunctions returns how many of the package's functions lock the set's mutex or must be called with it held.
func (c *checked) mutexFunctions() int {
	n := 0
	for _, f := range c.files {
		for _, d := range f.Decls {
			if function, ok := d.(*ast.FuncDecl); ok && (strings.HasSuffix(function.Name.Name, "Locked") || c.usesSetsMutex(function)) {
				n++
			}
		}
	}
	return n
}

// usesSetsMutex reports whether a function locks or unlocks the set's mutex.
func (c *checked) usesSetsMutex(function *ast.FuncDecl) bool {
	uses := false
	ast.Inspect(function, func(n ast.Node) bool {
		id, ok := n.(*ast.Ident)
		uses = uses || ok && isSetsMutex(c.uses[id])
		return !uses
	})
	return uses
}

// isSetsMutex reports whether an object is a method that locks or unlocks the set's mutex.
func isSetsMutex(object types.Object) bool {
	f, ok := object.(*types.Func)
	if !ok || f.Name() != "Lock" && f.Name() != "Unlock" {
		return false
	}
	recv := f.Signature().Recv()
	return recv != nil && strings.HasSuffix(recv.Type().String(), "mongotest/internal/replica.Set")
}

// widest-internal-folder counts Go files without tests.
func TestMongotestsFoldersAreNarrow(t *testing.T) {
	widest, where := 0, ""
	for _, dir := range mongotestPackages(t, func(pkg) bool { return true }) {
		if n := len(named(t, dir).GoFiles); n > widest {
			widest, where = n, dir
		}
	}
	fmt.Printf("figure widest-internal-folder %d\n", widest)
	if widest > mostFilesOfFolder {
		t.Errorf("%s has %d files, more than %d", where, widest, mostFilesOfFolder)
	}
}

// call-fields: of a Call and the structs that are its fields, the fields of the largest; a struct that is embedded counts with its fields.
func TestACallHasFewFields(t *testing.T) {
	call := check(t, "mongotest/internal/call").pkg.Scope().Lookup("Call")
	if call == nil {
		t.Fatal("there is no type Call")
	}
	most := fields(call.Type(), make(map[types.Type]bool))
	parts := call.Type().Underlying().(*types.Struct)
	for i := range parts.NumFields() {
		if part := parts.Field(i); fromHere(part.Type()) {
			n := fields(part.Type(), make(map[types.Type]bool))
			t.Logf("%s: %d", part.Name(), n)
			most = max(most, n)
		}
	}
	fmt.Printf("figure call-fields %d\n", most)
	if most > mostCallFields {
		t.Errorf("a Call, or one of its parts, has %d fields, more than %d", most, mostCallFields)
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
