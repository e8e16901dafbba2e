package prove

import (
	"strings"
	"testing"
	"testing/synctest"
)

// Behind a router each cell is as its table says.
func TestTheMatrixBehindARouter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := wholeMatrix(t, Routed{Memory()})
		m.Failures = withoutBefore(m.Failures)
		for _, square := range m.chequered() {
			runMatrix(t, square)
		}
	})
}

func withoutBefore(all []Failure) (behind []Failure) {
	for _, f := range all {
		if !f.before {
			behind = append(behind, f)
		}
	}
	return behind
}

// A few cells run as in the command, with the failures on the leg before the router: there the strategies are what they are without one.
func TestBeforeTheRouterStrategiesAreOnTheirOwn(t *testing.T) {
	m := embeddedMatrix(t, Routed{TCP()}, []string{NoRetry, OneRetry, RetryableWrites}, []string{"request-lost-before", "reply-lost-before"})
	m.Settings.Size.Operations, m.Settings.Size.MessageHits = 30, 4
	patient(&m.Settings)
	runMatrix(t, m)
}

// What breaks the leg before the router needs real sockets.
func TestInMemoryThereIsNoLegBeforeTheRouter(t *testing.T) {
	m := embeddedMatrix(t, Routed{Memory()}, []string{NoRetry}, []string{"request-lost-before", "mixed"})
	for i, want := range []string{"", "n/a, in memory"} {
		if got := m.Deployment.unavailable(m.Strategies[0], m.Failures[i]); got != want {
			t.Errorf("%s: %q, want %q", m.Failures[i].Name, got, want)
		}
	}
}

// A client that never retries is right in each cell behind the router, by the table. Before the router the table is that of the same faults
// without one.
func TestTheTablesOfTheRouter(t *testing.T) {
	for _, s := range Router.Strategies() {
		for _, f := range Router.Failures() {
			got := Router.expect(s, f, Majority)
			if s.Name == NoRetry && !f.before && got != (Expectation{}) {
				t.Errorf("%s, %s: %v, want right", s.Name, f.Name, got)
			}
			if alone := MongoDB.expect(s, Failure{faults: f.faults}, Majority); f.before && got != alone {
				t.Errorf("%s, %s: %v, without a router %v", s.Name, f.Name, got, alone)
			}
		}
	}
}

// The tables of the guide have the verdicts that are expected.
func TestTheGuideHasTheVerdictsWithARouter(t *testing.T) {
	text, _, _ := strings.Cut(section(t, "Behind a router"), "\n## ")
	rows := rowsOf(text)
	for i, s := range Router.Strategies() {
		for _, head := range []string{"failure behind the router", "failure before the router"} {
			if got := rows[head]; len(got) <= i || got[i] != s.Name {
				t.Fatalf("%s: the columns are %v", head, got)
			}
		}
		for _, f := range Router.Failures() {
			if row, want := rows[f.Name], Router.expect(s, f, Majority).Must.String(); len(row) <= i || row[i] != want {
				t.Errorf("%s, %s: the row is %q, want %q", f.Name, s.Name, row, want)
			}
		}
	}
}
