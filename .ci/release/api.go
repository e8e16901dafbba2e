package main

import (
	"fmt"
	"go/types"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/exp/apidiff"
	"golang.org/x/mod/semver"
	"golang.org/x/tools/go/packages"
)

// compareAPI prints how the exported API differs from that of the last tag. From v1 on, an incompatible change ends the release.
func (r *release) compareAPI() error {
	if r.last == "" {
		r.say("The first release: there is no earlier API to compare with.")
		return nil
	}
	before := filepath.Join(filepath.Dir(r.clone), "before")
	if _, err := command(r.ctx, r.root, "git", "clone", "--quiet", "--no-hardlinks", "--branch", r.last, r.root, before); err != nil {
		return err
	}
	old, err := r.api(before)
	if err != nil {
		return err
	}
	now, err := r.api(r.clone)
	if err != nil {
		return err
	}
	report := apidiff.ModuleChanges(old, now)
	r.say("The API since %s:\n%s", r.last, report)
	incompatible := slices.ContainsFunc(report.Changes, func(c apidiff.Change) bool { return !c.Compatible })
	if incompatible && semver.Compare(r.version, "v1.0.0") >= 0 && semver.Major(r.last) == semver.Major(r.version) {
		return fmt.Errorf("the API has incompatible changes; a version after %s may not have them", r.last)
	}
	return nil
}

// api loads the packages of a module that other modules can import.
func (r *release) api(dir string) (*apidiff.Module, error) {
	loaded, err := packages.Load(&packages.Config{
		Context: r.ctx, Dir: dir,
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedModule | packages.NeedFiles | packages.NeedExportFile,
	}, "./...")
	if err != nil {
		return nil, err
	}
	m := &apidiff.Module{}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("package %s: %w", p.PkgPath, p.Errors[0])
		}
		m.Path = p.Module.Path
		if p.Name != "main" && !isInternal(p.PkgPath) {
			m.Packages = append(m.Packages, p.Types)
		}
	}
	slices.SortFunc(m.Packages, func(a, b *types.Package) int { return strings.Compare(a.Path(), b.Path()) })
	return m, nil
}

func isInternal(path string) bool { return slices.Contains(strings.Split(path, "/"), "internal") }
