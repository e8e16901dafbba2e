package main

import (
	"strings"
	"testing"
)

const document = `# Figures

| figure | what it is | bar | command | last |
|---|---|---|---|---|
| a | says a | at most 1 | ` + "`go test ./a -run 'A\\|B'`" + ` | |

| b | says b | 0 | ` + "`go test ./b`" + ` | 0, 2026-01-02 |`

func TestRowsOf(t *testing.T) {
	lines := strings.Split(document, "\n")
	rows, err := rowsOf(lines)
	if err != nil || len(rows) != 2 {
		t.Fatalf("%d rows, %v; want 2", len(rows), err)
	}
	if r := rows[0]; r.name != "a" || r.command != "go test ./a -run 'A|B'" || r.line != 4 {
		t.Errorf("the first row is %+v", r)
	}
	want := "| a | says a | at most 1 | `go test ./a -run 'A\\|B'` | 0.5, 2026-11-30 |"
	if got := rows[0].measuredAs("0.5", "2026-11-30"); got != want {
		t.Errorf("the line is\n%s\nwant\n%s", got, want)
	}
}

func TestRowsOfRefusesARowThatItCannotMeasure(t *testing.T) {
	for _, line := range []string{
		"| a | says a | 0 | `go test -run 'A|B'` | |", // a bar that is not escaped
		"| a | says a | 0 | `go test` |",              // without the last cell
	} {
		_, err := rowsOf([]string{"| head | | | | |", line})
		if err == nil || !strings.Contains(err.Error(), "docs/FIGURES.md:2 has ") {
			t.Errorf("%s: %v; want an error that names the line", line, err)
		}
	}
}

func TestChosen(t *testing.T) {
	rows := []row{{name: "a", command: "go test ./a"}, {name: "b", command: "go test ./b"}, {name: "c", command: "make c"}}
	for _, test := range []struct {
		choice choice
		want   string
	}{
		{choice{}, "abc"},
		{choice{names: []string{"a", "c"}}, "ac"},
		{choice{command: "^go"}, "ab"},
		{choice{except: "b$"}, "ac"},
		{choice{names: []string{"b", "c"}, command: "^go", except: "a$"}, "b"},
	} {
		chosen, err := test.choice.of(rows)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		for _, r := range chosen {
			got += r.name
		}
		if got != test.want {
			t.Errorf("%+v: %q; want %q", test.choice, got, test.want)
		}
	}
	for _, c := range []choice{{command: "("}, {except: "("}, {names: []string{"a", "d"}}} {
		if _, err := c.of(rows); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
