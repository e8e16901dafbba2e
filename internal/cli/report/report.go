// Package report writes the result of the counting experiment as one HTML page. The page needs no script and no other file. It has the
// matrix and, for each cell, the stories of package prove: a chart of the events, and the same events in words. report.go has the template,
// page.go the data of a page, explored.go the section about the exploration, words.go and faults.go the sentences, chart.go the charts, which package timeline draws.
//
// Begin with report.go, page.go. Then explored.go, story.go, words.go, faults.go, chart.go.
package report

import (
	_ "embed" // the template
	"io"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	"github.com/holdfast-db/holdfast/internal/cli/webpage"
)

//go:embed page.html.tmpl
var markup string

var layout = webpage.New(markup+exploredMarkup, exploredStyles)

// WriteHTML writes the report as an HTML page.
func WriteHTML(w io.Writer, r *prove.Report) error { return layout.Write(w, newPage(r)) }
