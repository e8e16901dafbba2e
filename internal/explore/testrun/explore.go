package testrun

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// Variable is the environment variable that names the one case to run, as a report does.
const Variable = "HOLDFAST_EXPLORE"

// Start starts the servers of a run, and returns the function that is explored.
type Start func(explore.Case) (explore.Site, func(*Run), error)

// Only returns the one case to run, "" if all are.
func Only() string { return os.Getenv(Variable) }

// Explore runs the function without a failure, and then with those of each case, or only with those of one. It returns the report and its
// text.
func Explore(t *testing.T, s Settings, only string, failures []explore.Failure, start Start) (report *explore.Report, text string, err error) {
	t.Helper()
	x := &explorer{t: t, Settings: s, begin: start}
	search := explore.Search{
		Run: x.overTCP, Failures: failures, Chosen: s.Chosen, Depth: s.Depth, Samples: s.Samples, Seed: s.Seed, Parallel: s.Parallel,
		RealClock: true,
	}
	if s.InMemory {
		search.Run, search.RealClock = x.inMemory, false
	}
	if only != "" {
		if search.Only, err = explore.ParseCase(only, failures); err != nil {
			return nil, "", fmt.Errorf("%s: %w", Variable, err)
		}
	}
	report = search.Do(t.Context())
	return report, "explore: " + strings.TrimSpace(report.Text(x.repeat)), nil
}

// Tell tells the test what was found.
func Tell(t *testing.T, report *explore.Report, text string, err error) {
	t.Helper()
	switch {
	case err != nil:
		t.Fatal(err)
	case report.Failing():
		t.Error(text)
	default:
		t.Log(text)
	}
}

// explorer runs the function.
type explorer struct {
	Settings
	t     *testing.T
	begin Start
}

// repeat returns the line that repeats a case alone.
func (x *explorer) repeat(c explore.Case) string {
	parts := strings.Split(x.t.Name(), "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	pattern := strings.ReplaceAll(strings.Join(parts, "/"), "'", `'\''`)
	return fmt.Sprintf("%s='%s' go test -run '%s'", Variable, c, pattern)
}

// start starts the servers of a run.
func (x *explorer) start(ctx context.Context, c explore.Case) (*Run, func(*Run), error) {
	site, function, err := x.begin(c)
	if err != nil {
		return nil, nil, err
	}
	r := &Run{site: site}
	r.ctx, r.cancel = context.WithCancel(ctx)
	return r, function, nil
}
