// Package explorereport writes what an exploration found: as a text for a terminal, as JSON, as JUnit XML, and as one HTML page that needs no
// script and no other file.
//
// Begin with report.go, tally.go. Then text.go, json.go, junit.go; page.go and story.go are the HTML page.
package explorereport

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// Report is what an exploration found, with what only the command knows.
type Report struct {
	*explore.Report

	Program string // the program that was explored, such as its command line
	// Repeat returns the line that repeats one case alone.
	Repeat func(explore.Case) string
}

// written returns the error of an output.
func written(err error) error {
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// WriteJSON writes the report as JSON, as [document] describes it.
func (r *Report) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return written(e.Encode(r.document()))
}
