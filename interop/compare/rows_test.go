package compare

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// within gives the call a deadline.
func within(d time.Duration, do call) call {
	return func(ctx context.Context, s *stage) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		return do(ctx, s)
	}
}

// cancelledAfter cancels the call's context.
func cancelledAfter(d time.Duration, do call) call {
	return func(ctx context.Context, s *stage) (any, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(d, cancel).Stop()
		return do(ctx, s)
	}
}

// on runs the call on a collection with options.
func on(o *options.CollectionOptionsBuilder, do call) call {
	return func(ctx context.Context, s *stage) (any, error) {
		s.coll = s.db.Collection("c", o)
		return do(ctx, s)
	}
}

func concern(w any, journal *bool) *options.CollectionOptionsBuilder {
	return options.Collection().SetWriteConcern(&writeconcern.WriteConcern{W: w, Journal: journal})
}

var (
	yes, no  = true, false
	one      = bson.D{{Key: "_id", Value: 1}}
	dropOf   = func(ctx context.Context, s *stage) (any, error) { return nil, s.coll.Drop(ctx) }
	deleteOf = func(ctx context.Context, s *stage) (any, error) { return show2(s.coll.DeleteOne(ctx, byID)) }
	changeOf = func(ctx context.Context, s *stage) (any, error) {
		return nil, s.coll.FindOneAndUpdate(ctx, byID, inc).Err()
	}
)

var writeConcernRows = func() []row {
	var rows []row
	for _, c := range []struct {
		name string
		o    *options.CollectionOptionsBuilder
		text string
	}{
		{"w: 0", concern(0, nil), ""},
		{"w: 0 and j: true", concern(0, &yes), "a write concern cannot have both w=0 and j=true"},
		{"w: 0 and j: false", concern(0, &no), ""},
		{"w: -3", concern(-3, nil), "write concern `w` field cannot be a negative number"},
		{"w: 1.5", concern(1.5, nil), "WriteConcern.W must be a string or int, but is a float64"},
		{"w: an empty string", concern("", nil), ""},
		{"w: majority", concern("majority", nil), ""},
		{"w: 2 of 1", concern(2, nil), ""},
		{"an empty write concern", concern(nil, nil), ""},
	} {
		for _, call := range []struct {
			name string
			do   call
		}{
			{"insertOne", insertOne(one)},
			{"insertMany", insertMany([]any{one})},
			{"updateOne", updateOne(byID, inc)},
			{"replaceOne", replaceOne(byID, bson.D{{Key: "x", Value: 1}})},
			{"deleteOne", deleteOf},
			{"findOneAndUpdate", changeOf},
			{"findOne", findOne(byID)},
			{"drop", dropOf},
		} {
			r := row{name: c.name + ", " + call.name, do: on(c.o, call.do)}
			if call.name != "findOne" {
				r.text = c.text
			}
			switch {
			case c.name == "w: 2 of 1" && call.name == "drop":
				r.differ, r.why = []string{"error"}, "the official driver returns an error of an internal type"
			case c.name == "w: 2 of 1" && slices.Contains([]string{"updateOne", "replaceOne", "deleteOne"}, call.name):
				r.differ, r.why = []string{"result"}, "the write was applied, so there is a result"
			}
			rows = append(rows, r)
		}
	}
	return rows
}()

func silent(command string) func(*stage) {
	return func(s *stage) {
		s.set.Use(command, mongotest.Always(mongotest.Fault{LoseRequest: true, Silent: true}))
	}
}

func refusing(command string, e *mongotest.CommandError) func(*stage) {
	return func(s *stage) { s.set.Use(command, mongotest.Always(mongotest.Fault{Error: e})) }
}

func killed(s *stage) { s.set.Kill(0) }

var expired = &mongotest.CommandError{Code: 50, Name: "MaxTimeMSExpired", Message: "operation exceeded time limit"}

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
}

func loses(command string) func(*stage) {
	return func(s *stage) { s.set.Use(command, mongotest.Always(mongotest.Fault{LoseReply: true})) }
}

func find(o *options.FindOptionsBuilder) call {
	return func(ctx context.Context, s *stage) (any, error) {
		cursor, err := s.coll.Find(ctx, bson.D{}, o)
		if err != nil {
			return nil, err
		}
		return nil, cursor.Close(ctx)
	}
}

