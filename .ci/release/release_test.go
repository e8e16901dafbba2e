package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// repository is a temporary repository with a module.
type repository struct {
	*testing.T
	dir string
	log bytes.Buffer
}

const firstChanges = "- the first line\n- `p`: the second line\n"

func newRepository(t *testing.T) *repository {
	for _, v := range []string{"GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME", "GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"} {
		t.Setenv(v, "nobody@example.com")
	}
	t.Setenv("GOFLAGS", "")
	r := &repository{T: t, dir: t.TempDir()}
	r.git("init", "--quiet")
	r.write("go.mod", "module example.com/m\n\ngo 1.25.0\n")
	r.write("cmd/holdfast/main.go", "package main\n\nimport _ \"example.com/m/p\"\n\nfunc main() {}\n")
	r.write("p/p.go", "package p\n\n// F does nothing.\nfunc F() {}\n")
	r.write("internal/q/q.go", "package q\n\n// G does nothing.\nfunc G() {}\n")
	r.write("CHANGELOG.md", "# Changelog\n\n## Unreleased\n\n- later\n\n## 0.1.0 - 2026-11-24\n\n"+firstChanges+"\n## 0.0.1\n")
	r.write(".gitignore", "/dist/\n")
	r.write(".ci/scheduled", "#!/bin/sh\necho one; echo two\n")
	if err := os.Chmod(filepath.Join(r.dir, ".ci/scheduled"), 0o755); err != nil {
		t.Fatal(err)
	}
	r.commit()
	return r
}

func (r *repository) git(args ...string) string {
	r.Helper()
	out, err := command(r.Context(), r.dir, "git", args...)
	if err != nil {
		r.Fatal(err)
	}
	return out
}

func (r *repository) write(name, text string) {
	r.Helper()
	file := filepath.Join(r.dir, name)
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		r.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		r.Fatal(err)
	}
}

// commit commits all changes, and then that every part of .ci/scheduled has passed on this commit.
func (r *repository) commit() {
	r.Helper()
	r.commitOnly()
	head := r.git("rev-parse", "HEAD")
	r.write("docs/SCHEDULED.md", scheduledRow("one", head, "passed")+scheduledRow("two", head, "passed"))
	r.commitOnly()
}

func (r *repository) commitOnly() {
	r.Helper()
	r.git("add", "-A")
	r.git("commit", "--quiet", "-m", "a change")
}

func scheduledRow(part, commit, result string) string {
	return fmt.Sprintf("| %s | %s | 2026-11-27 | %s | 12 |\n", part, commit, result)
}

// release makes a release. Only two platforms are built, of which this one is the first.
func (r *repository) release(version string, change func(*release)) error {
	r.log.Reset()
	made := release{
		ctx: r.Context(), root: r.dir, version: version, out: "dist", platforms: []platform{{runtime.GOOS, runtime.GOARCH}, {"windows", "amd64"}}, log: &r.log,
		vulnerabilities: func(context.Context, string, string) (bool, string, error) { return false, "", nil },
	}
	if change != nil {
		change(&made)
	}
	return made.make()
}

func (r *repository) tags() string { return r.git("tag") }

func TestARelease(t *testing.T) {
	r := newRepository(t)
	if err := r.release("v0.1.0", func(r *release) { r.dryRun = true }); err != nil || r.tags() != "" {
		t.Fatalf("a dry run: tags %q, %v", r.tags(), err)
	}
	if err := r.release("v0.1.0", nil); err != nil {
		t.Fatal(err)
	}
	if message := r.git("tag", "--list", "--format=%(objecttype) %(contents)", "v0.1.0"); message != "tag holdfast v0.1.0\n\n"+strings.TrimSpace(firstChanges) {
		t.Errorf("the tag is %q", message)
	}
	r.checkBinaries("v0.1.0")
	if says := r.log.String(); !strings.Contains(says, "no earlier API") || !strings.Contains(says, "No known vulnerabilities") {
		t.Errorf("it says %s", says)
	}
	if changed := r.git("status", "--porcelain"); changed != "" {
		t.Errorf("the release has changed the tree: %s", changed)
	}
}

