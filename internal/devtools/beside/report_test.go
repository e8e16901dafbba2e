package main

import (
	"slices"
	"testing"
)

func TestReport(t *testing.T) {
	run := func(output string) map[string]float64 {
		return figuresIn("=== RUN\n" + output + "figure broken x\nother text here\n--- PASS\n")
	}
	pairs := []pair{
		{run("figure b 10\nfigure a 100\nfigure gone 1\nfigure none 0\n"), run("figure b 10\nfigure a 103\nfigure none 1\n")},
		{run("figure b 10\nfigure a 100\nfigure none 0\n"), run("figure b 9\nfigure a 250\nfigure none 1\n")},
		{run("figure b 10\nfigure a 100\nfigure none 0\n"), run("figure b 9\nfigure a 90\nfigure none 1\n")},
	}
	lines := []string{"a: before 100.0, now 103.0, +3.00 %", "b: before 10.0, now 9.0, -10.00 %"}
	for of, last := range map[string]string{"": "figure x 3.00", "a|b": "figure x 3.00", "^b": "figure x -10.00", "c": "no figure was measured that counts"} {
		m := measurement{figure: "x", of: of}
		if got, want := m.report(pairs), append(slices.Clone(lines), last); !slices.Equal(got, want) {
			t.Errorf("of %q: the report is %q, want %q", of, got, want)
		}
	}
}

func TestAMeasurementNeedsAllItsParts(t *testing.T) {
	whole := measurement{before: "a", folder: "b", file: "c", test: "d", pairs: 1}
	if err := whole.check(); err != nil {
		t.Error(err)
	}
	for _, without := range []func(*measurement){
		func(m *measurement) { m.before = "" }, func(m *measurement) { m.folder = "" }, func(m *measurement) { m.file = "" },
		func(m *measurement) { m.test = "" }, func(m *measurement) { m.pairs = 0 }, func(m *measurement) { m.of = "(" },
	} {
		m := whole
		without(&m)
		if m.check() == nil {
			t.Errorf("%+v is accepted", m)
		}
	}
}
