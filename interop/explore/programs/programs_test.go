package programs

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/interop/explore/programs/consumer"
	"github.com/holdfast-db/holdfast/interop/explore/programs/increment"
	"github.com/holdfast-db/holdfast/interop/explore/programs/lock"
	"github.com/holdfast-db/holdfast/interop/explore/programs/outbox"
	"github.com/holdfast-db/holdfast/interop/explore/programs/sideeffect"
)

type work func(context.Context, *mongo.Client) error

type program struct {
	name string // also that of its files in node and python
	// The program in Go.
	mistake, mended work
	audit           func(ctx context.Context, client *mongo.Client, said error) error
	// shownBy is a case that shows the mistake, and finding is a part of what the audit finds whenever the mistake is shown.
	shownBy, finding string
}

var programs = []program{
	{
		"increment", increment.Mistake, increment.Mended, increment.Audit,
		"update/increment.accounts/1:reply-lost", "points of ada: 2 times",
	},
	{
		"sideeffect", sideeffect.Mistake, sideeffect.Mended, sideeffect.Audit,
		"insert/sideeffect.orders/1:reply-lost", "lamps were taken for",
	},
	{
		"consumer", consumer.Mistake, consumer.Mended, consumer.Audit,
		"update/consumer.orders/1:request-lost", "2 orders have the new address",
	},
	{
		"lock", lock.Mistake, lock.Mended, lock.Audit,
		"update/lock.orders/1:request-lost", "an order is archived: 0 times",
	},
	{
		"outbox", outbox.Mistake, outbox.Mended, outbox.Audit,
		"update/outbox.subscribers/1:request-lost", "billing has 0 events for 1 orders",
	},
}
