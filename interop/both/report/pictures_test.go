package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"image"
	"image/color"
	"image/png"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

var pictures = flag.Bool("pictures", false, "make the pictures of docs/ anew")

// picture is a part of a page: what the browser shows below the section with the id At.
type picture struct {
	Mode   string `json:"mode"`
	At     string `json:"at"`
	Height int    `json:"height"`
	File   string `json:"file"`
}

// TestPictures makes the pictures of the terminal's table and of the page.
func TestPictures(t *testing.T) {
	if !*pictures {
		t.Skip("it changes docs/; the flag -pictures makes it run")
	}
	b := newBrowser(t)
	r := experiment(t, prove.Memory())
	b.shoot(t, page(t, r), []picture{
		{"light", "top", 900, "prove-page.png"},
		{"dark", "delayed-request--" + prove.TwoStep, 800, "prove-story-dark.png"},
		{"phone", "reply-lost--" + prove.OneRetry, 740, "prove-story-phone.png"},
	})
	b.shoot(t, terminalPage(t, r), []picture{{"light", "terminal", 1400, "prove-terminal.png"}})
}

func (b browser) shoot(t *testing.T, page string, list []picture) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(file, []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	arg, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	b.run(t, "node", "browser.mjs", b.chromium, file, string(arg))
	for _, p := range list {
		small := fewColours(t, filepath.Join(b.folder, p.File))
		if len(small) > 150<<10 {
			t.Errorf("%s has %d bytes", p.File, len(small))
		}
		if err := os.WriteFile(filepath.Join("../../../docs", p.File), small, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// fewColours returns a picture with its 256 most frequent colours, which makes it small.
func fewColours(t *testing.T, file string) []byte {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	whole, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	bounds := whole.Bounds()
	frequent := make(map[color.Color]int)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			frequent[whole.At(x, y)]++
		}
	}
	var palette color.Palette
	for c := range frequent {
		palette = append(palette, c)
	}
	slices.SortFunc(palette, func(a, b color.Color) int { return frequent[b] - frequent[a] })
	palette = palette[:min(len(palette), 256)]
	nearest := make(map[color.Color]uint8, len(frequent))
	for c := range frequent {
		nearest[c] = uint8(palette.Index(c))
	}
	small := image.NewPaletted(bounds, palette)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			small.SetColorIndex(x, y, nearest[whole.At(x, y)])
		}
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&b, small); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// terminalPage is the text of a report as a terminal shows it.
func terminalPage(t *testing.T, r *prove.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := r.WriteText(&b, 127, true); err != nil {
		t.Fatal(err)
	}
	return `<!DOCTYPE html><meta charset="utf-8"><style>body{margin:0;background:#14171b;color:#d8dbe0}
pre{margin:0;padding:16px;font:16px/1.17 "DejaVu Sans Mono",monospace}</style><pre id="terminal">` + coloured(b.String()) + "</pre>"
}

// styles are those of the escape sequences that a report has.
var styles = map[string]string{
	"1": "font-weight:bold", "2": "opacity:.65", "31": "color:#ff7b72", "32": "color:#7ee787", "33": "color:#f2cc60",
}

// coloured turns the escape sequences of colours into elements of HTML.
func coloured(text string) string {
	var b strings.Builder
	open := 0
	for i, part := range strings.Split(text, "\x1b[") {
		if i == 0 {
			b.WriteString(html.EscapeString(part))
			continue
		}
		codes, rest, _ := strings.Cut(part, "m")
		for code := range strings.SplitSeq(codes, ";") {
			if style, known := styles[code]; known {
				fmt.Fprintf(&b, `<span style="%s">`, style)
				open++
				continue
			}
			b.WriteString(strings.Repeat("</span>", open))
			open = 0
		}
		b.WriteString(html.EscapeString(rest))
	}
	return b.String()
}
