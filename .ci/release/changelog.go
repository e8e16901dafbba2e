package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// checkChangelog reads the version's section of the changelog. There must be one with an entry.
func (r *release) checkChangelog() error {
	text, err := os.ReadFile(filepath.Join(r.root, "CHANGELOG.md"))
	if err != nil {
		return err
	}
	r.changes, err = section(string(text), r.version)
	return err
}

// section returns the entries of a version: what follows its heading, for example "## 0.1.0 - 2026-11-24" or "## [v0.1.0]", up to the next one.
func section(changelog, version string) (string, error) {
	heading := regexp.MustCompile(`^## \[?v?` + regexp.QuoteMeta(strings.TrimPrefix(version, "v")) + `\]?( |$)`)
	var lines []string
	within := false
	for line := range strings.Lines(changelog) {
		if strings.HasPrefix(line, "## ") {
			if within {
				break
			}
			within = heading.MatchString(strings.TrimSpace(line))
			continue
		}
		if within {
			lines = append(lines, line)
		}
	}
	switch entries := strings.TrimSpace(strings.Join(lines, "")); {
	case !within && len(lines) == 0:
		return "", fmt.Errorf("CHANGELOG.md has no section %q; rename its section Unreleased", "## "+strings.TrimPrefix(version, "v"))
	case entries == "":
		return "", fmt.Errorf("the section of %s in CHANGELOG.md is empty", version)
	default:
		return entries, nil
	}
}
