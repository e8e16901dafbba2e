package mongoose

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/holdfastprocess"
)

// within returns a context for all that the test starts, which ends before the test's own time does.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	t.Cleanup(cancel)
	return ctx
}

// run runs a program in a folder and returns what it writes to its two outputs.
func run(t *testing.T, folder string, environment []string, name string, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(within(t), name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = folder, &out, &errs
	cmd.Env = append(os.Environ(), environment...)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s\n%s", name, strings.Join(args, " "), err, out.String(), errs.String())
	}
	return out.String(), errs.String()
}

// mongod builds the program and gives it the name under which it stands for mongod.
func mongod(t *testing.T) string {
	t.Helper()
	program := string(holdfastprocess.Build(t, "../../.."))
	link := filepath.Join(filepath.Dir(program), "mongod")
	if err := os.Symlink(program, link); err != nil {
		t.Fatal(err)
	}
	return link
}

// install copies the application to a folder of its own and installs the packages that it needs.
func install(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	for _, name := range []string{"package.json", "package-lock.json", "app.mjs"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	run(t, folder, nil, "npm", "ci", "--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	return folder
}

// TestInstall downloads the packages of the application into npm's cache, from which the other test has them.
func TestInstall(t *testing.T) { install(t) }

var dbVersion = regexp.MustCompile(`db version v(\S+)`)

func TestMongooseOnMongodbMemoryServer(t *testing.T) {
	program := mongod(t)
	said, _ := run(t, ".", nil, program, "--version")
	version := dbVersion.FindStringSubmatch(said)
	if version == nil {
		t.Fatalf("mongod --version says %q", said)
	}
	stdout, stderr := run(t, install(t), []string{"MONGOMS_SYSTEM_BINARY=" + program, "MONGOMS_VERSION=" + version[1]}, "node", "app.mjs")
	var want strings.Builder
	for _, part := range []string{
		"set", "validation", "uniqueIndex", "documents", "population", "queries", "updates", "aggregate", "bulkWrite", "transaction", "stop",
	} {
		want.WriteString("ok " + part + "\n")
	}
	if stdout != want.String() {
		t.Errorf("the application says\n%s\nwant\n%s", stdout, want.String())
	}
	if stderr != "" { // of a version that is not the one asked for, or of a server that did not end as it should
		t.Errorf("it warns:\n%s", stderr)
	}
}
