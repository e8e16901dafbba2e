package prove

import (
	"context"
	"sync"

	"go.mongodb.org/mongo-driver/v2/event"
	official "go.mongodb.org/mongo-driver/v2/mongo"
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
