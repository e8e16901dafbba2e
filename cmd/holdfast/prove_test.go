package main

import (
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
)

func TestTheExitCodeOfCheck(t *testing.T) {
	right, busy, wrong := prove.Result{}, prove.Result{Busy: true}, prove.Result{Verdict: prove.OverCounts}
	absent := prove.Result{Unavailable: "n/a"}
	for _, c := range []struct {
		name  string
		cells []prove.Result
		want  int
	}{
		{"all as expected", []prove.Result{right, right}, exitOK},
		{"one without a verdict", []prove.Result{right, busy}, exitBusy},
		{"all without a verdict", []prove.Result{busy}, exitBusy},
		{"one wrong, one without a verdict", []prove.Result{wrong, busy}, exitUnexpected},
		{"none available", []prove.Result{absent}, exitUnexpected},
	} {
		report := &prove.Report{Results: c.cells}
		code := exitOK
		if f := (*failure)(nil); errors.As((&proveCommand{Check: true}).verdict(report), &f) {
			code = f.code
		}
		if code != c.want {
			t.Errorf("%s: exit code %d, want %d", c.name, code, c.want)
		}
		if err := (&proveCommand{}).verdict(report); err != nil {
			t.Errorf("%s, without --check: %v", c.name, err)
		}
	}
}
