package compare

import (
	"context"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var count = command("count", "c")

var timeoutRows = []row{
	{name: "no server is selected in time", uri: "&serverSelectionTimeoutMS=300", faults: killed, cold: true, do: findOne(byID)},
	{name: "no server is selected in time, write", uri: "&serverSelectionTimeoutMS=300", faults: killed, cold: true, do: insertOne(one)},
	{name: "the deadline ends the selection", faults: killed, cold: true, do: within(300*time.Millisecond, findOne(byID))},
	{name: "the caller cancels the selection", faults: killed, cold: true, do: cancelledAfter(300*time.Millisecond, findOne(byID))},
	{
		name: "the server dies", uri: "&serverSelectionTimeoutMS=300", faults: killed, do: findOne(byID),
		differ: []string{"error"}, why: "the error holds all attempts, and the last one found no server in time",
	},
	{name: "the context has ended before", do: cancelledAfter(0, func(ctx context.Context, s *stage) (any, error) {
		<-ctx.Done()
		return findOne(byID)(ctx, s)
	})},
	{name: "the deadline has passed before", do: within(0, findOne(byID))},
	{name: "the deadline passes while the server is silent, read", faults: silent("find"), do: within(300*time.Millisecond, findOne(byID))},
	{name: "the deadline passes while the server is silent, write", faults: silent("insert"), do: within(300*time.Millisecond, insertOne(one))},
	{name: "the caller cancels a read", faults: silent("find"), do: cancelledAfter(300*time.Millisecond, findOne(byID))},
	{name: "the caller cancels a write", faults: silent("insert"), do: cancelledAfter(300*time.Millisecond, insertOne(one))},
	{name: "code 50, read", faults: refusing("find", expired), do: findOne(byID)},
	{name: "code 50, write", faults: refusing("insert", expired), do: insertOne(one)},
	{name: "code 50, runCommand", faults: refusing("ping", expired), do: runCommand(bson.D{{Key: "ping", Value: 1}})},
	{name: "the connection breaks, retries off", uri: "&retryReads=false", faults: loses("find"), do: findOne(byID)},
	{name: "the connection breaks, write, retries off", uri: "&retryWrites=false", faults: loses("insert"), do: insertOne(one)},
	{name: "the caller cancels while connecting", faults: silent("hello"), cold: true, do: cancelledAfter(300*time.Millisecond, findOne(byID))},

	{name: "maxTimeMS of findOne", do: within(time.Second, findOne(byID))},
	{name: "maxTimeMS of find", do: within(time.Second, find(nil))},
	{name: "maxTimeMS of find with a single batch", do: within(time.Second, find(options.Find().SetLimit(-1)))},
	{name: "maxTimeMS of find with a limit", do: within(time.Second, find(options.Find().SetLimit(1)))},
	{name: "maxTimeMS of insertOne", do: within(time.Second, insertOne(one))},
	{name: "maxTimeMS of insertMany", do: within(time.Second, insertMany([]any{one}))},
	{name: "maxTimeMS of updateOne", do: within(time.Second, updateOne(byID, inc))},
	{name: "maxTimeMS of deleteOne", do: within(time.Second, deleteOf)},
	{name: "maxTimeMS of findOneAndUpdate", do: within(time.Second, changeOf)},
	{name: "maxTimeMS of drop", do: within(time.Second, dropOf)},
	{name: "maxTimeMS of runCommand", do: within(time.Second, runCommand(count))},
	{name: "maxTimeMS of runCommand with timeoutMS", uri: "&timeoutMS=1000", do: runCommand(count)},
	{
		name:   "maxTimeMS of runCommand that has its own",
		do:     within(time.Second, runCommand(append(slices.Clip(count), bson.E{Key: "maxTimeMS", Value: 5}))),
		differ: []string{"sent"}, why: "a command with two fields maxTimeMS is malformed",
	},
	{name: "maxTimeMS of a runCommand that returns a cursor", do: within(time.Second, runCommand(command("find", "c")))},
	{name: "maxTimeMS of a write that is not acknowledged", do: within(time.Second, on(concern(0, nil), insertOne(one)))},
	{name: "maxTimeMS with a deadline in 25 days", do: within(25*24*time.Hour, findOne(byID))},
	{name: "maxTimeMS with a deadline in 2^31 ms", do: within(1<<31*time.Millisecond, findOne(byID))},
	{name: "maxTimeMS with a deadline in 2^31-1 ms", do: within((1<<31-1)*time.Millisecond, findOne(byID))},
	{name: "maxTimeMS with a deadline in 400 µs", do: within(400*time.Microsecond, findOne(byID))},
	{name: "maxTimeMS with a deadline in 1.4 ms", do: within(1400*time.Microsecond, findOne(byID))},
	{name: "the timeout of getMore", uri: "&timeoutMS=1000", faults: silent("getMore"), do: all},
	{name: "the deadline of getMore", faults: silent("getMore"), do: within(time.Second, all)},
	{name: "the timeout of the client", uri: "&timeoutMS=300", faults: silent("find"), do: findOne(byID)},
	{name: "the timeout of the client is 0", uri: "&timeoutMS=0", do: findOne(byID)},
	{name: "the timeout of the client and a longer deadline", uri: "&timeoutMS=300", faults: silent("find"), do: within(time.Second, findOne(byID))},
	{name: "the deadline of Close", faults: silent("killCursors"), do: within(time.Second, closeEarly)},
	{name: "maxTimeMS of killCursors", do: within(time.Second, closeEarly)},
	{name: "the deadline passes while all connections are in use", uri: "&maxPoolSize=1", faults: busy, do: within(300*time.Millisecond, findOne(byID))},
	{
		name: "the caller cancels while all connections are in use", uri: "&maxPoolSize=1", faults: busy,
		do: cancelledAfter(300*time.Millisecond, findOne(byID)),
	},
	{name: "a write concern error with code 50", faults: writeConcernExpired, do: insertOne(one)},
	{name: "a write concern error with code 50, runCommand", faults: writeConcernExpired, do: runCommand(command("insert", "c", "documents", bson.A{one}))},
}
