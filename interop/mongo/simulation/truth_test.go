package simulation

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// address names a document.
type address struct{ ns, doc string }

// truth is what the servers hold at the end of a life.
type truth struct {
	documents map[address]document
	// events are all changes between the markers, in the order of the oplog.
	events []event
	// concernFailed are the calls of which a statement got a write concern error.
	concernFailed map[string]bool
	// arrivals are the numbers of messages that reached a server, by call.
	arrivals map[string]int
}

// changesOf returns the indexes of the events of each document, in their order.
func (t *truth) changesOf() map[address][]int {
	changes := make(map[address][]int)
	for i, e := range t.events {
		a := address{e.ns, e.doc}
		changes[a] = append(changes[a], i)
	}
	return changes
}

// readTruth reads the truth of a cluster that is whole and quiet. The events come from a new client.
func readTruth(rs *mongotest.Deployment, from bson.Timestamp, i *injector) (*truth, error) {
	t := &truth{documents: make(map[address]document), concernFailed: i.concernFailed, arrivals: i.arrivals}
	for _, ns := range []string{registers, accounts, lives} {
		for _, raw := range rs.ReadAll(database + "." + ns) {
			var d document
			if err := bson.Unmarshal(raw, &d); err != nil {
				return nil, fmt.Errorf("%s: %v: %w", ns, raw, err)
			}
			t.documents[address{ns, d.ID}] = d
		}
	}
	var err error
	t.events, err = oplog(rs, from, i.heartbeat())
	return t, err
}

// oplog returns the events of the database between the markers.
func oplog(rs *mongotest.Deployment, from bson.Timestamp, heartbeat time.Duration) ([]event, error) {
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetHeartbeatInterval(heartbeat))
	if err != nil {
		return nil, err
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	stream, err := client.Database(database).Watch(ctx, mongo.Pipeline{}, options.ChangeStream().SetStartAtOperationTime(&from))
	if err != nil {
		return nil, err
	}
	defer func() { _ = stream.Close(context.Background()) }()
	var events []event
	for stream.Next(ctx) {
		e := eventOf(stream.Current)
		switch e.doc {
		case beginMarker:
			events = nil
		case endMarker:
			return events, nil
		default:
			events = append(events, e)
		}
	}
	return nil, fmt.Errorf("the end marker is not in the oplog: %w", stream.Err())
}
