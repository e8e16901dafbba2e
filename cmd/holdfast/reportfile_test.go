package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongotest"
)

// onlyFile fails if the folder has other files than this one, and returns its text.
func onlyFile(t *testing.T, path string) string {
	t.Helper()
	files, err := os.ReadDir(filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) != 1 || files[0].Name() != filepath.Base(path) {
		t.Fatalf("the folder has %v, want only %s", files, path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestHTMLIsWrittenBesideTheOutput(t *testing.T) {
	for name, args := range map[string][]string{"MongoDB": quick, "Couchbase": quickCouchbase} {
		t.Run(name, func(t *testing.T) {
			page := filepath.Join(t.TempDir(), "page.html")
			if err := os.WriteFile(page, []byte("an older page"), 0o600); err != nil {
				t.Fatal(err)
			}
			code, stdout, stderr := holdfast(t.Context(), append(args, "--html", page, "--json")...)
			if code != exitOK || !json.Valid([]byte(stdout)) {
				t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
			}
			text := onlyFile(t, page)
			for _, want := range []string{"<!DOCTYPE html>", "holdfast prove: " + name, "2 of 2 cells as expected", "</html>"} {
				if !strings.Contains(text, want) {
					t.Errorf("the page does not have %q", want)
				}
			}
		})
	}
}

func TestAnInterruptedRunLeavesThePageAsItIs(t *testing.T) {
	page := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(page, []byte("an older page"), 0o600); err != nil {
		t.Fatal(err)
	}
	rs := mongotest.RunReplicaSetT(t, 3)
	ctx, interrupt := context.WithCancel(t.Context())
	rs.Use("update", mongotest.Always(mongotest.Fault{Before: interrupt}))
	code, stdout, stderr := holdfast(ctx, "prove", "--failure", "reply-lost", "--uri", rs.URI(), "--html", page)
	if code != exitInterrupted || !strings.Contains(stdout, "interrupted") {
		t.Errorf("exit code %d:\n%s\n%s", code, stdout, stderr)
	}
	if text := onlyFile(t, page); text != "an older page" {
		t.Errorf("the page is now %.100q", text)
	}
}

func TestAFailedStartLeavesNoFile(t *testing.T) {
	folder := t.TempDir()
	code, _, stderr := holdfast(t.Context(), "prove", "--uri", "mongodb://127.0.0.1:1/", "--html", filepath.Join(folder, "page.html"))
	files, err := os.ReadDir(folder)
	if code != exitCannotRun || err != nil || len(files) > 0 {
		t.Errorf("exit code %d, %s: the folder has %v, %v", code, stderr, files, err)
	}
}
