package prove

import (
	"context"
	"slices"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/once"
)

// The clients of this file have deliberate defects. They are made around a sound client, so they can be made around any
// driver.

// withDefect returns a dial function whose clients have a defect.
func withDefect(dial Dial, defect func(Client) Client) Dial {
	return func(t Target) (Client, error) {
		sound, err := dial(t)
		if err != nil {
			return nil, err
		}
		return defect(sound), nil
	}
}

// firstError is a client that retries, and then returns the first error although the retry has succeeded.
type firstError struct {
	Client
	mu    sync.Mutex
	first error // the first error of the current update
}

func returnsFirstError(dial Dial) Dial {
	return func(t Target) (Client, error) {
		c := &firstError{}
		t.Monitor = &event.CommandMonitor{Failed: func(_ context.Context, e *event.CommandFailedEvent) { c.failed(e.Failure) }}
		var err error
		c.Client, err = dial(t)
		return c, err
	}
}

func (c *firstError) failed(err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.first == nil {
		c.first = err
	}
}

// Update implements [Client].
func (c *firstError) Update(ctx context.Context, u Update) error {
	c.mu.Lock()
	c.first = nil
	c.mu.Unlock()
	err := c.Client.Update(ctx, u)
	c.mu.Lock()
	defer c.mu.Unlock()
	if err == nil {
		return c.first
	}
	return err
}

// sixTries is a client that tries six times to find a server.
type sixTries struct{ Client }

func triesSixTimes(dial Dial) Dial {
	return withDefect(dial, func(c Client) Client { return sixTries{c} })
}

// Update implements [Client].
func (c sixTries) Update(ctx context.Context, u Update) error {
	err := c.Client.Update(ctx, u)
	for tries := 1; tries < 6 && err != nil && len(official.ErrorCodes(err)) == 0; tries++ {
		err = c.Client.Update(ctx, u)
	}
	return err
}

// twice is a client that sends every update again after its acknowledgement.
type twice struct{ Client }

func sendsTwice(dial Dial) Dial { return withDefect(dial, func(c Client) Client { return twice{c} }) }

// Update implements [Client].
func (c twice) Update(ctx context.Context, u Update) error {
	err := c.Client.Update(ctx, u)
	if err == nil {
		_ = c.Client.Update(ctx, u)
	}
	return err
}

// defectiveOnce is a client whose exactly-once updates have a defect: change changes each update's filter or its operators.
type defectiveOnce struct {
	Client
	change func(filter, update bson.D) (bson.D, bson.D)
}

// Once implements [Client].
func (c defectiveOnce) Once(through func(once.Commands) once.Commands) (*once.Collection, error) {
	return c.Client.Once(func(inner once.Commands) once.Commands { return through(changed{inner, c.change}) })
}

type changed struct {
	once.Commands
	change func(filter, update bson.D) (bson.D, bson.D)
}

// UpdateOne implements [once.Commands].
func (c changed) UpdateOne(
	ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateOneOptions],
) (*official.UpdateResult, error) {
	by, err := fieldsOf(filter)
	if err != nil {
		return nil, err
	}
	with, err := fieldsOf(update)
	if err != nil {
		return nil, err
	}
	by, with = c.change(by, with)
	return c.Commands.UpdateOne(ctx, by, with, opts...)
}

func fieldsOf(document any) (d bson.D, err error) {
	data, err := bson.Marshal(document)
	if err == nil {
		err = bson.Unmarshal(data, &d)
	}
	return d, err
}

func without(d bson.D, key string) bson.D {
	return slices.DeleteFunc(slices.Clone(d), func(e bson.E) bool { return e.Key == key })
}

// ignoresFinished is a client whose first step does not look whether the operation is finished.
func ignoresFinished(dial Dial) Dial {
	return withDefect(dial, func(c Client) Client {
		return defectiveOnce{c, func(filter, update bson.D) (bson.D, bson.D) { return without(filter, "_once.finished"), update }}
	})
}

// sweepsAndKeeps is a client that does not remove the tokens of others when it applies their updates. It is a sweep if it has made no token.
func sweepsAndKeeps(dial Dial) Dial {
	return withDefect(dial, func(c Client) Client {
		sweeps := true
		return defectiveOnce{c, func(filter, update bson.D) (bson.D, bson.D) {
			if update[0].Key == "$push" {
				sweeps = false
			}
			if sweeps {
				update = without(update, "$pull")
			}
			return filter, update
		}}
	})
}
