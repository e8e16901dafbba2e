package main

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"github.com/holdfast-db/holdfast/internal/cli/prove"
	reportpage "github.com/holdfast-db/holdfast/internal/cli/report"
)

type proveCommand struct {
	Backend   string        `default:"mongodb" enum:"mongodb,couchbase" placeholder:"NAME" help:"The database to test: mongodb or couchbase."`
	Seed      uint64        `default:"1" help:"The seed for the choice of faults and operations."`
	JSON      bool          `name:"json" help:"Print the report as JSON instead of the table."`
	HTML      string        `name:"html" placeholder:"FILE" help:"Also write the report as one HTML page, with a chart and the story of an operation of each cell. An interrupted run writes none."`
	Check     bool          `help:"Exit with 1 if a cell is not as expected, and with 4 if none is and a cell has no verdict because the machine was busy."`
	Busy      int           `name:"retry-busy" default:"2" placeholder:"N" help:"Run a cell again alone, with longer times, at most N times, if other programs kept the machine so busy that its result may show the machine and not the strategy."`
	W         string        `default:"majority" placeholder:"majority|1" help:"MongoDB: write concern. 1 shows which writes are lost without a majority."`
	Duration  time.Duration `default:"40s" help:"Upper limit for each cell's load."`
	URI       string        `name:"uri" placeholder:"URI" help:"MongoDB: use this server instead of embedded replica sets. Only its database holdfast_prove is used; it must not exist, and is dropped at the end."`
	Router    bool          `help:"MongoDB: a router stands between the clients and each replica set. The failures are done behind it, and some more (request-lost-before, reply-lost-before, delayed-request-before) before it. Nothing is explored."`
	Strategy  []string      `placeholder:"NAME" help:"Only this strategy; may be repeated. ${strategies}."`
	Failure   []string      `placeholder:"NAME" help:"Only this failure; may be repeated. ${failures}."`
	Lag       time.Duration `default:"15ms" help:"MongoDB: the replication lag of the embedded secondaries. With a long one a cell may need a longer --duration."`
	Schedule  bool          `help:"Print the planned faults of the first operations, and run nothing. The same seed has the same schedule."`
	Rollback  bool          `name:"rollbacks" help:"MongoDB: also run the failures of the cluster with write concern 1, where acknowledged writes must be rolled back."`
	Writers   int           `default:"4" help:"The number of writers of a cell."`
	NoExplore bool          `name:"no-explore" help:"MongoDB: run the cells only. Without it one operation of each strategy is run, too, with every failure at each of its messages, unless --failure or --uri is given."`
	Figures   bool          `hidden:"" help:"Also print the lines for docs/FIGURES.md."`
	NoColor   bool          `name:"no-color" help:"Write no colours. NO_COLOR in the environment does the same."`
}

// Run runs the experiment and prints the report.
func (c *proveCommand) Run(s *session) error {
	m, err := c.matrix(s)
	if err != nil {
		return usageError(err)
	}
	if c.Schedule {
		return m.WriteSchedule(s.stdout, c.JSON)
	}
	page, err := openReport("--html", c.HTML)
	if err != nil {
		return usageError(err)
	}
	defer page.discard()
	leave, err := c.deploy(s, &m)
	if err != nil {
		return err
	}
	report, err := c.experiment(s, m)
	if leaveErr := leave(); err == nil && leaveErr != nil {
		err = cannotRun(leaveErr)
	}
	if report == nil {
		return usageError(err)
	}
	if printErr := c.print(s, report); printErr != nil {
		return errors.Join(err, printErr)
	}
	if report.Interrupted {
		return &failure{exitInterrupted, errors.New("interrupted")}
	}
	if err = errors.Join(err, page.write(func(w io.Writer) error { return reportpage.WriteHTML(w, report) })); err != nil {
		return err
	}
	return c.verdict(report)
}

// verdict returns the error of --check.
func (c *proveCommand) verdict(report *prove.Report) error {
	switch odd, busy := len(report.Unexpected()), len(report.Disturbed()); {
	case c.Check && odd > 0:
		return &failure{exitUnexpected, fmt.Errorf("%d cells are not as expected", odd)}
	case c.Check && busy > 0:
		return &failure{exitBusy, fmt.Errorf("%d cells have no verdict: the machine was busy", busy)}
	case c.Check && report.Shown() == 0:
		return &failure{exitUnexpected, errors.New("--check: no cell has a verdict, because none of them is available on this deployment")}
	}
	return nil
}

// onlyMongoDB are the flags of MongoDB's experiment that Couchbase's does not have.
var onlyMongoDB = []string{"w", "uri", "router", "rollbacks", "lag", "no-explore"}

