package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// moduleOf returns the folder of a module with these files.
func moduleOf(t *testing.T, files map[string]string) string {
	t.Helper()
	folder := t.TempDir()
	files["go.mod"] = "module example.com/m\n\ngo 1.25.0\n"
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

func TestCheck(t *testing.T) {
	const wide, wrong = "package m\n\nimport \"fmt\"\n\nfunc F() { fmt.Println(1 << 40) }\n", "package m\n\nvar X = missing\n"
	for _, c := range []struct{ name, file, content, platform, says string }{
		{"an int that 32 bits do not hold", "m.go", wide, "linux/386", "overflows"},
		{"the same with 64 bits", "m.go", wide, "linux/amd64", ""},
		{"a file for the platform", "m_windows.go", wrong, "windows/amd64", "undefined: missing"},
		{"a file for another platform", "m_windows.go", wrong, "darwin/arm64", ""},
		{"a test", "m_test.go", wrong, "linux/amd64", "undefined: missing"},
		{"not a platform", "m.go", wide, "linux", `"linux" is no OS/ARCH`},
	} {
		files := map[string]string{"doc.go": "package m\n"}
		files[c.file] = c.content
		err := check(moduleOf(t, files), c.platform)
		if (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
}
