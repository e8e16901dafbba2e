package mongotest_test

import (
	"context"
	"fmt"
	"net"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// A server is initiated with a second member, whose clients come to another process. That process is told where to hand their
// connections on to.
func ExampleProcesses() {
	const self, other = "127.0.0.2:1", "127.0.0.2:2" // where the clients find the two
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	rs, err := mongotest.RunReplicaSet(1, mongotest.Uninitiated(), mongotest.Listen(self), mongotest.Accept(listener),
		mongotest.WithProcesses(mongotest.Processes{
			IsSelf: func(address string) bool { return address == self },
			Join: func(_ context.Context, members []mongotest.JoiningMember) error {
				for _, m := range members {
					fmt.Println("member", m.Member, "at", m.Address, "is served here:", m.Served != "")
				}
				return nil
			},
		}))
	if err != nil {
		panic(err)
	}
	defer rs.Close()
	client, err := mongo.Connect(options.Client().SetHosts([]string{listener.Addr().String()}).SetDirect(true))
	if err != nil {
		panic(err)
	}
	defer func() { _ = client.Disconnect(ctx) }()

	initiate := bson.D{{Key: "replSetInitiate", Value: bson.D{{Key: "_id", Value: "rs0"}, {Key: "members", Value: bson.A{
		bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: self}}, bson.D{{Key: "_id", Value: 1}, {Key: "host", Value: other}},
	}}}}}
	fmt.Println(client.Database("admin").RunCommand(ctx, initiate).Err())

	// Output:
	// member 1 at 127.0.0.2:2 is served here: true
	// <nil>
}
