package unified

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongo"
)

// These tests read the sources and need no build tag, so that `go test ./...` fails when our client has gained a name or a
// method that bind_holdfast*.go calls missing.

const (
	ourBindings = "bind_holdfast*.go"
	ourClient   = "../../../mongo/*.go"
)

func TestAMissingNameIsNoNameOfOurClient(t *testing.T) {
	official, ours, client := declarations(t, "bind_official.go"), declarations(t, ourBindings), declarations(t, ourClient)
	missing := 0
	for local, declaration := range official {
		for name := range namesOfClient(declaration) {
			switch {
			case ours[local] != nil && namesOfClient(ours[local])[name]:
			case client[name] != nil:
				t.Errorf("our client has %s now: bind %s to it", name, local)
			default:
				missing++
			}
		}
	}
	if missing == 0 {
		t.Error("no name is missing: this test has nothing more to do")
	}
}

func TestAMissingMethodIsNoMethodOfOurClient(t *testing.T) {
	clients := map[string]reflect.Type{
		"missingFromClient":     reflect.TypeFor[*mongo.Client](),
		"missingFromDatabase":   reflect.TypeFor[*mongo.Database](),
		"missingFromCollection": reflect.TypeFor[*mongo.Collection](),
	}
	missing := 0
	for name := range declarations(t, ourBindings) {
		receiver, method, isMethod := strings.Cut(name, ".")
		client := clients[receiver]
		if !isMethod || client == nil {
			continue
		}
		missing++
		if _, has := client.MethodByName(method); has {
			t.Errorf("%v has the method %s now: take it out of %s", client, method, receiver)
		}
	}
	if missing == 0 {
		t.Error("no method is missing: this test has nothing more to do")
	}
}

// namesOfClient returns the names of a package "mongo" that a declaration uses.
func namesOfClient(declaration ast.Node) map[string]bool {
	names := make(map[string]bool)
	ast.Inspect(declaration, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			if from, ok := s.X.(*ast.Ident); ok && from.Name == "mongo" {
				names[s.Sel.Name] = true
			}
		}
		return true
	})
	return names
}

// declarations returns what files declare, but for their tests; a method is named "Type.Method".
func declarations(t *testing.T, pattern string) map[string]ast.Node {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	found := make(map[string]ast.Node)
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			addDeclaration(found, d)
		}
	}
	if len(found) == 0 {
		t.Fatalf("%s declares nothing", pattern)
	}
	return found
}

func addDeclaration(to map[string]ast.Node, d ast.Decl) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		to[receiverOf(d)+d.Name.Name] = d
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.TypeSpec:
				to[s.Name.Name] = s
			case *ast.ValueSpec:
				for _, name := range s.Names {
					to[name.Name] = s
				}
			}
		}
	}
}

// receiverOf returns "Type." for a method.
func receiverOf(d *ast.FuncDecl) string {
	if d.Recv == nil {
		return ""
	}
	t := d.Recv.List[0].Type
	if pointer, ok := t.(*ast.StarExpr); ok {
		t = pointer.X
	}
	if name, ok := t.(*ast.Ident); ok {
		return name.Name + "."
	}
	return ""
}
