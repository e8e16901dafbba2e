package explore

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/mongofault"
)

// Variable is the environment variable that names the one case to run, as a report does: "update/shop.orders/1:reply-lost".
const Variable = "HOLDFAST_EXPLORE"

// Run explores a function: it runs it without a failure, and then once for each failure of each message that it sent. The test fails if
// something that the function checks does not hold in one of the runs, or if one hangs or leaves goroutines. The report tells the
// smallest such case, with all that happened, and the line that repeats it alone. Runs go side by side, so the function shares nothing
// with another run of itself.
func Run(t *testing.T, function func(*Exploration), opts ...Option) {
	t.Helper()
	report, text, err := run(t, os.Getenv(Variable), function, opts)
	switch {
	case err != nil:
		t.Fatal(err)
	case report.Failing():
		t.Error(text)
	default:
		t.Log(text)
	}
}

// run explores the function, or only a case of it.
func run(t *testing.T, only string, function func(*Exploration), opts []Option) (report *explore.Report, text string, err error) {
	t.Helper()
	c, err := newConfig(opts)
	if err != nil {
		return nil, "", err
	}
	if function == nil {
		return nil, "", errors.New("explore: Run: the function is nil")
	}
	x := &explorer{t: t, config: c, function: function}
	search := explore.Search{
		Run: x.overTCP, Failures: c.site.Kinds(), Chosen: c.chosen, Depth: c.depth, Samples: c.samples, Seed: c.seed, Parallel: c.parallel,
	}
	if c.site.InMemory {
		search.Run = x.inMemory
	}
	if only != "" {
		if search.Only, err = explore.ParseCase(only, search.Failures); err != nil {
			return nil, "", fmt.Errorf("%s: %w", Variable, err)
		}
	}
	report = search.Do(t.Context())
	return report, "explore: " + strings.TrimSpace(report.Text(x.repeat)), nil
}

// explorer runs the function.
type explorer struct {
	*config
	t        *testing.T
	function func(*Exploration)
}

// repeat returns the line that repeats a case alone.
func (x *explorer) repeat(c explore.Case) string {
	parts := strings.Split(x.t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + p + "$"
	}
	return fmt.Sprintf("%s='%s' go test -run '%s'", Variable, c, strings.Join(parts, "/"))
}

// begin starts the servers of a run.
func (x *explorer) begin(ctx context.Context, c explore.Case) (*Exploration, error) {
	site, err := mongofault.Start(x.site, c)
	if err != nil {
		return nil, err
	}
	e := &Exploration{site: site}
	e.ctx, e.cancel = context.WithCancel(ctx)
	return e, nil
}

// end ends the servers of a run.
func (e *Exploration) end() {
	e.cancel()
	if e.over != nil {
		close(e.over)
	}
	if err := e.site.Close(); err != nil {
		e.Errorf("%v", err)
	}
}
