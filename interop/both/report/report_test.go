package report

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	"github.com/holdfast-db/holdfast/internal/cli/report"
)

// experiment runs every strategy with some failures, or with all, in memory, and explores those of MongoDB.
func experiment(t *testing.T, d prove.Deployment, failures ...string) (r *prove.Report) {
	t.Helper()
	b := d.Backend()
	list, err := b.FailuresNamed(failures)
	if err != nil {
		t.Fatal(err)
	}
	m := prove.Matrix{Strategies: b.Strategies(), Failures: list, Settings: b.DefaultSettings(), Dial: prove.Default(), Deployment: d}
	synctest.Test(t, func(t *testing.T) {
		if r, err = m.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		if m.CanExplore() {
			m.Explore(t.Context(), r, func(int, int) {})
		}
	})
	return r
}

func page(t *testing.T, r *prove.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteHTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// browser is a folder with the program that opens pages, and the packages that it needs.
type browser struct{ folder, chromium string }

func newBrowser(t *testing.T) browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes a minute")
	}
	chromium, err := exec.LookPath("chromium")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("there is no chromium")
		}
		t.Skip("there is no chromium")
	}
	b := browser{t.TempDir(), chromium}
	for _, name := range []string{"package.json", "package-lock.json", "browser.mjs"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(b.folder, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b.run(t, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	return b
}

// run runs a program in the folder and returns its output. It has five minutes.
func (b browser) run(t *testing.T, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = b.folder, &out, &errs
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", name, err, out.String(), errs.String())
	}
	return out.String()
}

// findings are what the browser says about a page.
type findings struct {
	Problems []string       `json:"problems"`
	Checked  map[string]int `json:"checked"`
}

func (b browser) open(t *testing.T, page string) (f findings) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	out := b.run(t, "node", "browser.mjs", b.chromium, file)
	if err := json.Unmarshal([]byte(out), &f); err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	return f
}

// withEveryState gives some cells the states that a whole run does not have.
func withEveryState(r *prove.Report) *prove.Report {
	r.Results[0].Unavailable, r.Results[0].Stories = "n/a, not ours to break", nil
	r.Results[1].NotShown = "3 of 200 operations acknowledged"
	r.Results[2].Error = "audit: the counter is 1 and the operations' fields add up to 2"
	r.Results[3].Expected = prove.Expectation{Must: prove.LosesDurable}
	return r
}

func TestThePageInABrowser(t *testing.T) {
	b := newBrowser(t)
	for _, r := range []*prove.Report{
		withEveryState(experiment(t, prove.Memory(), "reply-lost", "primary-killed", "outage")),
		experiment(t, prove.CouchbaseMemory(), "reply-lost", "hard-failover", "black-hole"),
	} {
		t.Run(r.Backend.Title, func(t *testing.T) {
			f := b.open(t, page(t, r))
			for _, p := range f.Problems {
				t.Error(p)
			}
			if f.Checked["cells"] != len(r.Results) || f.Checked["links"] < 2*len(r.Results) {
				t.Errorf("of %d cells it has checked %v", len(r.Results), f.Checked)
			}
			for _, mode := range []string{"light", "dark", "phone"} {
				if n := f.Checked["rules passed, "+mode]; n < 20 {
					t.Errorf("%s: only %d rules of the accessibility checker apply", mode, n)
				}
			}
		})
	}
}

// Each check finds the defect that it is for.
func TestABadPageIsNoticed(t *testing.T) {
	b := newBrowser(t)
	bad := page(t, experiment(t, prove.Memory(), "reply-lost"))
	defects := []struct{ old, bad, problem string }{
		{`<html lang="en">`, `<html>`, "serious: html-has-lang"},
		{`default-src 'none'`, `default-src *`, ""},
		{`<h1>`, `<img alt="" src="http://127.0.0.1:9/x.png"><h1>`, "it requests http://127.0.0.1:9/x.png"},
		{`<h1>`, `<p style="width:100rem">wide</p><h1>`, "px wide in a window of 360 px"},
		{`<h1>`, `<p style="color:#ccc;background:#fff">pale</p><h1>`, "serious: color-contrast"},
		{`<a href="#failure-reply-lost">`, `<a href="#nowhere">`, "the link #nowhere leads to 0 sections"},
		{`<td role="cell"`, `<td role="presentation"`, "a screen reader gets"},
		{`<td role="presentation"><a `, `<td role="presentation"><a tabindex="-1" `, "Tab does not reach #reply-lost--"},
		{`:focus-visible{outline:3px solid`, `:focus-visible{outline:none;border:3px solid`, "is not visible"},
		{`details::details-content{`, `details::nothing{`, "closed parts are not printed"},
	}
	for _, d := range defects {
		if !strings.Contains(bad, d.old) {
			t.Fatalf("the page does not have %s", d.old)
		}
		bad = strings.Replace(bad, d.old, d.bad, 1)
	}
	found := strings.Join(b.open(t, bad).Problems, "\n")
	for _, d := range defects {
		if !strings.Contains(found, d.problem) {
			t.Errorf("%s is not found among\n%s", d.problem, found)
		}
	}
}

// TestTheSizeOfThePage measures the page of the whole matrix.
func TestTheSizeOfThePage(t *testing.T) {
	if testing.Short() {
		t.Skip("it runs the whole matrix")
	}
	r := experiment(t, prove.Memory())
	kib := (len(page(t, r)) + 1023) / 1024
	fmt.Fprintf(os.Stdout, "figure report-kib %d\n", kib)
	if kib > 500 {
		t.Errorf("the page of %d cells has %d KiB; the bar is 500", len(r.Results), kib)
	}
}
