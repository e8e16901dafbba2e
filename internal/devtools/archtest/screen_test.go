package archtest

import (
	"bytes"
	"go/doc/comment"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// screen is how many lines of 80 columns the text of a public package may have in `go doc`: what a reader sees without scrolling.
const screen = 60

func TestTheTextOfAPackageFitsOnAScreen(t *testing.T) {
	read := 0
	for _, p := range ofThisModule(t) {
		folder := strings.TrimPrefix(p.ImportPath, module)
		if strings.Contains(folder, "internal/") || strings.HasPrefix(folder, "cmd/") || strings.HasPrefix(folder, "examples/") {
			continue
		}
		var text string
		for _, name := range p.GoFiles {
			path := filepath.Join("../../..", folder, name)
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			text += file.Doc.Text()
		}
		if text != "" {
			read++
		}
		printer := comment.Printer{TextWidth: 80}
		lines := bytes.Count(printer.Text(new(comment.Parser).Parse(text)), []byte("\n"))
		if lines > screen {
			t.Errorf("the text of package %s has %d lines, over the limit of %d; move what a reader does not need first to docs/", folder, lines, screen)
		}
	}
	if read < 10 {
		t.Errorf("only %d public packages have a text", read)
	}
}
