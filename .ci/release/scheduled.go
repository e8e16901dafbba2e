package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// mayDiffer are the files in which the released commit may differ from the one that .ci/scheduled has tested.
var mayDiffer = []string{"docs/SCHEDULED.md", "CHANGELOG.md"}

// checkScheduled refuses a release unless every part of .ci/scheduled has passed on one commit, from which this one differs only in
// mayDiffer.
func (r *release) checkScheduled() error {
	parts, err := command(r.ctx, r.root, filepath.Join(r.root, ".ci/scheduled"), "--list")
	if err != nil {
		return err
	}
	text, err := os.ReadFile(filepath.Join(r.root, "docs/SCHEDULED.md"))
	if err != nil {
		return err
	}
	commit, err := passed(string(text), strings.Fields(parts))
	if err != nil {
		return err
	}
	changed, err := command(r.ctx, r.root, "git", "diff", "--name-only", commit, "HEAD")
	if err != nil {
		return err
	}
	for file := range strings.FieldsSeq(changed) {
		if !slices.Contains(mayDiffer, file) {
			return fmt.Errorf("docs/SCHEDULED.md has the results of %s, from which this commit differs in %s; run .ci/scheduled again", commit, file)
		}
	}
	return nil
}

// passed returns the commit on which all parts have passed, by the table in docs/SCHEDULED.md.
func passed(table string, parts []string) (commit string, err error) {
	rows := map[string][]string{}
	for line := range strings.Lines(table) {
		if cells := strings.Split(line, "|"); len(cells) > 5 {
			rows[strings.TrimSpace(cells[1])] = cells
		}
	}
	for _, part := range parts {
		row, found := rows[part]
		if !found {
			return "", fmt.Errorf("docs/SCHEDULED.md has no result of %s; run .ci/scheduled %s", part, part)
		}
		at, result := strings.TrimSpace(row[2]), strings.TrimSpace(row[4])
		switch {
		case result != "passed":
			return "", fmt.Errorf("docs/SCHEDULED.md: the result of %s is %q; it must be %q", part, result, "passed")
		case commit != "" && at != commit:
			return "", fmt.Errorf("docs/SCHEDULED.md: %s passed on %s, and other parts on %s; all must pass on one commit", part, at, commit)
		}
		commit = at
	}
	if commit == "" {
		return "", errors.New(".ci/scheduled has no parts")
	}
	return commit, nil
}
