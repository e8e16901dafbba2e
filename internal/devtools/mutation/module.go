package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// module has the packages of the module in the working directory, by their paths as the go command is given them.
type module map[string]*member

// member is one package of a module.
type member struct {
	path   string
	public bool // users may import it
	// imports and tested are what the package and its tests import, directly and through others.
	imports, tested map[string]bool
}

// listModule reads the module.
func listModule() (module, error) {
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	out, err := goCommand("list", "-test", "-json=ImportPath,Name,Dir,Deps,ForTest", "./...")
	if err != nil {
		return nil, err
	}
	all, paths := module{}, map[string]string{}
	var listed []listedMember
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedMember
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		relative, err := filepath.Rel(root, p.Dir)
		if err != nil {
			return nil, err
		}
		p.path = "./" + filepath.ToSlash(relative)
		if p.ForTest == "" && !strings.HasSuffix(p.ImportPath, ".test") {
			paths[p.ImportPath] = p.path
		}
		listed = append(listed, p)
	}
	for _, p := range listed {
		all.add(p, paths)
	}
	return all, nil
}

// listedMember is what `go list -test -json` prints of a package, or of the program that its tests are.
type listedMember struct {
	ImportPath, Name, Dir, ForTest string
	Deps                           []string

	path string
}

// add adds what was listed. paths has the path of each import path of the module.
func (all module) add(p listedMember, paths map[string]string) {
	m := all[p.path]
	if m == nil {
		m = &member{path: p.path, imports: map[string]bool{}, tested: map[string]bool{}}
		all[p.path] = m
	}
	into := m.tested
	if paths[p.ImportPath] != "" {
		into = m.imports
		m.public = p.Name != "main" && !slices.Contains(strings.Split(p.path, "/"), "internal") && !strings.HasPrefix(p.path, "./examples/")
	}
	for _, dep := range p.Deps {
		dep, _, _ = strings.Cut(dep, " ") // "p [p.test]" is p, compiled for its tests
		if path := paths[dep]; path != "" {
			into[path] = true
		}
	}
}

// observers returns the packages whose tests could notice a change of a package: itself, and then those that import it,
// tests included, each after what it imports. They are packages that users import, and what these are made of: the tests of
// programs and of experiments take too long, and look at the whole.
func observers(all module, target string) []string {
	library := map[string]bool{}
	for _, m := range all {
		if m.public {
			library[m.path] = true
			maps.Copy(library, m.imports)
		}
	}
	var found []*member
	for _, m := range all {
		if m.path != target && library[m.path] && m.tested[target] {
			found = append(found, m)
		}
	}
	slices.SortFunc(found, func(a, b *member) int {
		return cmp.Or(cmp.Compare(len(a.imports), len(b.imports)), cmp.Compare(a.path, b.path))
	})
	paths := []string{target}
	for _, m := range found {
		paths = append(paths, m.path)
	}
	return paths
}
