// Command platforms checks the types of all packages of a module, and of their tests, for other platforms. It reads the source of
// everything that they import, and leaves out the bodies of other modules' functions: to compile all of it takes some twenty times as long.
//
//	platforms FOLDER OS/ARCH ...
package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/packages"
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: platforms FOLDER OS/ARCH ...")
		os.Exit(2)
	}
	folder, err := filepath.Abs(os.Args[1])
	for _, platform := range os.Args[2:] {
		err = errors.Join(err, check(folder, platform))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// check returns the errors of the packages in a folder and below it.
func check(folder, platform string) error {
	system, processor, found := strings.Cut(platform, "/")
	if !found {
		return fmt.Errorf("%q is no OS/ARCH", platform)
	}
	all, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax, Dir: folder, Tests: true, ParseFile: parserFor(folder),
		Env: append(os.Environ(), "GOOS="+system, "GOARCH="+processor, "CGO_ENABLED=0", "GOFLAGS="),
	}, "./...")
	if err != nil {
		return fmt.Errorf("%s: %w", platform, err)
	}
	if len(all) == 0 {
		return fmt.Errorf("%s: there are no packages in %s", platform, folder)
	}
	var problems []error
	for _, p := range all {
		for _, problem := range p.Errors {
			problems = append(problems, fmt.Errorf("%s: %w", platform, problem))
		}
	}
	return errors.Join(problems...)
}

// parserFor parses files. It takes the bodies of the functions of other modules away: they compile for whoever made them. The program that
// runs a package's tests, which go list generates, keeps its own.
func parserFor(folder string) func(*token.FileSet, string, []byte) (*ast.File, error) {
	return func(files *token.FileSet, name string, src []byte) (*ast.File, error) {
		file, err := parser.ParseFile(files, name, src, parser.SkipObjectResolution)
		if file == nil || strings.HasPrefix(name, folder+string(filepath.Separator)) || filepath.Ext(name) != ".go" {
			return file, err
		}
		for _, d := range file.Decls {
			if f, is := d.(*ast.FuncDecl); is {
				f.Body = nil
			}
		}
		return file, err
	}
}
