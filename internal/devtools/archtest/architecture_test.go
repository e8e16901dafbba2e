package archtest

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var codeSpan = regexp.MustCompile("`([^`]+)`")

// TestTheArchitectureNamesFilesThatExist checks every `x.go` in backticks. The file must be in a folder that the same
// section names before it or in the document's own part of the tree; in a row of a file map, in the folder of its first cell.
func TestTheArchitectureNamesFilesThatExist(t *testing.T) {
	for document, base := range map[string][]string{
		"docs/ARCHITECTURE.md":      {"."},
		"mongotest/ARCHITECTURE.md": {"mongotest", "mongotest/internal"},
	} {
		text, err := os.ReadFile(filepath.Join("../../..", document))
		if err != nil {
			t.Fatal(err)
		}
		if missing := missingFiles(string(text), base); len(missing) > 0 {
			t.Errorf("%s names files that are not there:\n%s", document, strings.Join(missing, "\n"))
		}
	}
}

func TestAFileOutsideTheNamedFolderIsMissing(t *testing.T) {
	for text, missing := range map[string]int{
		"`retry/engine.go` and `decide.go`":         0,
		"`retry` has `engine.go`":                   0,
		"`engine.go`":                               1,
		"`retry/nothing.go`":                        1,
		"`retry`\n## The next section\n`engine.go`": 1,
		"`retry` in a sentence\n| `internal/base/memnet` | `engine.go` |":    1,
		"`retry` in a sentence\n| `internal/base/memnet` | `example_*.go` |": 1,
		"| `retry` | `example_*.go`, `engine.go` |":                          0,
		"`retry` in a sentence\n| a part | `engine.go` |":                    0,
	} {
		if got := missingFiles(text, []string{"."}); len(got) != missing {
			t.Errorf("%q: missing %q, want %d", text, got, missing)
		}
	}
}

var fileInComment = regexp.MustCompile(`[\w/*-]*\w\.go\b`)

// TestTheDocumentationOfPackagesNamesFilesThatExist checks every x.go in the comments of doc.go and design.go. The file must be in the package's
// folder, or named from the root.
func TestTheDocumentationOfPackagesNamesFilesThatExist(t *testing.T) {
	files, named := 0, 0
	err := filepath.WalkDir("../../..", func(file string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != "doc.go" && d.Name() != "design.go" {
			return err
		}
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		files++
		folder, _ := filepath.Rel("../../..", filepath.Dir(file))
		for line := range strings.Lines(string(text)) {
			if !strings.HasPrefix(line, "//") || strings.Contains(line, "http") {
				continue
			}
			for _, name := range fileInComment.FindAllString(line, -1) {
				named++
				if existing([]string{filepath.ToSlash(folder), "."}, name) == "" {
					t.Errorf("%s names %s, which is not there", file, name)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 80 || named < 200 {
		t.Errorf("only %d files were found, with %d names", files, named)
	}
}

// missingFiles returns the names of Go files in a document that are in none of the folders where they belong.
func missingFiles(text string, base []string) (missing []string) {
	folders := base // those of the section
	for line := range strings.Lines(text) {
		if strings.HasPrefix(line, "## ") {
			folders = base
		}
		row := strings.HasPrefix(line, "| `")
		here := folders
		if row {
			here = base
		}
		for i, span := range codeSpan.FindAllStringSubmatch(line, -1) {
			name := span[1]
			switch {
			case strings.HasSuffix(name, ".go"):
				found := existing(here, name)
				if found == "" {
					missing = append(missing, name)
				} else if !row {
					here = append(here[:len(here):len(here)], path.Dir(found))
				}
			case row && i == 0: // the rest of the row is about this folder
				if folder := existing(base, name); folder != "" {
					here = []string{folder}
				}
			case !row:
				if folder := existing(base, name); folder != "" {
					here = append(here[:len(here):len(here)], folder)
				}
			}
		}
		if !row {
			folders = here
		}
	}
	return missing
}

// existing returns the first path of this name, or of this pattern, in one of the folders; "" if there is none.
func existing(folders []string, name string) string {
	for _, folder := range folders {
		if found, err := filepath.Glob(filepath.Join("../../..", folder, name)); err == nil && len(found) > 0 {
			return path.Join(folder, name)
		}
	}
	return ""
}
