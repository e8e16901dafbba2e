package tail

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
)

const (
	docsFile = "../../../docs/TAIL.md"
	plotFile = "../../../docs/tail.svg"
)

// section is the part of the docs that -update writes: the table in it.
var section = regexp.MustCompile(`(?s)(<!-- tail: begin -->\n).*?(<!-- tail: end -->)`)

const tableHead = `| goroutines | deadline | client | p50 | p99 | p99.9 | most / least | longest / p50 |
|---|---|---|---|---|---|---|---|
`

func (r results) table() string {
	var b strings.Builder
	b.WriteString(tableHead)
	for _, l := range loads {
		for _, name := range []string{driver.NameOurs, driver.NameOfficial} {
			m := r[run{name, l}]
			fmt.Fprintf(&b, "| %d | %s | %s | %s | %s | %s | %.2f | %.2f |\n", l.goroutines,
				map[bool]string{false: "no", true: "yes"}[l.deadline], name, rounded(m.p50), rounded(m.p99), rounded(m.p999),
				m.unfairness, m.longest)
		}
	}
	return b.String()
}

// rounded keeps two or three digits.
func rounded(d time.Duration) string {
	unit := time.Duration(1)
	for d >= 1000*unit {
		unit *= 10
	}
	return d.Round(unit).String()
}

func (r results) updateDocs(t *testing.T) {
	t.Helper()
	docs, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	if !section.Match(docs) {
		t.Fatalf("%s has no section for the table", docsFile)
	}
	docs = section.ReplaceAll(docs, []byte("${1}"+r.table()+"${2}"))
	for file, text := range map[string]string{docsFile: string(docs), plotFile: r.plot()} {
		if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestTheDocsShowEachLoad compares the docs with the loads, not with what this machine measures.
func TestTheDocsShowEachLoad(t *testing.T) {
	docs, err := os.ReadFile(docsFile)
	if err != nil {
		t.Fatal(err)
	}
	rows := strings.Count(string(section.Find(docs)), "\n| ") - 1
	if want := len(loads) * len(driver.Names()); rows != want {
		t.Errorf("the table of %s has %d rows; it must have %d", docsFile, rows, want)
	}
	drawn, err := os.ReadFile(plotFile)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(drawn), "<polyline"); n != 2*len(lines) {
		t.Errorf("%s has %d lines; it must have %d", plotFile, n, 2*len(lines))
	}
}

func TestThePlotIsLogarithmic(t *testing.T) {
	r := results{}
	for _, l := range loads {
		for _, name := range driver.Names() {
			d := time.Duration(l.goroutines) * 100 * time.Microsecond
			r[run{name, l}] = measured{p50: d, p99: d, p999: d}
		}
	}
	for _, deadline := range []bool{false, true} {
		// from the second of six decades to the last one
		got := r.points(lines[0], deadline, 0)
		if !strings.HasPrefix(got, "0.0,248.3 ") || !strings.HasSuffix(got, " 330.0,81.7") {
			t.Errorf("the points are %s", got)
		}
	}
}

func TestPercentiles(t *testing.T) {
	waits := make([][]time.Duration, 2)
	for i := range 1000 {
		waits[i%2] = append(waits[i%2], time.Duration(1000-i))
	}
	waits = append(waits, nil)
	s := newSample(waits)
	for p, want := range map[float64]time.Duration{50: 501, 99: 991, 99.9: 1000, 100: 1000} {
		if got := s.percentile(p); got != want {
			t.Errorf("p%v is %d, want %d", p, got, want)
		}
	}
	if got := s.unfairness(); got != 500 {
		t.Errorf("unfairness is %v, want 500", got)
	}
	if got := s.longest(); got != 1000.0/501 {
		t.Errorf("the longest wait is %v medians", got)
	}
}
