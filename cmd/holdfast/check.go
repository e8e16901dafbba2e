package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/internal/cli/inspect"
)

type checkCommand struct {
	deployment

	Timeout time.Duration `default:"10s" help:"How long the servers are looked for, and how long each answer may take."`
	JSON    bool          `name:"json" help:"Print one JSON object."`
	NoColor bool          `name:"no-color" help:"Write no colours. NO_COLOR in the environment does the same."`
}

// Help returns the part of the help that is not about a flag.
func (*checkCommand) Help() string {
	return `It looks at the deployment and at the connection string, and says which of the two lets operations fail, get lost or be applied twice: the size of
the set, votes and arbiters, the write concern, retries, timeouts, versions, clocks, certificates. Each finding has its cost and how to mend it.
It only reads. The exit code is 1 if there is a warning or a problem. A finding that a user may not read is a note with the reason; the role
clusterMonitor may read all.`
}

// Run prints the findings.
func (c *checkCommand) Run(s *session) error {
	if err := checkTimeout(c.Timeout); err != nil {
		return err
	}
	uri, err := c.uri(s)
	if err != nil {
		return err
	}
	report, err := c.check(s, uri)
	if err != nil {
		return err
	}
	if err := c.print(s, report); err != nil {
		return cannotRun(err)
	}
	if report.Failed() {
		bad := report.Counts[inspect.Warning] + report.Counts[inspect.Problem]
		return &failure{exitUnexpected, fmt.Errorf("%d of %d findings are warnings or problems", bad, len(report.Findings))}
	}
	return nil
}

func (c *checkCommand) check(s *session, uri string) (*inspect.Report, error) {
	status := newStatusLine(s)
	facts, err := inspect.Survey(s.ctx, uri, inspect.SurveyOptions{AppName: "holdfast check", Timeout: c.Timeout, Progress: status.show})
	status.end()
	var options *inspect.OptionsError
	switch {
	case errors.As(err, &options):
		return nil, connectionStringError(err)
	case s.ctx.Err() != nil:
		return nil, errInterrupted
	case err != nil:
		return nil, cannotRun(err)
	}
	return inspect.Check(facts), nil
}

func (c *checkCommand) print(s *session, r *inspect.Report) error {
	if c.JSON {
		return writeJSON(s, r)
	}
	t := terminalOf(s.stdout, s.getenv)
	return r.WriteText(s.stdout, t.columns, t.coloured(c.NoColor, s.getenv))
}
