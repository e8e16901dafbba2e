package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var testFunction = regexp.MustCompile(`(?m)^func (Test\w+)\(`)

// TestTheProseTestsExist checks that docs/PROSE.md names tests that exist, or says why there is none.
func TestTheProseTestsExist(t *testing.T) {
	text, err := os.ReadFile("../../../docs/PROSE.md")
	if err != nil {
		t.Fatal(err)
	}
	exist := tests(t, "../../../mongo", "../../../internal/mongo", "../../../plugin")
	rows, named := 0, 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if !strings.HasPrefix(line, "| ") || len(cells) != 2 || cells[1] == "test |" {
			continue
		}
		rows++
		names := codeSpan.FindAllStringSubmatch(cells[1], -1)
		if len(names) == 0 && !strings.HasPrefix(cells[1], "None: ") {
			t.Errorf("the row names no test and no reason: %s", line)
		}
		for _, name := range names {
			if named++; !exist[name[1]] {
				t.Errorf("there is no test %s", name[1])
			}
		}
	}
	if rows < 90 || named < 90 {
		t.Errorf("the table has %d rows with %d tests, so it was not read", rows, named)
	}
}

// tests returns the names of the test functions below some folders.
func tests(t *testing.T, folders ...string) map[string]bool {
	t.Helper()
	names := make(map[string]bool)
	for _, folder := range folders {
		err := filepath.WalkDir(folder, func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, "_test.go") {
				return err
			}
			code, err := os.ReadFile(path)
			for _, f := range testFunction.FindAllSubmatch(code, -1) {
				names[string(f[1])] = true
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return names
}