// all reads four documents in two batches.
func all(ctx context.Context, s *stage) (any, error) {
	if err := s.set.Insert("test.c", bson.D{{Key: "_id", Value: 2}}, bson.D{{Key: "_id", Value: 3}}, bson.D{{Key: "_id", Value: 4}}); err != nil {
		return nil, err
	}
	cursor, err := s.coll.Find(ctx, bson.D{}, options.Find().SetBatchSize(2))
	if err != nil {
		return nil, err
	}
	n := 0
	for cursor.Next(ctx) {
		n++
	}
	return n, cursor.Err()
}

func huge(id any, n int) bson.D {
	return bson.D{{Key: "_id", Value: id}, {Key: "text", Value: strings.Repeat("x", n)}}
}

const mib = 1 << 20

var sizeRows = []row{
	tooLarge("insertOne of a document", insertOne(huge(1, 16*mib))),
	tooLarge("insertMany with one document", insertMany([]any{huge(1, 1), huge(2, 16*mib), huge(3, 1)})),
	tooLarge("insertMany with the first document", insertMany([]any{huge(1, 16*mib), huge(2, 1)})),
	tooLarge("unordered insertMany with one document", unordered([]any{huge(1, 1), huge(2, 16*mib), huge(3, 1)})),
	tooLarge("unordered insertMany with a duplicate and a document", unordered([]any{huge("known", 1), huge(2, 16*mib), huge(3, 1)})),
	tooLarge("unordered insertMany with only documents", unordered([]any{huge(1, 16*mib), huge(2, 16*mib)})),
	tooLarge("updateOne with an update", updateOne(byID, bson.D{{Key: "$set", Value: text(17 * mib)}})),
	{name: "replaceOne with a document over the limit", do: replaceOne(byID, text(16*mib))},
	{name: "findOne with a filter over the limit", do: findOne(text(17 * mib))},
	{name: "insertMany with a duplicate", do: insertMany([]any{huge(1, 1), huge("known", 1), huge(3, 1)})},
	{name: "unordered insertMany with a duplicate", do: unordered([]any{huge(1, 1), huge("known", 1), huge(3, 1)})},
	{
		name: "insertOne of a document over the limit of a message", do: insertOne(huge(1, 50*mib)),
		differ: []string{"error"}, why: "a document that is too large has the same error for every size",
	},
	{
		name: "unordered insertMany with a document over the limit of a message", do: unordered([]any{huge(1, 50*mib), huge(2, 1)}),
		differ: []string{"error", "result", "sent"}, why: "the other documents are inserted",
	},
}

// tooLarge is a row with something over the limit. The outcome is that of a server.
func tooLarge(name string, do call) row {
	return row{
		name: name + " over the limit", do: do,
		differ: []string{"sent"}, why: "a document that the server would refuse is not sent",
	}
}

func text(n int) bson.D { return bson.D{{Key: "text", Value: strings.Repeat("x", n)}} }

func unordered(documents []any) call {
	return func(ctx context.Context, s *stage) (any, error) {
		return show2(s.coll.InsertMany(ctx, documents, options.InsertMany().SetOrdered(false)))
	}
}

func command(pairs ...any) bson.D {
	var d bson.D
	for i := 0; i < len(pairs); i += 2 {
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
	}
	return d
}

var runCommandRows = []row{
	{name: "runCommand whose reply has writeErrors", do: runCommand(command("insert", "c", "documents", bson.A{byID}))},
	{name: "runCommand whose reply has a writeConcernError", do: runCommand(command(
		"insert", "c", "documents", bson.A{one}, "writeConcern", bson.D{{Key: "w", Value: 2}}))},
	{name: "runCommand that the server does not know", do: runCommand(command("nonsense", 1))},
	{
		name: "runCommand with lsid", do: runCommand(command("ping", 1, "lsid", bson.D{{Key: "id", Value: 1}})),
		differ: []string{"error"}, why: "a field that the client adds is refused before the command is sent",
	},
	{
		name: "runCommand with $db", do: runCommand(command("ping", 1, "$db", "x")),
		differ: []string{"error"}, why: "a field that the client adds is refused before the command is sent",
	},
	{name: "runCommand with $readPreference", do: runCommand(command("ping", 1, "$readPreference", bson.D{{Key: "mode", Value: "primary"}}))},
}

func (s *stage) heard() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.events...)
}

// watching returns the events of the call as its result.
func watching(do call) call {
	return func(ctx context.Context, s *stage) (any, error) {
		before := len(s.heard())
		_, err := do(ctx, s)
		return s.heard()[before:], err
	}
}

