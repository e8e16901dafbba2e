package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// source is a package with its types.
type source struct {
	path  string // of the package, as the go command is given it
	dir   string
	fset  *token.FileSet
	files []*file
	types *types.Package
	info  *types.Info
	from  types.Importer
}

// file is one file of a package.
type file struct {
	name   string // from the repository's root
	text   []byte
	syntax *ast.File
}

// listed is what `go list -json` prints of a package.
type listed struct {
	ImportPath, Dir, Export string
	DepOnly                 bool
	GoFiles                 []string
}

// loadSources reads and type-checks packages of the module in the working directory.
func loadSources(packages []string) ([]*source, error) {
	out, err := goCommand(append([]string{"list", "-export", "-deps", "-json=ImportPath,Dir,Export,DepOnly,GoFiles"}, packages...)...)
	if err != nil {
		return nil, err
	}
	root, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	exports := map[string]string{}
	var wanted []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		exports[p.ImportPath] = p.Export
		if !p.DepOnly {
			wanted = append(wanted, p)
		}
	}
	fset := token.NewFileSet()
	from := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var sources []*source
	for _, p := range wanted {
		s := &source{dir: p.Dir, fset: fset, from: from}
		if err := s.load(root, p); err != nil {
			return nil, err
		}
		sources = append(sources, s)
	}
	return sources, nil
}

func (s *source) load(root string, p listed) error {
	relative, err := filepath.Rel(root, p.Dir)
	if err != nil {
		return err
	}
	s.path = "./" + filepath.ToSlash(relative)
	for _, name := range p.GoFiles {
		text, err := os.ReadFile(filepath.Join(p.Dir, name))
		if err != nil {
			return err
		}
		f := &file{name: filepath.ToSlash(filepath.Join(relative, name)), text: text}
		if f.syntax, err = parser.ParseFile(s.fset, f.name, text, parser.ParseComments); err != nil {
			return err
		}
		s.files = append(s.files, f)
	}
	s.info = &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{}, Defs: map[*ast.Ident]types.Object{},
	}
	s.types, err = s.check(p.ImportPath, nil, nil, s.info)
	return err
}

// check type-checks the package, with the text of one file instead of what the file holds if that is given.
func (s *source) check(path string, changed *file, text []byte, info *types.Info) (*types.Package, error) {
	var syntax []*ast.File
	for _, f := range s.files {
		tree := f.syntax
		if f == changed {
			var err error
			if tree, err = parser.ParseFile(s.fset, f.name, text, 0); err != nil {
				return nil, err
			}
		}
		syntax = append(syntax, tree)
	}
	return (&types.Config{Importer: s.from}).Check(path, s.fset, syntax, info)
}

// compiles reports whether the package compiles with a mutant in it.
func (s *source) compiles(m *mutant) bool {
	_, err := s.check(s.types.Path(), m.file, m.mutated(), nil)
	return err == nil
}

// goCommand runs the go command and returns what it prints.
func goCommand(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	var said strings.Builder
	cmd.Stderr = &said
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, &said)
	}
	return out, nil
}
