package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A line of a go.mod that requires a version of a module, and one that replaces all its versions by one.
var (
	requires = regexp.MustCompile(`(?m)^(?:require |\t)(\S+) (v\S+)`)
	replaces = regexp.MustCompile(`(?m)^(?:replace |\t)(\S+) => \S+ (v\S+)`)
)

// versionsOf returns the version of each module that a go.mod names.
func versionsOf(mod string) map[string]string {
	versions := make(map[string]string)
	for _, form := range []*regexp.Regexp{requires, replaces} {
		for _, match := range form.FindAllStringSubmatch(mod, -1) {
			versions[match[1]] = match[2]
		}
	}
	return versions
}

// With another version of a module, all packages that import it are compiled once more for the tests of the other module.
func TestOtherModulesCompileTheSameVersions(t *testing.T) {
	versions := make(map[string]string) // of what the root module compiles
	for _, p := range loaded(t) {
		if p.Module != nil && p.Module.Version != "" {
			versions[p.Module.Path] = p.Module.Version
		}
	}
	importing := 0 // modules of the repository that import the root module
	for _, path := range slices.Concat(matching(t, "*/go.mod"), matching(t, "*/*/go.mod")) {
		mod, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(mod), strings.TrimSuffix(module, "/")+" => ") {
			continue
		}
		importing++
		same := 0
		for name, version := range versionsOf(string(mod)) {
			switch want := versions[name]; want {
			case "":
			case version:
				same++
			default:
				t.Errorf("%s: it compiles %s %s; the root module %s", path, name, version, want)
			}
		}
		if same < 5 {
			t.Errorf("%s has only %d modules of the root module", path, same)
		}
	}
	if importing < 4 {
		t.Errorf("only %d modules were found that import the root module", importing)
	}
}

// matching returns the files of the repository that match a pattern.
func matching(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob("../../../" + pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func TestTheVersionsOfAGoMod(t *testing.T) {
	got := versionsOf("module m\n\ngo 1.25.0\n\nrequire a/b v1.0.0\n\nrequire (\n\tc v2.0.0 // indirect\n\td v3.0.0\n)\n\n" +
		"replace d => d v2.5.0\n\nreplace (\n\tc => e v0.1.0\n\tf => ../\n)\n")
	want := map[string]string{"a/b": "v1.0.0", "c": "v0.1.0", "d": "v2.5.0"}
	for name, version := range want {
		if got[name] != version {
			t.Errorf("%s has %q, want %s", name, got[name], version)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%v, want %v", got, want)
	}
}
