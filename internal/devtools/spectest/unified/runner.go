package unified

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// Runner runs cases against a deployment.
type Runner struct {
	Deployment Deployment

	// SetInternal sets an option that a client's public builders do not have, and reports whether it knows it. It may be nil.
	SetInternal func(builder any, name string, v bson.RawValue) (bool, error)
	// Tracing traces a client. Nil means that cases about traces are not run.
	Tracing Tracing
	// Settle waits until the clients have delivered the events of what has happened. Nil means that the runner does not wait.
	Settle func()
}

// limit is how long one case may take; a client that hangs must not hold the others. It is a cancellation and no deadline,
// because a deadline changes what clients send.
const limit = 2 * time.Minute

var errTimeUp = fmt.Errorf("the case did not end within %v", limit)

// run is one case being run.
type run struct {
	runner   *Runner
	file     *File
	test     *Test
	internal *mongoClient
	entities *entities
	points   []func(context.Context) error // turn fail points off

	transactions bool // the case may have left one open
}

// Run runs one case of a file: nil if it passes, Skipped if it says so itself.
func (r *Runner) Run(ctx context.Context, f *File, t *Test) error {
	if err := r.admit(f, t); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(limit, func() { cancel(errTimeUp) })
	defer timer.Stop()
	internal, err := r.connectInternally()
	if err != nil {
		return err
	}
	defer internal.Disconnect(context.WithoutCancel(ctx)) //nolint:errcheck // the case is over
	c := &run{runner: r, file: f, test: t, internal: internal, entities: newEntities()}
	if err := c.execute(ctx); err != nil {
		return fmt.Errorf("%w%s", err, timeUp(ctx))
	}
	return nil
}

func timeUp(ctx context.Context) string {
	if errors.Is(context.Cause(ctx), errTimeUp) {
		return " (" + errTimeUp.Error() + ")"
	}
	return ""
}

// admit decides whether a case is run at all.
func (r *Runner) admit(f *File, t *Test) error {
	if err := checkSchema(f.SchemaVersion); err != nil {
		return err
	}
	if err := r.Deployment.Facts().Admit(f, t); err != nil {
		return err
	}
	if t.ExpectTracingMessages != nil && r.Tracing == nil {
		return refuse("expectTracingMessages is not supported by this runner")
	}
	return nil
}

// execute does the steps of a case in their order, and cleans up whatever happened.
func (c *run) execute(ctx context.Context) (err error) {
	defer func() {
		if cleanup := c.cleanUp(context.WithoutCancel(ctx), err != nil); err == nil {
			err = cleanup
		}
	}()
	if err := c.setInitialData(ctx); err != nil {
		return fmt.Errorf("initialData: %w", err)
	}
	if err := c.createAll(ctx, c.file.CreateEntities); err != nil {
		return fmt.Errorf("createEntities: %w", err)
	}
	for i, doc := range c.test.Operations {
		if _, err := c.perform(ctx, doc); err != nil {
			return fmt.Errorf("operation %d: %w", i, err)
		}
	}
	c.stopRecording()
	if err := c.pointsOff(ctx); err != nil {
		return err
	}
	if err := c.checkEvents(); err != nil {
		return fmt.Errorf("expectEvents: %w", err)
	}
	if err := c.checkLogs(); err != nil {
		return fmt.Errorf("expectLogMessages: %w", err)
	}
	if err := c.checkSpans(); err != nil {
		return fmt.Errorf("expectTracingMessages: %w", err)
	}
	if err := c.checkOutcome(ctx); err != nil {
		return fmt.Errorf("outcome: %w", err)
	}
	return nil
}

func (c *run) stopRecording() {
	for _, e := range c.entities.newestFirst() {
		if client, ok := e.(*clientEntity); ok {
			client.recorder.stop()
		}
	}
}

func (c *run) checkEvents() error {
	for _, want := range c.test.ExpectEvents {
		client, err := entityNamed[*clientEntity](c.entities, want.Client)
		if err != nil {
			return err
		}
		kind := want.EventType
		if kind == "" {
			kind = "command"
		}
		m := matcher{c.entities}
		if err := m.matchEvents(want, client.recorder.of(kind)); err != nil {
			return fmt.Errorf("%s: %w", want.Client, err)
		}
	}
	return nil
}

func (c *run) pointsOff(ctx context.Context) error {
	var errs []error
	for _, off := range c.points {
		errs = append(errs, off(ctx))
	}
	c.points = nil
	return errors.Join(errs...)
}

// cleanUp leaves the deployment as the next case wants to find it.
func (c *run) cleanUp(ctx context.Context, failed bool) error {
	err := c.pointsOff(ctx)
	for _, e := range c.entities.newestFirst() {
		switch e := e.(type) {
		case *thread:
			e.stop()
		case cursor:
			_ = e.Close(ctx)
		case *mongoSession:
			e.EndSession(ctx)
		}
	}
	if (c.transactions || failed) && c.runner.Deployment.Facts().Topology != "single" { // a standalone has no transactions
		_ = c.internal.Database("admin").RunCommand(ctx, bson.D{{Key: "killAllSessions", Value: bson.A{}}}).Err()
	}
	for _, e := range c.entities.newestFirst() {
		if client, ok := e.(*clientEntity); ok {
			_ = client.Disconnect(ctx)
		}
	}
	return err
}

func (r *Runner) connectInternally() (*mongoClient, error) {
	opts := options.Client().ApplyURI(r.Deployment.SingleURI())
	r.Deployment.Configure(opts)
	return mongoConnect(opts)
}
