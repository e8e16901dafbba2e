package spec

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"testing"

	"github.com/holdfast-db/holdfast/internal/spectest/unified"
)

var passed, listed, skips int

func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if passed > 0 {
		fmt.Printf("skipped by the files' own word: %d\n", skips)
		fmt.Printf("figure spec-official-passed %d\nfigure spec-official-listed %d\n", passed, listed)
	}
	os.Exit(code)
}

func count(table []group, results []result) {
	for _, r := range results {
		skipped := new(unified.Skipped)
		switch {
		case errors.As(r.err, &skipped):
			skips++
		case reasonOf(table, r.file, r.name) != "":
			listed++
		case r.err == nil:
			passed++
		}
	}
}
