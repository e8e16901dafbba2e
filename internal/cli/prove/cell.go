package prove

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"
)

// Database is the only database that the experiment uses.
const Database = "holdfast_prove"

// endLimit is the time in which the operations must end after the load's limit. It is also the time limit for healing
// the cluster, and that of the audit.
const endLimit = 20 * time.Second

// cell is one strategy against one failure.
type cell struct {
	backend  *Backend
	strategy Strategy
	failure  Failure
	settings Settings
	repeat   int // how often the cell was run before, perhaps on the same server
	dial     Dial
	site     site
	referee  *referee
	injector *injector
	deadline time.Time // the end of the load

	mu           sync.Mutex
	done         int // number of operations that have ended
	acknowledged int
}

// name returns the name of the cell and of its collection. A repeated cell needs an empty collection, so its name
// differs.
func (c *cell) name() string {
	name := c.strategy.Name + "-" + c.failure.Name
	if c.repeat > 0 {
		name += fmt.Sprintf("-again-%d", c.repeat)
	}
	return name
}

// runCell runs one cell, from its first connection to its verdict. repeat is how often it was run before.
func runCell(ctx context.Context, s Strategy, f Failure, repeat int, settings Settings, dial Dial, d Deployment) Result {
	began := time.Now()
	if f.W != "" {
		settings.W = f.W
	}
	c := &cell{backend: d.Backend(), strategy: s, failure: f, repeat: repeat, settings: settings, dial: dial}
	result := c.blank()
	if why := d.unavailable(s, f); why != "" {
		result.Unavailable = why
		return result
	}
	result.Without = d.without(f)
	c.failure.faults = exclude(f.faults, result.Without)
	result.Expected = c.backend.expect(s, c.failure, settings.W)
	if err := ctx.Err(); err != nil {
		result.Interrupted = true
		return result
	}
	if err := c.measure(ctx, d, &result); err != nil {
		result.Error, result.serverEnded = err.Error(), errors.Is(err, errServerEnded)
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
	if c.site, err = d.open(c); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.site.close()) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.prepare(ctx)
	records, err := c.load(ctx, cancel)
	if err != nil {
		return err
	}
	healing, done := context.WithTimeout(ctx, endLimit)
	defer done()
	book, err := c.audit(healing, records)
	if err != nil {
		return fmt.Errorf("audit: %w", err)
	}
	if err := c.count(result, records, book); err != nil {
		return fmt.Errorf("stories: %w", err)
	}
	c.judge(result)
	return nil
}

func (c *cell) prepare(ctx context.Context) {
	c.referee = newReferee(c.settings.Size.Writers)
	c.injector = newInjector(ctx, c.settings.plan(c.failure), c.referee, c.site, c.document, c.strategy.twoSteps)
	c.injector.goal = func(kind FaultKind) int { return withMargin(c.settings.Size.goal(c.failure, kind)) }
}

// load runs the writers, and heals the cluster when they have ended.
func (c *cell) load(ctx context.Context, cancel context.CancelCauseFunc) ([]record, error) {
	writers, err := c.writers(ctx)
	if err != nil {
		return nil, err
	}
	release := c.site.intercept(c.injector.intercept)
	c.injector.warmUp()
	c.deadline = time.Now().Add(c.settings.LoadLimit)
	watchdog := time.AfterFunc(c.settings.LoadLimit+endLimit, func() {
		cancel(fmt.Errorf("operations did not end within %v after the load's limit: %s", endLimit, c.referee.describe()))
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
	if err := c.healAndClose(ctx, writers); err != nil {
		return nil, err
	}
	return records, c.injector.failure
}

// healAndClose heals the cluster and closes the clients.
func (c *cell) healAndClose(ctx context.Context, writers []*writer) error {
	healing, done := context.WithTimeout(context.WithoutCancel(ctx), endLimit)
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
		client, err := c.site.connect()
		if err != nil {
			err = fmt.Errorf("creating a client: %w", err)
			for _, w := range list {
				_ = w.client.Close(ctx)
			}
			return nil, err
		}
		list = append(list, &writer{cell: c, number: n, client: client})
	}
	return list, nil
}

// document returns the name of an operation's document.
func (c *cell) document(id OpID) string { return c.backend.document(id, c.settings.Size.Writers) }

// durable reports whether Couchbase is asked for majority durability. Only such a write can be answered with "ambiguous", so those that
// are to meet that answer are durable with every strategy.
func (c *cell) durable(id OpID) bool {
	f, ok := c.injector.plan.of(id)
	return c.strategy.durable || ok && f.kind == SyncWriteAmbiguous
}

// progress counts an operation that has ended.
func (c *cell) progress(r record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if r.err == nil {
		c.acknowledged++
	}
}

// exhausted reports whether the load must end, even if it has not reached its goals.
func (c *cell) exhausted() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.done >= c.settings.Size.MaxOperations || time.Now().After(c.deadline)
}

// reached reports whether the load has reached all its goals except an outage.
func (c *cell) reached() bool {
	c.mu.Lock()
	enough := c.acknowledged >= c.settings.Size.Operations
	c.mu.Unlock()
	return enough && c.injector.reached(c.failure.faults)
}
