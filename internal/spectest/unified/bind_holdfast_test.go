//go:build spec_holdfast

package unified

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// clientFolder has the client's source.
const clientFolder = "../../../mongo"

func TestAMissingMethodIsNoMethodOfTheClient(t *testing.T) {
	for _, c := range []struct {
		client  any
		missing any
	}{
		{(*mongo.Client)(nil), missingFromClient{}},
		{(*mongo.Database)(nil), missingFromDatabase{}},
		{(*mongo.Collection)(nil), missingFromCollection{}},
	} {
		gaps := reflect.TypeOf(c.missing)
		if gaps.NumMethod() == 0 {
			t.Errorf("%v has no methods: take it out of its handle", gaps)
		}
		for i := range gaps.NumMethod() {
			name := gaps.Method(i).Name
			if _, has := reflect.TypeOf(c.client).MethodByName(name); has {
				t.Errorf("%T has %s now: take it out of %v", c.client, name, gaps)
			}
		}
	}
}

func TestAMissingMethodReturnsItsOwnName(t *testing.T) {
	for what, missing := range map[string]any{
		"Client": missingFromClient{}, "Database": missingFromDatabase{}, "Collection": missingFromCollection{},
		"IndexView": missingIndexes{}, "SearchIndexView": missingSearchIndexes{}, "GridFSBucket": new(mongoBucket),
		"ChangeStream": new(mongoChangeStream), "Session": new(mongoSession),
	} {
		v := reflect.ValueOf(missing)
		for i := range v.NumMethod() {
			name := what + "." + v.Type().Method(i).Name
			for _, err := range errorsOf(v.Method(i)) {
				if got := mongoMissing(err); got != name {
					t.Errorf("%s returns the error %v, which names %q", name, err, got)
				}
			}
		}
	}
}

// errorsOf calls a method with nothing, and returns its error, or those that are in its result.
func errorsOf(method reflect.Value) []error {
	var in []reflect.Value
	for i := range method.Type().NumIn() {
		if !method.Type().IsVariadic() || i < method.Type().NumIn()-1 {
			in = append(in, reflect.Zero(method.Type().In(i)))
		}
	}
	var errs []error
	for _, out := range method.Call(in) {
		switch result := out.Interface().(type) {
		case error:
			errs = append(errs, result)
		case missingResult:
			_, err := result.Raw()
			errs = append(errs, err, result.Err())
		}
	}
	return errs
}

// TestAMissingNameIsNoNameOfTheClient compares the two files of aliases: a name of the official package that bind_holdfast.go
// binds to something else must be one that the client does not have.
func TestAMissingNameIsNoNameOfTheClient(t *testing.T) {
	client := exported(t, filepath.Join(clientFolder, "*.go"))
	bound := bindings(t, "bind_holdfast*.go")
	official := bindings(t, "bind_official.go")
	if len(official) < 40 || len(client) < 30 {
		t.Fatalf("only %d official bindings and %d names of the client were found", len(official), len(client))
	}
	missing := 0
	for local, names := range official {
		for name := range names {
			switch {
			case bound[local][name]:
			case client[name]:
				t.Errorf("the client has %s now: bind %s to it", name, local)
			default:
				missing++
			}
		}
	}
	t.Logf("%d of %d names are missing", missing, len(official))
}

// bindings returns, for each declaration, the names of the package "mongo" that it uses.
func bindings(t *testing.T, pattern string) map[string]map[string]bool {
	t.Helper()
	found := make(map[string]map[string]bool)
	for name, declaration := range declarations(t, pattern) {
		found[name] = make(map[string]bool)
		ast.Inspect(declaration, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok {
				if from, ok := s.X.(*ast.Ident); ok && from.Name == "mongo" {
					found[name][s.Sel.Name] = true
				}
			}
			return true
		})
	}
	return found
}

// exported returns the exported names that files declare.
func exported(t *testing.T, pattern string) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	for name := range declarations(t, pattern) {
		names[name] = ast.IsExported(name)
	}
	return names
}

// declarations returns what files, but not their tests, declare outside functions. Methods are not among it.
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
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					found[d.Name.Name] = d
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					addSpec(found, s)
				}
			}
		}
	}
	return found
}

func addSpec(to map[string]ast.Node, s ast.Spec) {
	switch s := s.(type) {
	case *ast.TypeSpec:
		to[s.Name.Name] = s
	case *ast.ValueSpec:
		for _, name := range s.Names {
			to[name.Name] = s
		}
	}
}

func TestOnlyTheClientsOwnRefusalIsMissing(t *testing.T) {
	refused := func(opts *options.ClientOptions) error {
		_, err := mongoConnect(opts)
		return err
	}
	for _, c := range []struct {
		name string
		err  error
		what string
	}{
		{"a client's option", refused(options.Client().SetMinPoolSize(1)), "ClientOptions.MinPoolSize"},
		{"an option of the connection string", refused(options.Client().ApplyURI("mongodb://a/?minPoolSize=1")), "minPoolSize"},
		{"a scheme", errors.New("mongo: the scheme mongodb+srv is not supported by Holdfast yet: list the hosts in a mongodb:// URI"), "mongodb+srv"},
		{"streamed checks", refused(options.Client().SetServerMonitoringMode("stream")), `serverMonitoringMode "stream"`},
		{"a method", notThereYet("Client.Watch"), "Client.Watch"},
		{"a method, around which others have put their text", fmt.Errorf("so: %w", notThereYet("Client.Watch")), "Client.Watch"},
		{"no error", nil, ""},
		{"another error", errors.New("mongo: no"), ""},
		{"a text that goes on", errors.New("mongo: option A.B is not supported by Holdfast here"), ""},
		{"a text that contains the refusal", errors.New("the server: mongo: option A.B is not supported by Holdfast"), ""},
		{"a value that is wrong", refused(options.Client().SetAppName(strings.Repeat("a", 129))), ""},
	} {
		if got := mongoMissing(c.err); got != c.what {
			t.Errorf("%s: %v: got %q", c.name, c.err, got)
		}
	}
}
