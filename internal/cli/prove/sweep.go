package prove

import (
	"context"
	"errors"
	"fmt"
)

// sweeps is how often the sweep runs: it may be repeated.
const sweeps = 2

// sweep runs the strategy's sweep with a new client, as a nightly job would.
func (c *cell) sweep(ctx context.Context) error {
	if c.strategy.sweep == nil {
		return nil
	}
	client, err := c.site.connect()
	if err != nil {
		return fmt.Errorf("creating a client: %w", err)
	}
	for range sweeps {
		err = errors.Join(err, c.strategy.sweep(ctx, client.(Client)))
	}
	if err = errors.Join(err, client.Close(ctx)); err != nil {
		return fmt.Errorf("sweep: %w", err)
	}
	return c.site.restore(ctx) // waits until the members have what the sweep wrote
}