// embedded returns the experiment of the backend, with embedded servers.
func (c *proveCommand) embedded(s *session) (m prove.Matrix, err error) {
	if c.Backend != couchbaseBackend {
		m = prove.Matrix{Dial: prove.Default(), Deployment: prove.TCP()}
		if c.Router {
			m.Deployment = prove.Routed{Embedded: prove.TCP()}
		}
		m.Settings = m.Deployment.Backend().DefaultSettings()
		m.Settings.W, m.Settings.ReplicationDelay = c.W, c.Lag
		return m, nil
	}
	for _, f := range s.given {
		if slices.Contains(onlyMongoDB, f.Name) {
			return m, fmt.Errorf("--%s is for --backend %s", f.Name, mongodbBackend)
		}
	}
	return prove.Matrix{Settings: prove.Couchbase.DefaultSettings(), Deployment: prove.CouchbaseMemory()}, nil
}

// matrix returns the experiment of the flags.
func (c *proveCommand) matrix(s *session) (m prove.Matrix, err error) {
	if m, err = c.embedded(s); err != nil {
		return m, err
	}
	if err := c.contradiction(s); err != nil {
		return m, err
	}
	m.Settings.Seed, m.Settings.LoadLimit, m.Settings.Size.Writers, m.Settings.RunsAlone = c.Seed, c.Duration, c.Writers, c.Busy
	backend := m.Deployment.Backend()
	if m.Strategies, err = backend.StrategiesNamed(c.Strategy); err != nil {
		return m, err
	}
	if m.Failures, err = backend.FailuresNamed(c.Failure); err != nil {
		return m, err
	}
	if c.Rollback {
		m.Failures = append(m.Failures, backend.Rollbacks()...)
	}
	return m, m.Settings.Check()
}

// contradiction returns an error about flags that exclude each other.
func (c *proveCommand) contradiction(s *session) error {
	lag := slices.ContainsFunc(s.given, func(f *kong.Flag) bool { return f.Name == "lag" })
	switch {
	case c.Rollback && (c.W != prove.Majority || c.Failure != nil):
		return errors.New("--rollbacks excludes --w 1 and --failure, which choose the write concern and the failures themselves")
	case lag && c.Lag >= c.Duration && c.Duration > 0:
		return fmt.Errorf("--lag is %v; it must be less than --duration, which is %v", c.Lag, c.Duration)
	case c.URI != "" && c.Router:
		return errors.New("--router excludes --uri: it stands in front of embedded servers")
	case c.URI != "" && lag:
		return errors.New("--lag excludes --uri: it is for embedded secondaries")
	case c.Schedule && c.URI != "":
		return errors.New("--schedule excludes --uri: which faults a server can have is known only when it is asked")
	case c.Schedule && (c.Check || c.HTML != ""):
		return errors.New("--schedule excludes --check and --html: it runs nothing that could be checked or told")
	}
	return nil
}

// deploy prepares the server of --uri, if it is given. The returned function cleans up.
func (c *proveCommand) deploy(s *session, m *prove.Matrix) (leave func() error, err error) {
	if c.URI == "" {
		return func() error { return nil }, nil
	}
	server, err := prove.ConnectServer(s.ctx, c.URI, m.Dial)
	switch {
	case s.ctx.Err() != nil:
		return nil, &failure{exitInterrupted, errors.New("interrupted")}
	case errors.Is(err, prove.ErrURI):
		return nil, usageError(fmt.Errorf("--uri: %w", err))
	case err != nil:
		return nil, cannotRun(fmt.Errorf("--uri: %w", err))
	}
	m.Deployment = server
	server.Adjust(&m.Settings)
	return server.Leave, nil
}

func (c *proveCommand) experiment(s *session, m prove.Matrix) (*prove.Report, error) {
	useProcessors()
	p := newProgress(s.stderr, terminalOf(s.stderr, s.getenv))
	defer p.end()
	m.Progress = p.event
	report, err := m.Run(s.ctx)
	if err == nil && !report.Interrupted && c.explores(m) {
		m.Explore(s.ctx, report, p.explored)
	}
	return report, err
}

// explores reports whether the strategies are to be explored. --failure chooses cells, which then are all that is wanted.
func (c *proveCommand) explores(m prove.Matrix) bool {
	return !c.NoExplore && len(c.Failure) == 0 && m.CanExplore()
}

func (c *proveCommand) print(s *session, report *prove.Report) error {
	if c.JSON {
		return report.WriteJSON(s.stdout)
	}
	t := terminalOf(s.stdout, s.getenv)
	if err := report.WriteText(s.stdout, t.columns, t.coloured(c.NoColor, s.getenv)); err != nil || !c.Figures {
		return err
	}
	return printFigures(s.stdout, report)
}

// printFigures prints the lines for docs/FIGURES.md.
func printFigures(w io.Writer, report *prove.Report) error {
	name := "prove-matrix"
	switch report.Backend {
	case prove.Couchbase:
		name = "prove-cb-matrix"
	case prove.Router:
		name = "router-prove"
	}
	text := fmt.Sprintf("figure %s-s %.1f\nfigure %s-as-expected %d\n",
		name, report.Took.Seconds(), name, len(report.Results)-len(report.Unexpected())-len(report.Disturbed()))
	if e := report.Explored; e != nil {
		text += fmt.Sprintf("figure prove-explored-s %.1f\nfigure prove-explored-runs %d\n", e.Seconds, e.Runs())
	}
	_, err := io.WriteString(w, text)
	return written(err)
}
