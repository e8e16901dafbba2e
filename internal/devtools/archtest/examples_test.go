package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// withExamples are the packages whose exported types each have a runnable example.
var withExamples = []string{"retry", "mongo", "mongotest", "mongo/once", "couchbase", "telemetry/metrics"}

// withoutExample are the types that need no example, with the reason.
var withoutExample = map[string]string{
	"mongo.ClientEncryption": "client-side encryption is not supported: all methods return an error that says so",

	"couchbase.AggregatingMeterOptions": "it is deprecated; LoggingMeterOptions is shown",
	"couchbase.SubdocFlag":              "no function takes it: the options of the specs set it",
}

// An exported type is in an example that runs: an Example function with an output uses it by name, or the type is the parameter, the result or
// the field of something that one uses. Aliases of the official module's types are documented there.
func TestEveryExportedTypeHasARunnableExample(t *testing.T) {
	excepted := maps.Clone(withoutExample)
	for _, dir := range withExamples {
		pkg := check(t, dir).pkg
		shown := shownIn(t, dir, pkg)
		var missing []string
		for _, name := range pkg.Scope().Names() {
			object, ok := pkg.Scope().Lookup(name).(*types.TypeName)
			if !ok || !object.Exported() || isForeign(object) || shown[object] {
				continue
			}
			key := dir + "." + name
			if excepted[key] == "" {
				missing = append(missing, name)
			}
			delete(excepted, key)
		}
		if len(missing) > 0 {
			t.Errorf("%s: no runnable example shows %s", dir, strings.Join(missing, ", "))
		}
	}
	for name := range excepted {
		t.Errorf("withoutExample has %s, which an example shows or which is no exported type", name)
	}
}

// isForeign reports whether a name is an alias of a type of another package.
func isForeign(object *types.TypeName) bool {
	if !object.IsAlias() {
		return false
	}
	named, ok := types.Unalias(object.Type()).(*types.Named)
	return !ok || named.Obj().Pkg() != object.Pkg()
}

// shownIn returns the types that the package's examples with an output show.
func shownIn(t *testing.T, dir string, pkg *types.Package) map[types.Object]bool {
	t.Helper()
	used := map[string]bool{}
	p := named(t, dir)
	for _, name := range append(slices.Clone(p.TestGoFiles), p.XTestGoFiles...) {
		text, err := os.ReadFile(filepath.Join("../../..", dir, name))
		if err != nil {
			t.Fatal(err)
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		usedIn(f, used)
	}
	return shownBy(pkg, used)
}

// usedIn adds the names that the examples of a file use. A file with an example shows what its other declarations use too.
func usedIn(f *ast.File, used map[string]bool) {
	runs := slices.ContainsFunc(f.Comments, func(c *ast.CommentGroup) bool {
		text := strings.ToLower(strings.TrimSpace(c.Text()))
		return strings.HasPrefix(text, "output:") || strings.HasPrefix(text, "unordered output:")
	})
	if !runs {
		return
	}
	for _, d := range f.Decls {
		ast.Inspect(d, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				used[id.Name] = true
			}
			return true
		})
	}
}

// shownBy returns the types whose names are used, and those of the parameters, the results and the fields of functions, methods and types
// whose names are used.
func shownBy(pkg *types.Package, used map[string]bool) map[types.Object]bool {
	shown := map[types.Object]bool{}
	show := func(typ types.Type) {
		for _, o := range namedIn(typ) {
			shown[o] = true
		}
	}
	for _, name := range pkg.Scope().Names() {
		object := pkg.Scope().Lookup(name)
		if used[name] {
			if _, isType := object.(*types.TypeName); isType {
				shown[object] = true
			}
			show(object.Type())
		}
		named, ok := types.Unalias(object.Type()).(*types.Named)
		if _, isType := object.(*types.TypeName); !ok || !isType {
			continue
		}
		for m := range named.Methods() {
			if used[m.Name()] {
				show(m.Type())
			}
		}
		if s, ok := named.Underlying().(*types.Struct); ok && used[name] {
			for field := range s.Fields() {
				if used[field.Name()] {
					show(field.Type())
				}
			}
		}
	}
	return shown
}

// namedIn returns the named types in a type, not those in the fields of a named type.
func namedIn(typ types.Type) []types.Object {
	switch t := typ.(type) {
	case *types.Named:
		return []types.Object{t.Obj()}
	case *types.Alias:
		return []types.Object{t.Obj()}
	case *types.Pointer:
		return namedIn(t.Elem())
	case *types.Slice:
		return namedIn(t.Elem())
	case *types.Array:
		return namedIn(t.Elem())
	case *types.Map:
		return append(namedIn(t.Key()), namedIn(t.Elem())...)
	case *types.Chan:
		return namedIn(t.Elem())
	case *types.Signature:
		var all []types.Object
		for _, tuple := range []*types.Tuple{t.Params(), t.Results()} {
			for v := range tuple.Variables() {
				all = append(all, namedIn(v.Type())...)
			}
		}
		return all
	}
	return nil
}
