package explore

import (
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/mongofault"
	"github.com/holdfast-db/holdfast/internal/explore/testrun"
)

// Variable is the environment variable that names the one case to run, as a report does: "update/shop.orders/1:reply-lost".
const Variable = testrun.Variable

// Run explores a function: it runs it without a failure, and then once for each failure of each message that it sent. The test fails if
// something that the function checks does not hold in one of the runs, or if one hangs or leaves goroutines. The report tells the
// smallest such case, with all that happened, and the line that repeats it alone. Runs go side by side, so the function shares nothing
// with another run of itself.
func Run(t *testing.T, function func(*Exploration), opts ...Option) {
	t.Helper()
	report, text, err := explored(t, testrun.Only(), function, opts)
	testrun.Tell(t, report, text, err)
}

// explored explores the function, or only a case of it.
func explored(t *testing.T, only string, function func(*Exploration), opts []Option) (*explore.Report, string, error) {
	t.Helper()
	c, err := newConfig(opts)
	switch {
	case err != nil:
		return nil, "", err
	case function == nil:
		return nil, "", errors.New("explore: Run: the function is nil")
	}
	return testrun.Explore(t, c.Settings, only, c.site.Kinds(), func(strikes explore.Case) (explore.Site, func(*testrun.Run), error) {
		site, err := mongofault.Start(c.site, strikes)
		return site, func(r *testrun.Run) { function(&Exploration{run: r, site: site}) }, err
	})
}
