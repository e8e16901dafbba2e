package explore

import (
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/explore/couchbasefault"
	"github.com/holdfast-db/holdfast/internal/explore/testrun"
)

// Exploration is one run of the function. Its methods may be called from any goroutine, but for FailNow and Fatalf, which must be called
// from that of the function.
//
// It has what test helpers need of a *testing.T: Logf, Errorf, Fatalf, FailNow, Failed, Cleanup and Helper. Logf adds a line to the report
// of the run, which is shown if the run fails: for example what the program returned. Errorf notes that what the program promises does not
// hold. Context returns a context that ends when the run does, or outlives its budget.
//
// Check(func() error) ends all failures: all nodes run, reach each other, and are in the cluster; late requests have arrived, and a rebalance
// has ended. In memory clients then have a minute to connect again. Then it calls the function: its error is a mistake of the program. What
// is sent afterwards meets no failure. It may be called again. Over TCP a connection may break while the function begins, so that a write of
// it may have to be tried again.
type Exploration struct {
	*run
	site *couchbasefault.Site
}

// run is what an exploration of any database has.
type run = testrun.Run

// ConnectionString returns the connection string of the run's cluster.
func (e *Exploration) ConnectionString() string { return e.site.Cluster().ConnectionString() }

// Username returns the administrator's name.
func (e *Exploration) Username() string { return e.site.Cluster().Username() }

// Password returns the administrator's password.
func (e *Exploration) Password() string { return e.site.Cluster().Password() }

// Dialer returns what connects to the run's cluster: with [InMemory] the only way to reach it.
func (e *Exploration) Dialer() *Dialer { return testrun.NewDialer(e.run, e.site.Cluster().Dialer()) }

// Cluster returns the run's cluster, to prepare data that no failure may concern, or to read what it has.
func (e *Exploration) Cluster() *couchbasetest.Cluster { return e.site.Cluster() }

// Dialer connects to the cluster of one run, with DialContext(ctx, network, address), by an address of the cluster map. It returns the
// errors of a dial on TCP. It is safe for concurrent use.
//
// With [InMemory], a dial after the run has ended never returns: a client that nobody has closed would try again for ever, and the
// bubble's clock would never stop. So its goroutines are seen to be left.
type Dialer = testrun.Dialer

var _ couchbasetest.Tester = (*Exploration)(nil)