var eventRows = func() []row {
	var rows []row
	for _, c := range []struct {
		name     string
		command  bson.D
		redacted bool
	}{
		{"createUser", command("createUser", "u", "pwd", "secret", "roles", bson.A{}), true},
		{"createuser in lower case", command("createuser", "u", "pwd", "secret", "roles", bson.A{}), true},
		{"CREATEUSER in upper case", command("CREATEUSER", "u", "pwd", "secret", "roles", bson.A{}), true},
		{"updateUser", command("updateUser", "u", "pwd", "secret", "roles", bson.A{}), true},
		{"saslStart", command("saslStart", 1, "mechanism", "SCRAM-SHA-256", "payload", "secret"), true},
		{"saslContinue", command("saslContinue", 1, "conversationId", 1, "payload", "secret"), true},
		{"authenticate", command("authenticate", 1, "key", "secret"), true},
		{"getnonce", command("getnonce", 1), true},
		{"copydb", command("copydb", 1, "key", "secret"), true},
		{"copydbgetnonce", command("copydbgetnonce", 1), true},
		{"copydbsaslstart", command("copydbsaslstart", 1, "key", "secret"), true},
		{"hello", command("hello", 1), false},
		{"hello with speculativeAuthenticate", command("hello", 1, "speculativeAuthenticate", bson.D{{Key: "saslStart", Value: 1}}), true},
		{"isMaster with speculativeAuthenticate", command("isMaster", 1, "speculativeAuthenticate", bson.D{{Key: "saslStart", Value: 1}}), true},
		{"ismaster with speculativeAuthenticate", command("ismaster", 1, "speculativeAuthenticate", bson.D{{Key: "saslStart", Value: 1}}), true},
		{"ping with speculativeAuthenticate", command("ping", 1, "speculativeAuthenticate", bson.D{{Key: "saslStart", Value: 1}}), false},
	} {
		name := c.command[0].Key
		for _, end := range []struct {
			name   string
			faults func(*stage)
		}{
			{"", answering(name)},
			{" that fails", refusing(name, &mongotest.CommandError{
				Code: 18, Name: "AuthenticationFailed", Message: "the password is secret",
			})},
			{" whose connection breaks", loses(name)},
		} {
			r := row{name: "events of " + c.name + end.name, do: watching(runCommand(c.command)), faults: end.faults}
			switch {
			case strings.Contains(c.name, " case"):
				r.differ, r.why = []string{"result"}, "the case of the name does not matter to a password"
			case c.redacted && end.name == " that fails":
				r.differ, r.why = []string{"result"}, "the server's message may have a secret too"
			}
			rows = append(rows, r)
		}
	}
	return rows
}()

// answering makes the server answer a command with a secret.
func answering(name string) func(*stage) {
	return func(s *stage) {
		s.set.Use(name, func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return &mongotest.Reply{Body: raw(command("ok", 1, "payload", "secret"))}
		})
	}
}

