package prove

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// embeddedMatrix returns the command's matrix or a part of it.
func embeddedMatrix(t *testing.T, d Deployment, strategyNames, failureNames []string) Matrix {
	t.Helper()
	b := d.Backend()
	s, err := b.StrategiesNamed(strategyNames)
	if err != nil {
		t.Fatal(err)
	}
	f, err := b.FailuresNamed(failureNames)
	if err != nil {
		t.Fatal(err)
	}
	return Matrix{Strategies: s, Failures: f, Settings: b.DefaultSettings(), Dial: Default(), Deployment: d}
}

func runMatrix(t *testing.T, m Matrix) *Report {
	t.Helper()
	r, err := m.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range r.Unexpected() {
		t.Errorf("%s, %s is not as expected", c.Failure, c.Strategy)
		explain(t, int(m.Settings.Seed), c)
	}
	for i := range r.Results {
		checkStories(t, &r.Results[i])
	}
	return r
}

// wholeMatrix returns the command's matrix for the fake clock; with the race detector, the mixed failures. Unless -whole is given, its cells are
// as small as a verdict allows.
func wholeMatrix(t *testing.T, d Deployment) Matrix {
	t.Helper()
	m := embeddedMatrix(t, d, nil, nil)
	if !*wholeFlag {
		s := &m.Settings.Size
		s.Operations, s.MessageHits, s.ClusterHits, s.MixedHits = 30, 2, 4, 2
	}
	if raceEnabled {
		m.Failures = []Failure{mixedFailure(t, d.Backend())}
	}
	return m
}

// without leaves failures out, unless -whole is given, or the race detector has chosen them.
func (m Matrix) without(leftOut func(Failure) bool) Matrix {
	if !*wholeFlag && !raceEnabled {
		m.Failures = slices.DeleteFunc(m.Failures, leftOut)
	}
	return m
}

// chequered returns two matrices with every second cell, as the white squares of a chessboard, or one with all if -whole is given. Each strategy and
// each failure has cells; .ci/full runs the command, which has all of them.
func (m Matrix) chequered() []Matrix {
	if *wholeFlag || raceEnabled {
		return []Matrix{m}
	}
	whole := m
	squares := []Matrix{m, m}
	for i := range squares {
		squares[i].Strategies, squares[i].Failures = nil, nil
		for j := i; j < len(whole.Strategies); j += 2 {
			squares[i].Strategies = append(squares[i].Strategies, whole.Strategies[j])
		}
		for j := i; j < len(whole.Failures); j += 2 {
			squares[i].Failures = append(squares[i].Failures, whole.Failures[j])
		}
	}
	return squares
}

// isMixed: the figures have the mixed failures.
func isMixed(f Failure) bool { return f.Name == Mixed }

// isOfMessages reports whether a failure breaks single messages only. Such a failure does the same at each write concern.
func isOfMessages(f Failure) bool { return !slices.ContainsFunc(f.faults, FaultKind.breaksCluster) }

// TestWholeMatrix runs the whole matrix on the fake clock.
func TestWholeMatrix(t *testing.T) {
	for _, w := range []string{Majority, One} {
		t.Run("w "+w, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := wholeMatrix(t, Memory())
				m.Settings.W = w
				leftOut := isMixed
				if w == One {
					leftOut = isOfMessages
				}
				for _, square := range m.without(leftOut).chequered() {
					runMatrix(t, square)
				}
			})
		})
	}
}

// patient makes the clients wait longer: a machine under load must not end an operation.
func patient(s *Settings) {
	s.Timing.ServerSelection, s.Timing.Connect, s.Parallel = 10*time.Second, 5*time.Second, 4
}

// A few cells run as in the command: on TCP and the real clock.
func TestAFewCellsOnTCP(t *testing.T) {
	m := embeddedMatrix(t, TCP(), []string{NoRetry, OneRetry, RetryableWrites}, []string{"request-lost", "reply-lost", "step-down"})
	m.Settings.Size.Operations, m.Settings.Size.MessageHits, m.Settings.Size.ClusterHits = 30, 4, 4
	patient(&m.Settings)
	runMatrix(t, m)
}

// Through the proxy there are no faults of the cluster, and a standalone has no retryable writes.
func TestMatrixThroughTheProxy(t *testing.T) {
	for _, c := range []struct {
		name      string
		run       func(*testing.T) *mongotest.Deployment
		broken    string
		retryable string
	}{
		{"replica set", func(t *testing.T) *mongotest.Deployment { return mongotest.RunReplicaSetT(t, 3) }, "n/a, not ours to break", ""},
		{"standalone", func(t *testing.T) *mongotest.Deployment { return mongotest.RunStandaloneT(t) }, "n/a, standalone", "not supported: standalone"},
	} {
		t.Run(c.name, func(t *testing.T) {
			rs := c.run(t)
			server, err := ConnectServer(t.Context(), rs.URI(), Default())
			if err != nil {
				t.Fatal(err)
			}
			m := embeddedMatrix(t, server, []string{OneRetry, TwoStep, Once, RetryableWrites}, []string{"request-lost", "reply-lost", "step-down", "overload", "delayed-request"})
			m.Settings.Size.Operations, m.Settings.Size.MessageHits = 30, 4
			patient(&m.Settings)
			r := runMatrix(t, m)
			if got := r.at(0, 2).Unavailable; got != c.broken {
				t.Errorf("step-down: %q, want %q", got, c.broken)
			}
			if got := r.at(3, 0).Unavailable; !strings.HasPrefix(got, c.retryable) || c.retryable == "" && got != "" {
				t.Errorf("retryable writes: %q, want %q", got, c.retryable)
			}
			if err := server.Leave(); err != nil {
				t.Error(err)
			}
			if left := rs.ReadAll(Database + "." + marker); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// The collection of a cell's first run is still on the server when the cell is repeated.
func TestARepeatedCellOnTheSameServer(t *testing.T) {
	rs := mongotest.RunStandaloneT(t)
	server, err := ConnectServer(t.Context(), rs.URI(), Default())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = server.Leave() }()
	m := embeddedMatrix(t, server, []string{NoRetry}, []string{"command-error"})
	m.Settings.Size.Operations, m.Settings.Size.MessageHits = 30, 4
	for repeat := range 2 {
		r := runCell(t.Context(), m.Strategies[0], m.Failures[0], repeat, m.Settings, m.Dial, server)
		if r.Counts.Extra != 0 || r.Error != "" {
			t.Errorf("run %d: %d applied twice or more, %s", repeat, r.Counts.Extra, r.Error)
		}
	}
}
