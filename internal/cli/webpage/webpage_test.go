package webpage

import (
	"strings"
	"testing"
)

func TestAPageHasTheStylesAndEscapesWhatItShows(t *testing.T) {
	var b strings.Builder
	p := New("{{template \"head\" .Title -}}\n{{template \"marks\" .Marks}}</body>\n</html>\n", ".own{margin:0}")
	err := p.Write(&b, struct {
		Title string
		Marks []Mark
	}{"<title>", []Mark{{Good, "right"}, {Limit, "loses"}, {Bad, "<b>"}, {None, "none"}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"<!DOCTYPE html>\n", "<title>&lt;title&gt;</title>\n<style>:root{", ".own{margin:0}</style>", "<body>\n<span class=\"mark good\">",
		`<span class="mark limit"><b aria-hidden="true">▲</b> <span>loses</span></span>`, `■</b> <span>&lt;b&gt;</span>`, "○</b> <span>none</span>",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("the page does not have %q:\n%s", want, b.String())
		}
	}
}
