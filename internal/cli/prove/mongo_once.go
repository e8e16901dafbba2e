package prove

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/once"
)

// exactlyOnce applies the operation with package mongo/once.
func exactlyOnce(ctx context.Context, d *doing) error {
	updates, err := d.client.(Client).Once(func(inner once.Commands) once.Commands { return recorded{inner, d} })
	if err != nil {
		return err
	}
	u := increment(d.id, d.document)
	_, err = updates.UpdateOne(ctx, u.Filter, u.Change, options.UpdateOne().SetUpsert(u.Upsert))
	return err
}

// recorded are the commands of an operation, whose updates are recorded as tries.
type recorded struct {
	once.Commands
	doing *doing
}

// UpdateOne implements [once.Commands].
func (r recorded) UpdateOne(
	ctx context.Context, filter, update any, opts ...options.Lister[options.UpdateOneOptions],
) (result *official.UpdateResult, err error) {
	statement, err := bson.Marshal(bson.D{{Key: "q", Value: filter}, {Key: "u", Value: update}})
	if err != nil {
		return nil, err
	}
	p, _ := partOf(statement)
	err = r.doing.try(p.step, func() (err error) {
		result, err = r.Commands.UpdateOne(ctx, filter, update, opts...)
		return err
	})
	return result, err
}

// sweepOnce is the sweep of package mongo/once.
func sweepOnce(ctx context.Context, c Client) error {
	updates, err := c.Once(func(inner once.Commands) once.Commands { return inner })
	if err != nil {
		return err
	}
	result, err := updates.Sweep(ctx, once.SweepOptions{OlderThan: time.Nanosecond})
	if err != nil {
		return err
	}
	return result.Err()
}