// checkBinaries checks the checksums, and that this platform's binary runs. buildFor has checked the versions in them.
func (r *repository) checkBinaries(version string) {
	r.Helper()
	sums, err := os.ReadFile(filepath.Join(r.dir, "dist", "SHA256SUMS"))
	if err != nil {
		r.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(sums)), "\n")
	if len(lines) != 2 || !strings.HasSuffix(lines[1], "  holdfast_"+version+"_windows_amd64.exe") {
		r.Errorf("the checksums are %q", lines)
	}
	for _, line := range lines {
		sum, name, _ := strings.Cut(line, "  ")
		b, err := os.ReadFile(filepath.Join(r.dir, "dist", name))
		if err != nil {
			r.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(b)); got != sum {
			r.Errorf("%s has the checksum %s, not %s", name, got, sum)
		}
	}
	_, name, _ := strings.Cut(lines[0], "  ")
	if _, err := command(r.Context(), r.dir, filepath.Join(r.dir, "dist", name)); err != nil {
		r.Error(err)
	}
}

// A plugin's tag is one that the go command understands, on a go.mod that users can require: with the version of this release, and no replacement.
func TestEachPluginHasATagOfItsOwn(t *testing.T) {
	r := newRepository(t)
	for _, name := range []string{"a", "b"} {
		r.write("plugin/"+name+"/go.mod", "module example.com/m/plugin/"+name+"\n\ngo 1.25.0\n\nrequire example.com/m v0.0.0\n\nreplace example.com/m => ../..\n")
		r.write("plugin/"+name+"/x.go", "package x\n")
	}
	r.commit()
	head := r.git("rev-parse", "HEAD")
	if err := r.release("v0.1.0", func(r *release) { r.dryRun = true }); err != nil || r.tags() != "" {
		t.Fatalf("a dry run: tags %q, %v", r.tags(), err)
	}
	if err := r.release("v0.1.0", nil); err != nil {
		t.Fatal(err)
	}
	if got := r.tags(); got != "plugin/a/v0.1.0\nplugin/b/v0.1.0\nv0.1.0" {
		t.Errorf("the tags are %q", got)
	}
	for _, name := range []string{"a", "b"} {
		want := "module example.com/m/plugin/" + name + "\n\ngo 1.25.0\n\nrequire example.com/m v0.1.0"
		if got := r.git("show", "plugin/"+name+"/v0.1.0:plugin/"+name+"/go.mod"); got != want {
			t.Errorf("the go.mod of %s is %q", name, got)
		}
	}
	if message := r.git("tag", "--list", "--format=%(objecttype) %(contents)", "plugin/b/v0.1.0"); message != "tag holdfast plugin/b/v0.1.0\n\n"+strings.TrimSpace(firstChanges) {
		t.Errorf("the tag is %q", message)
	}
	if parent := r.git("rev-parse", "plugin/a/v0.1.0^{commit}^"); parent != head || r.git("rev-parse", "v0.1.0^{commit}") != head || r.git("rev-parse", "HEAD") != head {
		t.Errorf("the plugins' commit follows %s, and the release is %s", parent, head)
	}
	if says := r.log.String(); !strings.Contains(says, "git push origin v0.1.0 plugin/a/v0.1.0 plugin/b/v0.1.0") {
		t.Errorf("it says %s", says)
	}
	if err := r.release("v0.0.1", nil); err == nil || !strings.Contains(err.Error(), "the last one, v0.1.0") {
		t.Errorf("an older version: %v", err)
	}
	if changed := r.git("status", "--porcelain"); changed != "" {
		t.Errorf("the release has changed the tree: %s", changed)
	}
}

func TestTheAPIIsComparedWithTheLastTag(t *testing.T) {
	r := newRepository(t)
	r.git("tag", "v0.1.0")
	r.git("tag", "not-a-version")
	r.write("p/p.go", "package p\n\n// H does nothing.\nfunc H() {}\n")
	r.write("internal/q/q.go", "package q\n")
	r.write("CHANGELOG.md", "## [v0.2.0]\n- more\n\n## 1.0.0\n- all\n\n## 1.1.0\n- others\n")
	r.commit()
	if err := r.release("v0.2.0", nil); err != nil {
		t.Fatal(err)
	}
	says := r.log.String()
	for _, want := range []string{"The API since v0.1.0", "F: removed", "H: added"} {
		if !strings.Contains(says, want) {
			t.Errorf("it says %s and not %q", says, want)
		}
	}
	if strings.Contains(says, "G: removed") {
		t.Errorf("it compares internal packages: %s", says)
	}
	if err := r.release("v1.0.0", nil); err != nil {
		t.Fatal(err)
	}
	r.write("p/p.go", "package p\n")
	r.commit()
	if err := r.release("v1.1.0", nil); err == nil || !strings.Contains(err.Error(), "incompatible changes") || strings.Contains(r.tags(), "v1.1.0") {
		t.Errorf("an incompatible change after v1: %v, tags %s", err, r.tags())
	}
}

