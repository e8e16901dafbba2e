package unified

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/event"
)

func assertSession(holds func(sessionState) bool, what string) function[*run] {
	return func(_ context.Context, _ *run, a *arguments) (any, error) {
		s := taken[*mongoSession](a, "session")
		if err := a.rest(nil); err != nil {
			return nil, err
		}
		if state := mongoSessionState(s); !holds(state) {
			return nil, fmt.Errorf("the session is not %s: %+v", what, state)
		}
		return nil, nil
	}
}

func assertTransactionState(_ context.Context, _ *run, a *arguments) (any, error) {
	s, want := taken[*mongoSession](a, "session"), a.text("state")
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, equal("state", &want, mongoSessionState(s).transaction)
}

func assertLsids(same bool) function[*run] {
	return func(_ context.Context, _ *run, a *arguments) (any, error) {
		client := taken[*clientEntity](a, "client")
		if err := a.rest(nil); err != nil {
			return nil, err
		}
		var started []*event.CommandStartedEvent
		for _, o := range client.recorder.of("command") {
			if e, ok := o.event.(*event.CommandStartedEvent); ok {
				started = append(started, e)
			}
		}
		if len(started) < 2 {
			return nil, fmt.Errorf("want two commandStartedEvents, there are %d", len(started))
		}
		last := started[len(started)-2:]
		x, y := field(last[0].Command, "lsid"), field(last[1].Command, "lsid")
		if x.Type == 0 || y.Type == 0 {
			return nil, errors.New("one of the last two commands has no lsid")
		}
		return nil, equal("the lsids of the last two commands are the same", &same, x.Equal(y))
	}
}

func assertCollection(exists bool) function[*run] {
	return func(ctx context.Context, c *run, a *arguments) (any, error) {
		db, name := a.text("databaseName"), a.text("collectionName")
		if err := a.rest(nil); err != nil {
			return nil, err
		}
		names, err := c.internal.Database(db).ListCollectionNames(ctx, struct{}{})
		if err != nil {
			return nil, err
		}
		return nil, equal("the collection exists", &exists, slices.Contains(names, name))
	}
}

func assertIndex(exists bool) function[*run] {
	return func(ctx context.Context, c *run, a *arguments) (any, error) {
		db, collection, name := a.text("databaseName"), a.text("collectionName"), a.text("indexName")
		if err := a.rest(nil); err != nil {
			return nil, err
		}
		found, err := c.internal.Database(db).Collection(collection).Indexes().ListSpecifications(ctx)
		if err != nil {
			return nil, err
		}
		there := false
		for _, index := range found {
			there = there || index.Name == name
		}
		return nil, equal("the index exists", &exists, there)
	}
}

func assertConnectionsCheckedOut(_ context.Context, _ *run, a *arguments) (any, error) {
	client, want := taken[*clientEntity](a, "client"), int(a.number("connections"))
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	client.recorder.mu.Lock()
	defer client.recorder.mu.Unlock()
	return nil, equal("connections checked out", &want, client.recorder.out)
}
