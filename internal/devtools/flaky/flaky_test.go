package main

import "testing"

// The exit code says whether a test failed, and whether the command must be run again.
func TestTheExitCode(t *testing.T) {
	tests := []runnable{{test: test{"p", "TestA", "1"}}, {test: test{"p", "TestB", "1"}}}
	passed, failed := result{Package: "p", Test: "TestA", Build: "1", Runs: 3}, result{Package: "p", Test: "TestB", Build: "1", Runs: 3, Failed: 1}
	for _, c := range []struct {
		name string
		done []result
		code int
	}{
		{"nothing was run", nil, 2},
		{"one test is left", []result{passed}, 2},
		{"a test failed, one is left", []result{failed}, 1},
		{"a test failed", []result{passed, failed}, 1},
		{"all passed", []result{passed, {Package: "p", Test: "TestB", Build: "1", Runs: 3}}, 0},
	} {
		j := &journal{done: map[test]result{}}
		for _, r := range c.done {
			j.done[r.of()] = r
		}
		if code := report(tests, j, false); code != c.code {
			t.Errorf("%s: the exit code is %d, want %d", c.name, code, c.code)
		}
	}
}

// A run that was ended goes on where it stopped.
func TestTheJournalIsReadAgain(t *testing.T) {
	folder := t.TempDir()
	first, err := openJournal(folder)
	if err != nil {
		t.Fatal(err)
	}
	if err := first.add(result{Package: "p", Test: "TestA", Build: "1", Runs: 3, Failed: 1}); err != nil {
		t.Fatal(err)
	}
	if _, err := first.file.WriteString(`{"package":"p","test":"TestB"`); err != nil { // killed while it wrote
		t.Fatal(err)
	}
	first.close()
	again, err := openJournal(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer again.close()
	if r, ok := again.result(test{"p", "TestA", "1"}); !ok || r.Failed != 1 {
		t.Errorf("the result that was written is %+v, %t", r, ok)
	}
	if _, ok := again.result(test{"p", "TestB", "1"}); ok {
		t.Error("a result that was not written to its end counts")
	}
	if err := again.add(result{Package: "p", Test: "TestB", Build: "1", Runs: 3}); err != nil {
		t.Fatal(err)
	}
	last, err := openJournal(folder)
	if err != nil {
		t.Fatal(err)
	}
	defer last.close()
	if _, ok := last.result(test{"p", "TestB", "2"}); ok {
		t.Error("the result of another build counts")
	}
	if _, ok := last.result(test{"p", "TestB", "1"}); !ok {
		t.Error("the result after one that was not written to its end is lost")
	}
}

func TestBadFlagsAreRefused(t *testing.T) {
	for _, o := range []options{{runs: 0, slowRuns: 1, workers: 1}, {runs: 1, slowRuns: 0, workers: 1}, {runs: 1, slowRuns: 1}, {runs: 1, slowRuns: 1, workers: 1, busy: -1}, {runs: 1, slowRuns: 1, workers: 1, limit: -1}} {
		if o.check() == nil {
			t.Errorf("%+v is accepted", o)
		}
	}
}