func TestWhatIsNotReleased(t *testing.T) {
	r := newRepository(t)
	r.git("tag", "v0.0.9")
	for _, c := range []struct {
		name, version, says string
		change              func(*release)
	}{
		{"no version", "0.1.0", `the version is "0.1.0"`, nil},
		{"a short version", "v0.1", `the version is "v0.1"`, nil},
		{"build data", "v0.1.0+b", `the version is "v0.1.0+b"`, nil},
		{"another module path", "v2.0.0", "must end with the major version", nil},
		{"an old version", "v0.0.9", "above the last one, v0.0.9", nil},
		{"no section", "v0.3.0", `no section "## 0.3.0"`, nil},
		{"a longer version's section", "v0.1.00", "the version is", nil},
		{"a vulnerability", "v0.1.0", "GO-1", func(r *release) {
			r.vulnerabilities = func(context.Context, string, string) (bool, string, error) { return true, "GO-1", nil }
		}},
	} {
		if err := r.release(c.version, c.change); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	r.write("new.txt", "new")
	if err := r.release("v0.1.0", nil); err == nil || !strings.Contains(err.Error(), "new.txt") {
		t.Errorf("a changed tree: %v", err)
	}
	if tags := r.tags(); tags != "v0.0.9" {
		t.Errorf("the tags are %s", tags)
	}
}

func TestNothingIsReleasedUnlessEveryScheduledPartPassedOnItsCommit(t *testing.T) {
	r := newRepository(t)
	tested, record := r.git("rev-parse", "HEAD~1"), "docs/SCHEDULED.md"
	r.write("CHANGELOG.md", "## 0.1.0\n- a text that came later\n")
	r.commitOnly()
	for _, c := range []struct{ name, table, says string }{
		{"no result of a part", scheduledRow("one", tested, "passed"), "no result of two"},
		{"a part that failed", scheduledRow("one", tested, "passed") + scheduledRow("two", tested, "failed"), `the result of two is "failed"`},
		{"a part that did not end", scheduledRow("one", tested, "not ended") + scheduledRow("two", tested, "passed"), `the result of one is "not ended"`},
		{"two commits", scheduledRow("one", tested, "passed") + scheduledRow("two", r.git("rev-parse", "HEAD"), "passed"), "all must pass on one commit"},
		{"passed", scheduledRow("two", tested, "passed") + scheduledRow("one", tested, "passed"), ""},
	} {
		r.write(record, c.table)
		r.commitOnly()
		err := r.release("v0.1.0", func(r *release) { r.dryRun = true })
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v, want %q", c.name, err, c.says)
		}
	}
	r.write("p/p.go", "package p\n\n// F does something else.\nfunc F() {}\n")
	r.commitOnly()
	if err := r.release("v0.1.0", nil); err == nil || !strings.Contains(err.Error(), "differs in p/p.go") {
		t.Errorf("another file has changed: %v", err)
	}
}

// The database of vulnerabilities cannot be reached from everywhere. The release says that it was not asked.
func TestAReleaseSaysThatVulnerabilitiesWereNotLookedFor(t *testing.T) {
	r := newRepository(t)
	unreachable := func(r *release) {
		r.vulnerabilities = func(context.Context, string, string) (bool, string, error) { return false, "", errors.New("no route") }
		r.platforms = r.platforms[:1]
	}
	if err := r.release("v0.1.0", unreachable); err != nil || !strings.Contains(r.log.String(), "NOT looked for: no route") {
		t.Errorf("%v: %s", err, r.log.String())
	}
}

func TestSection(t *testing.T) {
	const log = "# Changelog\n\n## Unreleased\n\n## 0.1.1\n\n## 0.1.0 - 2026-01-01\n- a\n  b\n\n### c\n- d\n\n## 0.0.1\n- e"
	for _, c := range []struct{ version, want, says string }{
		{"v0.1.0", "- a\n  b\n\n### c\n- d", ""},
		{"v0.0.1", "- e", ""},
		{"v0.1.1", "", "is empty"},
		{"v0.1", "", "no section"},
		{"v1.0.0", "", "no section"},
	} {
		got, err := section(log, c.version)
		if got != c.want || (err == nil) != (c.says == "") || err != nil && !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %q, %v", c.version, got, err)
		}
	}
}
