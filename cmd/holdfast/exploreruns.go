package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
)

// posixShell runs the check.
const posixShell = "sh"

// programRuns runs a program, each time with servers of its own.
type programRuns struct {
	start  startSite
	args   []string
	check  string // the command line of --check
	budget time.Duration
}

// programRun is one run.
type programRun struct {
	*programRuns
	explore.Outcome

	servers explore.Site
	reached environment
	log     []string
}

// run runs the program with the failures of a case.
func (p *programRuns) run(ctx context.Context, c explore.Case) explore.Outcome {
	began := time.Now()
	servers, reached, err := p.start(c)
	if err != nil {
		return explore.Outcome{Case: c, Problems: []string{err.Error()}}
	}
	r := programRun{programRuns: p, servers: servers, reached: reached, Outcome: explore.Outcome{Case: c}}
	ctx, cancel := context.WithTimeout(ctx, p.budget)
	defer cancel()
	r.judge(ctx)
	if err := servers.Close(); err != nil {
		r.problem("%v", err)
	}
	servers.Fill(&r.Outcome)
	r.Took = time.Since(began)
	if r.Settle(); r.Verdict.Failing() {
		r.Log = r.log
	}
	return r.Outcome
}

func (r *programRun) problem(format string, args ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// judge runs the program and the check, and notes what does not hold.
func (r *programRun) judge(ctx context.Context) {
	program, ok := r.execute(ctx, "program", r.args)
	if !ok {
		return
	}
	if program.code != 0 && (r.check == "" || r.Case == nil) {
		r.problem("the program ended with exit code %d%s", program.code, program.last)
		return
	}
	if r.check == "" {
		return
	}
	if err := r.servers.Heal(ctx); err != nil {
		r.problem("%v", err)
		return
	}
	check, ok := r.execute(ctx, "check", []string{posixShell, "-c", r.check}, "HOLDFAST_EXIT_CODE="+strconv.Itoa(program.code))
	if ok && check.code != 0 {
		r.problem("the check ended with exit code %d (the program with %d)%s", check.code, program.code, check.last)
	}
}

// longestLast is how many characters of a last line are said with an exit code. The whole is in the log.
const longestLast = 120

// ending is how the program or the check ended.
type ending struct {
	code int
	last string // its last line of output after a colon, "" if it wrote nothing
}

// execute runs the program or the check. It is not ok if it has no exit code.
func (r *programRun) execute(ctx context.Context, what string, args []string, environ ...string) (e ending, ok bool) {
	var output tail
	one := child{args: args, environ: append(environ, r.reached()...), output: &output}
	state, err := one.run(ctx)
	lines := output.lines()
	r.log = append(r.log, lines...)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		r.Verdict = explore.Hung
		r.problem("the %s was killed: the run has taken longer than its budget of %v", what, r.budget)
		return e, false
	case err != nil:
		r.problem("the %s: %v", what, err)
		return e, false
	}
	if len(lines) > 0 {
		e.last = ": " + cut(lines[len(lines)-1], longestLast)
	}
	e.code = exitCodeOf(state)
	r.servers.Note("program", "the %s ended with exit code %d", what, e.code)
	return e, true
}