func raw(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

var uriRows = func() []row {
	var rows []row
	for _, o := range []string{
		"tls=false", "ssl=false", "uuidRepresentation=standard", "slaveOk=true", "slaveOk=false", "socketTimeoutMS=0",
		"tlsInsecure=false", "tlsAllowInvalidCertificates=false", "tlsAllowInvalidHostnames=false",
		"authSource=admin", "loadBalanced=false", "directConnection=false", "appName=", "w=0", "w=2",
		"retryWrites=maybe", "w=0&journal=true", "w=-3", "heartbeatFrequencyMS=0", "localThresholdMS=0", "localThresholdMS=-1",
		"maxIdleTimeMS=0", "maxPoolSize=0", "readConcernLevel=", "readPreference=nonsense", "maxStalenessSeconds=-1",
		"srvMaxHosts=0", "timeoutMS=-1", "tls=maybe",
	} {
		rows = append(rows, row{name: "connection string with " + o, uri: "&" + o, do: insertOne(one)})
	}
	for _, o := range []string{
		"uuidRepresentation=pythonLegacy", "minPoolSize=0", "waitQueueTimeoutMS=10", "socketTimeoutMS=5", "compressors=",
		"nonsense=1", "wtimeoutMS=5", "zlibCompressionLevel=1", "proxyHost=x",
	} {
		rows = append(rows, row{
			name: "connection string with " + o, uri: "&" + o, do: insertOne(one),
			differ: []string{"Connect", "result", "error", "took", "sent"}, why: "an option that is not honoured is an error",
		})
	}
	// A handshake without a time limit has no row: the official driver's Disconnect waits for it for ever.
	for _, o := range []string{"connectTimeoutMS=0", "serverSelectionTimeoutMS=0", "maxConnecting=0"} {
		rows = append(rows,
			row{name: o, uri: "&" + o, do: insertOne(one)},
			row{name: o + " and a server that is dead", uri: "&" + o, do: within(10*time.Minute, insertOne(one)), faults: killed, cold: true},
			row{name: o + " and a server that is silent", uri: "&" + o, do: within(10*time.Minute, insertOne(one)), faults: silent("hello"), cold: true},
		)
	}
	return rows
}()

// hintRows are on a server of 4.4, the oldest one that the official driver accepts.
var hintRows = func() []row {
	var rows []row
	for _, c := range []struct {
		name string
		do   call
	}{
		{"deleteOne", func(ctx context.Context, s *stage) (any, error) {
			return show2(s.coll.DeleteOne(ctx, byID, options.DeleteOne().SetHint("_id_")))
		}},
		{"updateOne", func(ctx context.Context, s *stage) (any, error) {
			return show2(s.coll.UpdateOne(ctx, byID, inc, options.UpdateOne().SetHint("_id_")))
		}},
		{"replaceOne", func(ctx context.Context, s *stage) (any, error) {
			return show2(s.coll.ReplaceOne(ctx, byID, bson.D{}, options.Replace().SetHint("_id_")))
		}},
		{"findOneAndUpdate", func(ctx context.Context, s *stage) (any, error) {
			err := s.coll.FindOneAndUpdate(ctx, byID, inc, options.FindOneAndUpdate().SetHint("_id_")).Err()
			return nil, err
		}},
	} {
		server := []mongotest.Option{mongotest.Version("4.4")}
		different := []string{"error", "sent"}
		if c.name != "findOneAndUpdate" {
			different = append(different, "result")
		}
		rows = append(rows,
			row{name: "hint of " + c.name, do: on(concern(1, nil), c.do), server: server},
			row{
				name: "hint of " + c.name + " with w: 0", do: on(concern(0, nil), c.do), server: server,
				differ: different, why: "the CRUD specification permits it from 4.4 on",
			},
		)
	}
	return rows
}()

var findRows = []row{
	{
		name: "find with batchSize equal to limit", do: find(options.Find().SetLimit(4).SetBatchSize(4)),
		differ: []string{"sent"}, why: "the CRUD specification demands one more",
	},
	{name: "find with batchSize below limit", do: find(options.Find().SetLimit(5).SetBatchSize(4))},
	{name: "find with batchSize equal to the negative limit", do: find(options.Find().SetLimit(-4).SetBatchSize(4))},
	{
		name: "find with batchSize 0 and limit 0", do: find(options.Find().SetLimit(0).SetBatchSize(0)),
		differ: []string{"sent"}, why: "a limit of 0, which is none, is not sent",
	},
	{name: "find with the largest batchSize as limit", do: find(options.Find().SetLimit(1<<31 - 1).SetBatchSize(1<<31 - 1))},
	{name: "find with a map of two keys as min", do: find(options.Find().SetMin(twoKeys)), differ: []string{"error", "sent"},
		why: "the order of min and max has a meaning too"},
	{name: "find with a map of two keys as max", do: find(options.Find().SetMax(twoKeys)), differ: []string{"error", "sent"},
		why: "the order of min and max has a meaning too"},
}

// Disconnect during the selection of a server has no row: the official driver then selects again and again without a
// wait, and the fake clock stands still.
var clientRows = []row{
	{name: "an operation after Disconnect", do: func(ctx context.Context, s *stage) (any, error) {
		_ = s.client.Disconnect(ctx)
		return findOne(byID)(ctx, s)
	}},
	{name: "Disconnect twice", do: func(ctx context.Context, s *stage) (any, error) {
		_ = s.client.Disconnect(ctx)
		return nil, s.client.Disconnect(ctx)
	}},
	{name: "a timeout for the whole insertMany", uri: "&timeoutMS=1000", faults: func(s *stage) {
		s.set.Use("insert", mongotest.Always(mongotest.Fault{Delay: 700 * time.Millisecond}))
	}, do: unordered([]any{huge(1, 15*mib), huge(2, 15*mib), huge(3, 15*mib), huge(4, 15*mib), huge(5, 15*mib)}),
		differ: []string{"result"}, why: "the documents of the first batch were inserted"},
	{name: "a write whose retry ends with write errors", faults: func(s *stage) {
		s.set.Use("insert", mongotest.Once(mongotest.Fault{Error: &mongotest.CommandError{
			Code: 6, Name: "HostUnreachable", Message: "scripted", Labels: []string{"RetryableWriteError"},
		}}))
	}, do: insertMany([]any{one, huge("known", 1)})},
}
