package mongotest_test

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The examples of docs/FAULTS.md, which a test compares with that page.

var (
	ctx       = context.Background()
	increment = bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
)

// runSet runs a replica set of three with one document, {_id: 1, n: 0}, and returns a collection with it.
func runSet() (rs *mongotest.Deployment, counters *mongo.Collection, end func()) {
	rs, err := mongotest.RunReplicaSet(3, mongotest.InMemory(), mongotest.ElectionTimeout(500*time.Millisecond))
	if err != nil {
		panic(err)
	}
	if err := rs.Insert("test.counters", bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 0}}); err != nil {
		panic(err)
	}
	if err := rs.WaitIdle(ctx); err != nil { // the last secondary has it too
		panic(err)
	}
	counters, disconnect := countersOf(rs.URI(), rs.Dialer())
	return rs, counters, func() { disconnect(); _ = rs.Close() }
}

// countersOf connects to a server of any kind.
func countersOf(uri string, dialer options.ContextDialer) (counters *mongo.Collection, disconnect func()) {
	client, err := mongo.Connect(options.Client().ApplyURI(uri).SetDialer(dialer).SetHeartbeatInterval(500 * time.Millisecond))
	if err != nil {
		panic(err)
	}
	return client.Database("test").Collection("counters"), func() { _ = client.Disconnect(ctx) }
}

func ExampleFaultOnce() {
	rs, counters, end := runSet()
	defer end()

	// The first update is applied, and its reply is lost with the connection.
	rs.Use("update", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	_, err := counters.UpdateByID(ctx, 1, increment)
	fmt.Println(err, rs.Counters().Commands["update"], rs.ReadAll("test.counters"))

	// Output: <nil> 2 [{"_id": {"$numberInt":"1"},"n": {"$numberInt":"1"}}]
}

func ExampleWhile() {
	rs, counters, end := runSet()
	defer end()

	// The primary is slow; the secondaries are not.
	atPrimary := func(r *mongotest.Request) bool { return r.Member == rs.Primary() }
	rs.Use("find", mongotest.While(atPrimary, mongotest.Fault{Delay: time.Hour}))
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	fmt.Println(mongo.IsTimeout(counters.FindOne(short, bson.D{}).Err()))

	// Output: true
}

func ExampleDeployment_Use() {
	rs, counters, end := runSet()
	defer end()

	// Every reply to find is garbage, not a message.
	remove := rs.Use("find", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
		return &mongotest.Reply{Garbage: []byte("HTTP/1.1 400 Bad Request\r\n\r\n")}
	})
	fmt.Println(counters.FindOne(ctx, bson.D{}).Err() != nil)
	remove()
	fmt.Println(counters.FindOne(ctx, bson.D{}).Err() != nil)

	// Output:
	// true
	// false
}

func ExampleDeployment_SetFailPoint() {
	rs, counters, end := runSet()
	defer end()

	// The primary refuses two inserts with a duplicate key, as the command configureFailPoint can make a real one do.
	err := rs.SetFailPoint(rs.Primary(), mongotest.FailPoint{Commands: []string{"insert"}, Times: 2, ErrorCode: 11000})
	if err != nil {
		fmt.Println(err)
	}
	for i := range 3 {
		_, err := counters.InsertOne(ctx, bson.D{})
		fmt.Println(i, err != nil)
	}

	// Output:
	// 0 true
	// 1 true
	// 2 false
}

func ExampleDeployment_Kill() {
	rs, counters, end := runSet()
	defer end()

	// The primary dies when the update is applied and a majority has it, before its reply.
	rs.Use("update", mongotest.FaultOnce(mongotest.Fault{After: func() { rs.Kill(rs.Primary()) }}))
	_, err := counters.UpdateByID(ctx, 1, increment)
	fmt.Println(err, rs.Term() > 1, rs.ReadAll("test.counters"))

	// Output: <nil> true [{"_id": {"$numberInt":"1"},"n": {"$numberInt":"1"}}]
}

func ExampleDeployment_StepDown() {
	rs, counters, end := runSet()
	defer end()

	// Another member takes over, as before maintenance.
	old := rs.Primary()
	if err := rs.StepDown(); err != nil {
		fmt.Println(err)
	}
	_, err := counters.UpdateByID(ctx, 1, increment)
	fmt.Println(err, rs.Primary() != old)

	// Output: <nil> true
}

func ExampleDeployment_Isolate() {
	rs, counters, end := runSet()
	defer end()

	// The primary is cut off from clients and members: connections stay open, and no bytes arrive.
	rs.Isolate(rs.Primary())
	short, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
	defer cancel()
	_, err := counters.UpdateByID(short, 1, increment)
	fmt.Println(mongo.IsTimeout(err))
	rs.Heal()

	// Output: true
}

func ExampleDeployment_Partition() {
	rs, counters, end := runSet()
	defer end()

	// The primary loses the other members and takes a last write, which is undone when it meets its successor.
	old := rs.Primary()
	rs.Partition([]int{old})
	_, err := rs.Command(old, "test", bson.D{
		{Key: "insert", Value: "counters"},
		{Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 2}}}},
		{Key: "writeConcern", Value: bson.D{{Key: "w", Value: 1}}},
	})
	fmt.Println(err, len(rs.ReadMember(old, "test.counters")))
	_, err = counters.UpdateByID(ctx, 1, increment) // at the successor
	rs.Heal()
	fmt.Println(err, rs.WaitIdle(ctx), len(rs.ReadMember(old, "test.counters")))

	// Output:
	// <nil> 2
	// <nil> <nil> 1
}

func ExampleDeployment_SetLag() {
	rs, counters, end := runSet()
	defer end()

	// A secondary is an hour behind. Reads from it do not find a document that a majority has.
	behind := (rs.Primary() + 1) % rs.Members()
	rs.SetLag(behind, time.Hour)
	if _, err := counters.InsertOne(ctx, bson.D{{Key: "_id", Value: 2}}); err != nil {
		fmt.Println(err)
	}
	fmt.Println(len(rs.ReadAll("test.counters")), len(rs.ReadMember(behind, "test.counters")))

	// Output: 2 1
}

func ExampleBlackPipe() {
	pipe, err := mongotest.RunBlackPipe(mongotest.InMemory())
	if err != nil {
		fmt.Println(err)
		return
	}
	counters, disconnect := countersOf(pipe.URI(), pipe.Dialer())

	// The test names each expected message and its answer. If a find's connection breaks, a driver must send the find once more.
	pipe.Expect("find").CloseConnection()
	pipe.Expect("find").Fail(&mongotest.CommandError{Code: 13, Message: "not allowed"})
	fmt.Println(counters.FindOne(ctx, bson.D{}).Err())
	disconnect()
	fmt.Println(pipe.Close()) // the first message that was not expected, or did not come

	// Output:
	// (Unauthorized) not allowed
	// <nil>
}

func ExampleProxy() {
	server, err := mongotest.RunReplicaSet(1) // any server; a real one as well
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	// Faults for a server that is not in this process.
	proxy, err := mongotest.RunProxy(server.URI())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer proxy.Close()
	proxy.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	counters, disconnect := countersOf(proxy.URI(), nil)
	defer disconnect()
	_, err = counters.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}})
	fmt.Println(err, server.Counters().Commands["insert"])

	// Output: <nil> 2
}
