package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// How a script of .ci names another file of it: by its path, or beside itself.
var (
	inCI     = regexp.MustCompile(`\.ci/([a-z]+)`)
	besideIt = regexp.MustCompile(`source "\$\(dirname "\$\{BASH_SOURCE\[0\]\}"\)/([^"]+)"`)
)

// filesOf returns the files of .ci that a script names.
func filesOf(script string) (names []string) {
	for _, form := range []*regexp.Regexp{inCI, besideIt} {
		for _, match := range form.FindAllStringSubmatch(script, -1) {
			names = append(names, match[1])
		}
	}
	return names
}

// A script that runs each day shows that a file is missing; one that runs before a release shows it too late.
func TestTheScriptsNameFilesThatExist(t *testing.T) {
	const folder = "../../../.ci"
	made := []string{"bin"} // by the scripts
	scripts, err := filepath.Glob(folder + "/*")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("no scripts in %s: %v", folder, err)
	}
	for _, path := range append(scripts, "../../../Makefile") {
		if info, err := os.Stat(path); err != nil || info.IsDir() {
			continue
		}
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range filesOf(string(script)) {
			if existing([]string{".ci"}, name) == "" && !slices.Contains(made, name) {
				t.Errorf("%s names .ci/%s, which does not exist", filepath.Base(path), name)
			}
		}
	}
}

func TestTheFilesThatAScriptNames(t *testing.T) {
	script := "source \"$(dirname \"${BASH_SOURCE[0]}\")/lib\"\n# See .ci/run.\n.ci/test interop -- ./...\ngo -C .ci/release test\n"
	got := filesOf(script)
	slices.Sort(got)
	if want := []string{"lib", "release", "run", "test"}; !slices.Equal(got, want) {
		t.Errorf("%q; want %q", got, want)
	}
}
