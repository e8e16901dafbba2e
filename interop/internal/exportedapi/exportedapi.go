// Package exportedapi describes the exported names of a package as texts, so that tests can compare the package with another one
// of the same API.
package exportedapi

import (
	"fmt"
	"go/types"
	"strings"
)

// API has the exported names of a package, each with a text of its kind and type. Methods and fields have the name of their type
// before their own, with a point between.
type API map[string]string

// Reader makes the texts of an API. The texts have no names of parameters, and "any" for the empty interface.
type Reader struct {
	// Packages gives packages another name in the texts, by path: the two that are compared need the same one.
	Packages map[string]string
	// Types gives types another name: what would be the text of the type, and the text that it gets.
	Types map[string]string
}

// Read returns the API of a package.
func (r Reader) Read(p *types.Package) API {
	d := description{api: make(API), packages: r.Packages}
	replaced := []string{"interface{}", "any"}
	for from, to := range r.Types {
		replaced = append(replaced, from, to)
	}
	d.replacer = strings.NewReplacer(replaced...)
	for _, name := range p.Scope().Names() {
		if object := p.Scope().Lookup(name); object.Exported() {
			d.describe(object)
		}
	}
	return d.api
}

// Differences returns what the official API has and ours lacks or has otherwise.
func Differences(official, ours API) map[string]string {
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

type description struct {
	api      API
	packages map[string]string
	replacer *strings.Replacer
}

func (d description) describe(object types.Object) {
	switch o := object.(type) {
	case *types.Const:
		d.api[o.Name()] = fmt.Sprintf("const %s = %s", d.text(o.Type()), o.Val())
	case *types.Var:
		d.api[o.Name()] = "var " + d.text(o.Type())
	case *types.Func:
		d.api[o.Name()] = d.text(o.Type())
	case *types.TypeName:
		d.describeType(o)
	}
}

// describeType describes a type by its exported fields and methods, whether it is an alias or not.
func (d description) describeType(o *types.TypeName) {
	t := types.Unalias(o.Type())
	switch u := t.Underlying().(type) {
	case *types.Struct:
		d.api[o.Name()] = "struct"
		for field := range u.Fields() {
			if field.Exported() {
				d.api[o.Name()+"."+field.Name()] = "field " + d.text(field.Type())
			}
		}
	case *types.Interface:
		d.api[o.Name()] = "interface"
	default:
		d.api[o.Name()] = "type " + d.text(u)
	}
	for _, set := range []struct {
		t     types.Type
		named string
	}{{t, "method "}, {types.NewPointer(t), "pointer method "}} {
		for method := range types.NewMethodSet(set.t).Methods() {
			name := o.Name() + "." + method.Obj().Name()
			if _, described := d.api[name]; !described && method.Obj().Exported() {
				d.api[name] = set.named + d.text(method.Type())
			}
		}
	}
}

// text returns a type without the names of parameters.
func (d description) text(t types.Type) string {
	if s, ok := t.(*types.Signature); ok {
		t = types.NewSignatureType(nil, nil, nil, unnamed(s.Params()), unnamed(s.Results()), s.Variadic())
	}
	return d.replacer.Replace(types.TypeString(t, func(p *types.Package) string {
		if name, ok := d.packages[p.Path()]; ok {
			return name
		}
		return p.Path()
	}))
}

func unnamed(tuple *types.Tuple) *types.Tuple {
	var vars []*types.Var
	for v := range tuple.Variables() {
		vars = append(vars, types.NewParam(v.Pos(), nil, "", v.Type()))
	}
	return types.NewTuple(vars...)
}
