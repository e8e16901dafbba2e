package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Each term is defined where the glossary says: the place is a file, a folder, or a name that a package declares. A term has one row.
func TestTheGlossaryNamesWhatExists(t *testing.T) {
	const root = "../../.."
	text, err := os.ReadFile(filepath.Join(root, "docs/GLOSSARY.md"))
	if err != nil {
		t.Fatal(err)
	}
	terms := make(map[string]bool)
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 3 || !strings.Contains(cells[2], "`") {
			continue
		}
		term := strings.TrimSpace(cells[0])
		if terms[term] {
			t.Errorf("%s has two rows", term)
		}
		terms[term] = true
		for _, place := range codeSpan.FindAllStringSubmatch(cells[2], -1) {
			if !isDeclared(t, root, place[1]) {
				t.Errorf("%s: there is no %s", term, place[1])
			}
		}
	}
	if len(terms) < 20 {
		t.Errorf("only %d terms were found", len(terms))
	}
}

// isDeclared reports whether a file, a folder, or the package's name "package.Name" or "package.Type.Method" is there.
func isDeclared(t *testing.T, root, place string) bool {
	t.Helper()
	if _, err := os.Stat(filepath.Join(root, place)); err == nil {
		return true
	}
	folder, name, _ := strings.Cut(place, ".")
	name = name[strings.LastIndex(name, ".")+1:]
	declaration := regexp.MustCompile(`(?m)^(func (\([^)]*\) )?|type )` + regexp.QuoteMeta(name) + `\b`)
	files, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if declaration.Match(source) {
			return true
		}
	}
	return false
}
