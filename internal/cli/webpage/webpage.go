// Package webpage has what the HTML pages of the command line share: the styles, the begin of a page, and the marks. A page needs no script
// and no other file.
package webpage

import (
	_ "embed" // the styles and the shared templates
	"fmt"
	"html/template"
	"io"
)

//go:embed page.css
var styles string

//go:embed shared.html.tmpl
var shared string

// Page is the template of a page. The template "head" begins it, for a title, and ends with the tag of the body; "marks" writes a list of
// marks.
type Page struct{ template *template.Template }

// New parses the template of a page, with the styles that only this page has. It panics if the template is wrong.
func New(markup, own string) *Page {
	t := template.New("page").Funcs(template.FuncMap{
		"styles": func() template.CSS { return template.CSS(styles + own) }, //nolint:gosec // both are embedded
	})
	return &Page{template.Must(template.Must(t.Parse(shared)).Parse(markup))}
}

// Write writes the page with its data.
func (p *Page) Write(w io.Writer, data any) error {
	if err := p.template.Execute(w, data); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}

// Mark is a verdict, or a part of one. Its shape says the same as its colour.
type Mark struct {
	Tone  Tone
	Words string
}

// Tone is the kind of a mark, and its class in the styles.
type Tone string

// The tones.
const (
	Good  Tone = "good"
	Limit Tone = "limit" // it is no fault, but has a limit
	Bad   Tone = "bad"
	None  Tone = "none" // there is no verdict
)

// Shape returns the sign of the mark.
func (m Mark) Shape() string {
	return map[Tone]string{Good: "●", Limit: "▲", Bad: "■", None: "○"}[m.Tone]
}
