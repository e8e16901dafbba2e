package explore

import (
	"github.com/holdfast-db/holdfast/internal/explore/mongofault"
	"github.com/holdfast-db/holdfast/internal/explore/testrun"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Exploration is one run of the function. Its methods may be called from any goroutine, but for FailNow and Fatalf, which must be called
// from that of the function.
//
// It has what test helpers need of a *testing.T: Logf, Errorf, Fatalf, FailNow, Failed, Cleanup and Helper. Logf adds a line to the report
// of the run, which is shown if the run fails: for example what the program returned. Errorf notes that what the program promises does not
// hold. Context returns a context that ends when the run does, or outlives its budget.
//
// Check(func() error) ends all failures, waits until there is a primary and every member has every write, and calls the function: its
// error is a mistake of the program. What is sent afterwards meets no failure. It may be called again.
type Exploration struct {
	*run
	site *mongofault.Site
}

// run is what an exploration of any database has.
type run = testrun.Run

// URI returns the connection string of the run's servers.
func (e *Exploration) URI() string { return e.site.Deployment().URI() }

// Dialer returns what connects to the run's servers: with [InMemory] the only way to reach them.
func (e *Exploration) Dialer() *Dialer {
	return testrun.NewDialer(e.run, e.site.Deployment().Dialer())
}

// Deployment returns the run's servers, to prepare data that no failure may concern, or to read what they have.
func (e *Exploration) Deployment() *mongotest.Deployment { return e.site.Deployment() }

var _ mongotest.Tester = (*Exploration)(nil)
