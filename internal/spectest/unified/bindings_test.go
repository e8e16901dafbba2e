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

// These tests read the sources and need no build tag, so that `go test ./...` fails when our client has gained a method
// that bind_holdfast*.go calls missing.

const ourBindings = "bind_holdfast*.go"

func TestAMissingMethodIsNoMethodOfOurClient(t *testing.T) {
	clients := map[string]reflect.Type{
		"missingFromClient":     reflect.TypeFor[*mongo.Client](),
		"missingFromDatabase":   reflect.TypeFor[*mongo.Database](),
		"missingFromCollection": reflect.TypeFor[*mongo.Collection](),
		"missingFromSession":    reflect.TypeFor[*mongo.Session](),
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
