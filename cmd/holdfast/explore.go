package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"github.com/holdfast-db/holdfast/internal/cli/explorereport"
	"github.com/holdfast-db/holdfast/internal/explore"
)

type exploreCommand struct {
	Backend      string        `default:"mongodb" enum:"mongodb,couchbase" placeholder:"NAME" help:"The servers of each run: mongodb or couchbase."`
	Check        string        `placeholder:"'COMMAND LINE'" help:"The command line for sh that checks what the program promises, after each run and without any failure. Its exit code is the verdict then, and the program may end with any."`
	Failures     []string      `placeholder:"NAME" help:"Only these failures; names with commas between them, or the flag repeated."`
	ListFailures bool          `name:"list-failures" help:"Print the failures, and run nothing."`
	Only         string        `placeholder:"CASE" help:"Run this case alone, such as update/shop.orders/1:reply-lost or increment/default/k/1:reply-lost."`
	Depth        int           `default:"1" help:"How many failures a run has at most. Every case with one is run, and a sample of those with more."`
	Samples      int           `default:"200" help:"How many cases with two failures are drawn, how many with three, and so on."`
	Seed         int64         `default:"1" help:"The seed of the samples."`
	Parallel     int           `placeholder:"N" help:"How many runs go at once; without it four for each processor, because most of them wait."`
	Budget       time.Duration `default:"60s" help:"How long a run may take. The program is killed then, with the processes that it has started, and the run counts as broken."`
	JSON         string        `name:"json" placeholder:"FILE" help:"Also write the report as JSON."`
	JUnit        string        `name:"junit" placeholder:"FILE" help:"Also write the report as JUnit XML: a test for each case."`
	HTML         string        `name:"html" placeholder:"FILE" help:"Also write the report as one HTML page, with the matrix and with charts of what happened."`
	NoColor      bool          `name:"no-color" help:"Write no colours. NO_COLOR in the environment does the same."`

	MongoDB   mongodbExplored   `embed:"" group:"mongodb"`
	Couchbase couchbaseExplored `embed:"" group:"couchbase"`

	Command commandLine `arg:"" optional:"" name:"command" help:"The program and its arguments, after --."`
}

// Help returns the part of the help that is not about a flag.
func (*exploreCommand) Help() string {
	return `It runs a program with database servers of its own, to see the messages that the program sends. Then it runs the program again for each failure of each
message, each time with new servers. It reports each run in which what the program promises does not hold, with all that happened.

The program finds its servers in the environment variable MONGODB_URI, with --backend couchbase in COUCHBASE_CONNSTR (the connection string),
COUCHBASE_USERNAME and COUCHBASE_PASSWORD. It may be written in any language, and must do the same in each run. Its exit code is the verdict:
0 if what it promises holds. With --check the exit code of the check is. The check has these variables too, and HOLDFAST_EXIT_CODE, the exit
code of the program; it runs after all failures have ended. In the run without a failure the program must end with 0.

Of Couchbase the failures happen to key-value messages. write-lost only happens if --failures or --only names it: a program whose writes have no
durability accepts that one.

A run that does not send the message of its case is reported as not reached, never as passed.`
}

// commandLine takes all that is left of a command line, as it is.
type commandLine []string

// Decode takes the words. It returns no error.
func (l *commandLine) Decode(ctx *kong.DecodeContext) error { //nolint:unparam // as kong demands
	for ctx.Scan.Len() > 0 {
		*l = append(*l, ctx.Scan.Pop().String())
	}
	return nil
}

// Run explores the program and prints the report.
func (c *exploreCommand) Run(s *session) error {
	database, err := c.database(s)
	if err != nil {
		return usageError(err)
	}
	if c.ListFailures {
		return written(printFailures(s.stdout, database.failures))
	}
	search, err := c.search(database)
	if err != nil {
		return usageError(err)
	}
	if err := c.findPrograms(); err != nil {
		return cannotRun(err)
	}
	files, err := c.openFiles()
	if err != nil {
		return usageError(err)
	}
	defer files.discard()
	report := &explorereport.Report{Report: c.explore(s, search), Program: quotedWords(c.Command), Repeat: c.repeat(s)}
	t := terminalOf(s.stdout, s.getenv)
	if err := errors.Join(report.WriteText(s.stdout, t.columns, t.coloured(c.NoColor, s.getenv)), files.write(report)); err != nil {
		return cannotRun(err)
	}
	return exploreVerdict(s, report.Report)
}

// findPrograms returns an error if a program does not exist, which else each run would say.
func (c *exploreCommand) findPrograms() error {
	programs := c.Command[:1]
	if c.Check != "" {
		programs = append(programs[:1:1], posixShell)
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			return err
		}
	}
	return nil
}

func (c *exploreCommand) explore(s *session, search *explore.Search) *explore.Report {
	useProcessors()
	p := newRunProgress(s)
	defer p.end()
	search.Progress = p.ran
	return search.Do(s.ctx)
}

// exploreVerdict returns the error of a report that is not right.
func exploreVerdict(s *session, r *explore.Report) error {
	switch broken := len(r.Broken()); {
	case s.ctx.Err() != nil:
		return errInterrupted
	case r.First.Verdict.Failing():
		return &failure{exitUnexpected, errors.New("the program fails without any failure, so nothing was explored")}
	case len(r.Outcomes) == 0:
		return cannotRun(errors.New("there was nothing to explore"))
	case broken > 0:
		return &failure{exitUnexpected, fmt.Errorf("broken in %d of %d runs", broken, len(r.Outcomes))}
	case r.Failing():
		return &failure{exitUnexpected, errors.New("the case was not reached")}
	}
	return nil
}

func printFailures(w io.Writer, list []explore.Failure) error {
	width := 0
	for _, f := range list {
		width = max(width, len(f.Name))
	}
	for _, f := range list {
		if _, err := fmt.Fprintf(w, "%-*s  %s\n", width, f.Name, f.Title); err != nil {
			return err
		}
	}
	return nil
}

// reportFiles are those of the flags.
type reportFiles struct{ json, junit, html *reportFile }

func (c *exploreCommand) openFiles() (f reportFiles, err error) {
	for _, one := range []struct {
		file       **reportFile
		flag, path string
	}{{&f.json, "--json", c.JSON}, {&f.junit, "--junit", c.JUnit}, {&f.html, "--html", c.HTML}} {
		if *one.file, err = openReport(one.flag, one.path); err != nil {
			f.discard()
			return f, err
		}
	}
	return f, nil
}

func (f *reportFiles) discard() {
	for _, one := range []*reportFile{f.json, f.junit, f.html} {
		one.discard()
	}
}

func (f *reportFiles) write(r *explorereport.Report) error {
	return errors.Join(f.json.write(r.WriteJSON), f.junit.write(r.WriteJUnit), f.html.write(r.WriteHTML))
}

// search returns what is explored.
func (c *exploreCommand) search(database exploredDatabase) (*explore.Search, error) {
	if err := c.contradiction(); err != nil {
		return nil, err
	}
	r := &programRuns{start: database.start, args: c.Command, check: c.Check, budget: c.Budget}
	search := &explore.Search{
		Run: r.run, Failures: database.failures, Depth: c.Depth, Samples: c.Samples, Seed: c.Seed, Parallel: c.Parallel, RealClock: true,
	}
	if c.Only == "" {
		return search, nil
	}
	only, err := explore.ParseCase(c.Only, search.Failures)
	if err != nil {
		return nil, fmt.Errorf("--only: %s", strings.TrimPrefix(err.Error(), "explore: "))
	}
	search.Only = only
	return search, nil
}
