package storm

import (
	"fmt"
	"html"
	"math"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

const (
	docsFile = "../../../docs/ENGINE.md"
	plotFile = "../../../docs/storm.svg"

	tableHead = `| each client's retries | peak load in 1 s | peak load in 0.1 s | mean load in the storm | time to recover | operations that failed |
|---|---|---|---|---|---|
`
)

// section is the part of the docs that this package keeps: its table stands within the named group.
var section = regexp.MustCompile(`(?s)<!-- storm: begin -->\n.*?\n(?P<table>\|.*?\|\n)\n.*?<!-- storm: end -->`)

// row is the table's line for a result.
func row(name string, r *result) string {
	recovery := "never"
	if after, ok := r.recovery(); ok {
		recovery = fmt.Sprintf("%.1f s", after.Seconds())
	}
	return fmt.Sprintf("| %s | %.2f | %.2f | %.2f | %s | %s |\n",
		name, r.peak(time.Second), r.peak(bin), r.inStorm(), recovery, thousands(r.failed()))
}

func table(results []*result) string {
	b := tableHead
	for i, r := range results {
		b += row(strategies[i].name, r)
	}
	return b
}

func thousands(n int) string {
	if n < 1000 {
		return strconv.Itoa(n)
	}
	return fmt.Sprintf("%s,%03d", thousands(n/1000), n%1000)
}

// readDocs returns the docs, and where their table begins and ends.
func readDocs(t *testing.T) (docs string, from, to int) {
	t.Helper()
	b, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	at := section.FindSubmatchIndex(b)
	if at == nil {
		t.Fatalf("%s has no storm section with a table", docsFile)
	}
	return string(b), at[2], at[3]
}

func updateDocs(t *testing.T, results []*result) {
	docs, from, to := readDocs(t)
	for file, text := range map[string]string{
		docsFile: docs[:from] + table(results) + docs[to:],
		plotFile: plot(results),
	} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// checkDocs compares the docs with the values measured now. The engine's and the network's random delays are not seeded, so
// numbers may differ by 5 %, and times by half a second.
func checkDocs(t *testing.T, results []*result) {
	docs, from, to := readDocs(t)
	got, want := strings.Split(docs[from:to], "\n"), strings.Split(table(results), "\n")
	if len(got) != len(want) {
		t.Fatalf("the table in %s has %d lines, want %d", docsFile, len(got), len(want))
	}
	for i := range want {
		if !alike(got[i], want[i]) {
			t.Errorf("%s says\n%s\nand the measurement\n%s\nrun it with -update", docsFile, got[i], want[i])
		}
	}
	drawn, err := os.ReadFile(plotFile)
	if err != nil {
		t.Fatal(err)
	}
	for _, how := range strategies {
		if !strings.Contains(string(drawn), ">"+html.EscapeString(how.name)+"<") {
			t.Errorf("%s does not show %q", plotFile, how.name)
		}
	}
}

// alike compares two lines of the table cell by cell.
func alike(a, b string) bool {
	as, bs := strings.Split(a, "|"), strings.Split(b, "|")
	if len(as) != len(bs) {
		return false
	}
	for i := range as {
		if as[i] != bs[i] && !closeTo(as[i], bs[i]) {
			return false
		}
	}
	return true
}

func closeTo(a, b string) bool {
	x, timeX, errX := number(a)
	y, timeY, errY := number(b)
	if errX != nil || errY != nil || timeX != timeY {
		return false
	}
	if timeX {
		return math.Abs(x-y) <= 0.5
	}
	return math.Abs(x-y) <= 0.05*y
}

func number(cell string) (n float64, isTime bool, err error) {
	cell, isTime = strings.CutSuffix(strings.TrimSpace(cell), " s")
	n, err = strconv.ParseFloat(strings.ReplaceAll(cell, ",", ""), 64)
	return n, isTime, err
}
