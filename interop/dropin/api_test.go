package dropin

import (
	"fmt"
	"go/types"
	"maps"
	"slices"
	"testing"
)

// api returns the exported names of a package, each with a text of its kind and type. Methods and fields have the name of their
// type before their own. Names of parameters are left out, and so is the package of types that both packages have.
func api(p *types.Package) map[string]string {
	out := make(map[string]string)
	for _, name := range p.Scope().Names() {
		if object := p.Scope().Lookup(name); object.Exported() {
			describe(out, object)
		}
	}
	return out
}

func describe(out map[string]string, object types.Object) {
	switch o := object.(type) {
	case *types.Const:
		out[o.Name()] = fmt.Sprintf("const %s = %s", text(o.Type()), o.Val())
	case *types.Var:
		out[o.Name()] = "var " + text(o.Type())
	case *types.Func:
		out[o.Name()] = text(o.Type())
	case *types.TypeName:
		describeType(out, o)
	}
}

// describeType describes a type by its exported fields and methods, whether it is an alias or not.
func describeType(out map[string]string, o *types.TypeName) {
	t := types.Unalias(o.Type())
	switch u := t.Underlying().(type) {
	case *types.Struct:
		out[o.Name()] = "struct"
		for field := range u.Fields() {
			if field.Exported() {
				out[o.Name()+"."+field.Name()] = "field " + text(field.Type())
			}
		}
	case *types.Interface:
		out[o.Name()] = "interface"
	default:
		out[o.Name()] = "type " + text(u)
	}
	for _, set := range []struct {
		t     types.Type
		named string
	}{{t, "method "}, {types.NewPointer(t), "pointer method "}} {
		for method := range types.NewMethodSet(set.t).Methods() {
			name := o.Name() + "." + method.Obj().Name()
			if _, described := out[name]; !described && method.Obj().Exported() {
				out[name] = set.named + text(method.Type())
			}
		}
	}
}

// text returns a type without the names of parameters.
func text(t types.Type) string {
	if s, ok := t.(*types.Signature); ok {
		t = types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic())
	}
	return types.TypeString(t, func(p *types.Package) string {
		if p.Path() == officialPath || p.Path() == oursPath {
			return "mongo"
		}
		return p.Path()
	})
}

func unnamed(tuple *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for v := range tuple.Variables() {
		vars = append(vars, types.NewParam(v.Pos(), nil, "", v.Type()))
	}
	return types.NewTuple(vars...)
}

// differences returns what the official API has and ours lacks or has otherwise.
func differences(official, ours map[string]string) map[string]string {
	out := make(map[string]string)
	for name, want := range official {
		switch got, ok := ours[name]; {
		case !ok:
			out[name] = "missing: " + want
		case got != want:
			out[name] = fmt.Sprintf("different: %s, officially %s", got, want)
		}
	}
	return out
}

func TestTheExportedAPIIsTheOfficialOne(t *testing.T) {
	official, ours := load(t)
	found := differences(api(official), api(ours))
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if reason, ok := allowed[name]; ok {
			t.Logf("%s is %s (%s)", name, found[name], reason)
			continue
		}
		t.Errorf("%s is %s", name, found[name])
	}
	for _, name := range slices.Sorted(maps.Keys(allowed)) {
		if found[name] == "" {
			t.Errorf("%s is as in the official package; delete its row", name)
		}
	}
	fmt.Printf("figure api-names %d\nfigure api-missing %d\n", len(api(official)), len(found))
}

// Each kind of difference is noticed.
func TestDifferences(t *testing.T) {
	official, ours := load(t)
	want, got := api(official), api(ours)
	for _, name := range []string{
		"Connect", "Client.Database", "Collection.InsertOne", "Cursor.Current", "ErrNoDocuments", "CommandError.Labels", "CommandError.HasErrorCode",
		"ServerError.ErrorCodes", "DefaultGridFSChunkSize", "Pipeline", "WriteErrors.Error",
	} {
		if want[name] == "" {
			t.Errorf("the official package has no %s", name)
		}
		changed := maps.Clone(got)
		delete(changed, name)
		if differences(want, changed)[name] == "" {
			t.Errorf("nobody notices that %s is missing", name)
		}
		changed[name] = "something else"
		if differences(want, changed)[name] == "" {
			t.Errorf("nobody notices that %s is different", name)
		}
	}
}
