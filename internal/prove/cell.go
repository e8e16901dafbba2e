package prove

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// Database is the only one that the experiment touches.
const Database = "holdfast_prove"

// patience is how long, after the load's limit, operations may take to end, and how long healing and the audit may take.
const patience = 20 * time.Second

// cell is one strategy against one failure.
type cell struct {
	strategy Strategy
	failure  Failure
	settings Settings
	repeat   int // how often it was run before, on what may be the same server
	dial     Dial
	site     site
	base     Target
	referee  *referee
	injector *injector
	deadline time.Time // of the load

	mu           sync.Mutex
	done         int // operations that ended
	acknowledged int
}

// name is also the collection's: a cell that is run again on the same server needs one that is empty.
func (c *cell) name() string {
	name := c.strategy.Name + "-" + c.failure.Name
	if c.repeat > 0 {
		name += fmt.Sprintf("-again-%d", c.repeat)
	}
	return name
}

// runCell runs one cell from its first connection to its verdict, for the first time or once more.
func runCell(ctx context.Context, s Strategy, f Failure, repeat int, settings Settings, dial Dial, d Deployment) Result {
	began := time.Now()
	c := &cell{strategy: s, failure: f, repeat: repeat, settings: settings, dial: dial}
	result := c.blank()
	if why := d.unavailable(s, f); why != "" {
		result.Unavailable = why
		return result
	}
	result.Without = d.without(f)
	c.failure.faults = exclude(f.faults, result.Without)
	result.Expected = expect(s, c.failure, settings.W)
	if err := ctx.Err(); err != nil {
		result.Interrupted = true
		return result
	}
	if err := c.measure(ctx, d, &result); err != nil {
		result.Error = err.Error()
		result.Interrupted = ctx.Err() != nil
	}
	result.Seconds = time.Since(began).Seconds()
	return result
}

func exclude(all, without []FaultKind) []FaultKind {
	var kept []FaultKind
	for _, k := range all {
		if !(Failure{faults: without}).has(k) {
			kept = append(kept, k)
		}
	}
	return kept
}

func (c *cell) measure(ctx context.Context, d Deployment, result *Result) (err error) {
	if c.site, err = d.open(c.settings); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.site.close()) }()
	c.base = c.site.target()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.prepare(ctx)
	records, err := c.load(ctx, cancel)
	if err != nil {
		return err
	}
	healing, done := context.WithTimeout(ctx, patience)
	defer done()
	book, err := c.audit(healing)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	c.count(result, records, book)
	c.judge(result)
	return nil
}

func (c *cell) prepare(ctx context.Context) {
	size := c.settings.Size
	c.referee = newReferee(size.Writers)
	p := newPlan(c.settings.Seed, c.failure, size.every(c.failure), size.Writers)
	c.injector = newInjector(ctx, p, c.referee, c.site, Database, c.strategy.twoSteps)
}

// load runs the writers and heals what is broken when they end.
func (c *cell) load(ctx context.Context, cancel context.CancelCauseFunc) ([]record, error) {
	writers, err := c.writers(ctx)
	if err != nil {
		return nil, err
	}
	release := c.site.intercept(mongotest.Decide(c.injector.intercept))
	c.injector.warmUp()
	c.deadline = time.Now().Add(c.settings.LoadLimit)
	watchdog := time.AfterFunc(c.settings.LoadLimit+patience, func() {
		cancel(fmt.Errorf("operations did not end within %v after the load's end: %s", patience, c.referee.describe()))
	})
	defer watchdog.Stop()
	var group sync.WaitGroup
	for _, w := range writers {
		group.Go(func() { w.run(ctx) })
	}
	group.Wait()
	c.injector.finish()
	var records []record
	for _, w := range writers {
		records = append(records, w.records...)
	}
	release()
	if err := c.rest(ctx, writers); err != nil {
		return nil, err
	}
	return records, c.injector.harm
}

// rest heals everything and closes the clients.
func (c *cell) rest(ctx context.Context, writers []*writer) error {
	healing, done := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer done()
	err := c.site.restore(healing)
	for _, w := range writers {
		err = errors.Join(err, w.client.Close(healing))
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (c *cell) writers(ctx context.Context) ([]*writer, error) {
	var list []*writer
	for n := range c.settings.Size.Writers {
		client, err := c.connect(c.strategy.RetryWrites)
		if err != nil {
			for _, w := range list {
				_ = w.client.Close(ctx)
			}
			return nil, err
		}
		list = append(list, &writer{cell: c, number: n, client: client})
	}
	return list, nil
}

func (c *cell) connect(retryWrites bool) (Client, error) {
	t := c.base
	t.Database, t.Collection = Database, c.name()
	t.RetryWrites, t.W, t.Timing = retryWrites, c.settings.W, c.settings.Timing
	client, err := c.dial(t)
	if err != nil {
		return nil, fmt.Errorf("making a client: %w", err)
	}
	return client, nil
}

// progress notes that an operation ended.
func (c *cell) progress(r record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if r.err == nil {
		c.acknowledged++
	}
}

// exhausted reports whether the load must end whatever it has reached.
func (c *cell) exhausted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done >= c.settings.Size.MaxOperations || time.Now().After(c.deadline)
}

// reached reports whether the load has all that was asked for but an outage.
func (c *cell) reached() bool {
	c.mu.Lock()
	enough := c.acknowledged >= c.settings.Size.Operations
	c.mu.Unlock()
	return enough && c.injector.reached(c.failure, c.settings.Size)
}
