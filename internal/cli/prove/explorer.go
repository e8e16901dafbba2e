package prove

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/internal/explore/mongofault"
)

// exploredLimit is how long a run may take. It is reached only if a client waits for ever.
const exploredLimit = 30 * time.Second

// explorer explores one strategy.
type explorer struct {
	strategy Strategy
	settings Settings
	dial     Dial
	servers  mongofault.Settings

	mu    sync.Mutex
	ended map[string]ExploredRun // by the name of the case, which is "" without a failure
}

// explore runs the operation without a failure, and then with each failure at each message.
func (e *explorer) explore(ctx context.Context, progress func(ended, known int)) ExploredStrategy {
	search := explore.Search{
		Run: e.run, Failures: e.servers.Kinds(), Seed: int64(e.settings.Seed), Parallel: exploredAtOnce, Progress: progress,
		RealClock: true,
	}
	found := search.Do(ctx)
	s := ExploredStrategy{Strategy: e.strategy.Name, Title: e.strategy.Title, Interrupted: found.Left > 0}
	if found.First.Verdict == "" { // the first run was interrupted
		return s
	}
	s.Without = e.ended[""]
	for i := range found.First.Messages {
		s.Messages = append(s.Messages, e.stepName(i))
	}
	for i := range found.Outcomes {
		s.Runs = append(s.Runs, e.named(found, &found.Outcomes[i]))
	}
	return s
}

// named returns a run with the names of its message and its failure.
func (e *explorer) named(found *explore.Report, o *explore.Outcome) ExploredRun {
	strike := o.Case[0]
	at := slices.IndexFunc(found.First.Messages, strike.Message.Same)
	r := e.ended[o.Case.String()]
	r.Message, r.Step, r.Failure, r.Title = at+1, e.stepName(at), strike.Failure, found.Title(strike.Failure)
	r.NotReached = o.Verdict == explore.NotReached
	return r
}

// stepName returns the name of a message of the operation without a failure, by its place. A sound client sends one message a step.
func (e *explorer) stepName(place int) string {
	if step := Step(place + 1); step == FirstStep || step == SecondStep && e.strategy.twoSteps {
		return e.strategy.stepName(step)
	}
	return fmt.Sprintf("message %d", place+1)
}

// run runs the operation once, with servers that do the failure of a case.
func (e *explorer) run(ctx context.Context, c explore.Case) explore.Outcome {
	ctx, cancel := context.WithTimeoutCause(ctx, exploredLimit, fmt.Errorf("the run has not ended within %v", exploredLimit))
	defer cancel()
	o := explore.Outcome{Case: c}
	r, err := e.onServers(ctx, &o)
	if err != nil {
		r.Error = err.Error()
	}
	for _, problem := range []string{string(r.Flaw), r.Error} {
		if problem != "" {
			o.Problems = append(o.Problems, problem)
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	e.ended[c.String()] = r
	return o
}

func (e *explorer) onServers(ctx context.Context, o *explore.Outcome) (r ExploredRun, err error) {
	site, err := mongofault.Start(e.servers, o.Case)
	if err != nil {
		return r, err
	}
	defer func() {
		err = errors.Join(err, site.Close())
		site.Fill(o)
	}()
	return e.operate(ctx, site)
}

// operate runs the operation, ends the failures, and audits the data as a cell does.
func (e *explorer) operate(ctx context.Context, site *mongofault.Site) (r ExploredRun, err error) {
	c := &cell{backend: MongoDB, strategy: e.strategy, failure: Failure{Name: "explored"}, settings: e.settings, dial: e.dial}
	c.site = newMongoSite(&replicaSet{Deployment: site.Deployment(), settings: e.settings, memory: true}, c)
	client, err := c.site.connect()
	if err != nil {
		return r, fmt.Errorf("creating a client: %w", err)
	}
	d := doing{client: client, document: c.document(OpID{})}
	err = e.strategy.do(ctx, &d)
	done := record{id: d.id, err: err, claim: d.claim(e.strategy, err), tries: d.tries}
	err = errors.Join(site.Heal(ctx), client.Close(ctx))
	if ctx.Err() != nil {
		return r, context.Cause(ctx)
	}
	if err != nil {
		return r, err
	}
	b, err := c.audit(ctx, []record{done})
	if err != nil {
		return r, fmt.Errorf("audit: %w", err)
	}
	return e.judge(done, b.applied[done.id]), nil
}

// judge compares what the strategy has reported with how often the operation is applied. An error that leaves the outcome open is honest.
// But a strategy that can learn the outcome has to: it ends with an error only if a server has given one.
func (e *explorer) judge(done record, applied int) ExploredRun {
	r := ExploredRun{Acknowledged: done.err == nil, Applied: applied}
	couldLearn := e.strategy.learns() && done.err != nil && !answered(done.err)
	switch {
	case applied > 1:
		r.Flaw = FlawExtra
	case applied == 0 && r.Acknowledged:
		r.Flaw = FlawMissing
	case applied == 1 && (done.claim == NotApplied || couldLearn):
		r.Flaw = FlawMisreported
	}
	return r
}
