package mongotest_test

import (
	"context"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

func TestTheOfficialDriverWorksBehindALoadBalancer(t *testing.T) {
	for name, opts := range map[string][]mongotest.Option{"on TCP": nil, "in memory": {mongotest.InMemory()}} {
		t.Run(name, func(t *testing.T) {
			rs := mongotest.RunShardedT(t, 1, 2, append(opts, mongotest.LoadBalancer())...)
			if want := "mongodb://" + rs.LoadBalancerAddr(0) + "/?loadBalanced=true"; rs.URI() != want {
				t.Fatalf("the connection string is %s, want %s", rs.URI(), want)
			}
			client := must[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer())))
			defer func() { _ = client.Disconnect(context.Background()) }()
			c := client.Database("db").Collection("c")
			for i := range 10 {
				if _, err := c.InsertOne(context.Background(), bson.M{"_id": i}); err != nil {
					t.Fatal(err)
				}
			}
			var all []bson.M
			cursor := must[*mongo.Cursor](t)(c.Find(context.Background(), bson.D{}, options.Find().SetBatchSize(3)))
			if err := cursor.All(context.Background(), &all); err != nil || len(all) != 10 {
				t.Errorf("%d documents, %v", len(all), err)
			}
		})
	}
}

// through opens a raw connection to an address.
func through(t *testing.T, rs *mongotest.Deployment, address string) *rawClient {
	t.Helper()
	return dialAt(t, rs.Dialer().DialContext, address)
}

func TestConnectionsAreDistributedOverTheMongos(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 3, mongotest.InMemory(), mongotest.LoadBalancer(), mongotest.LoadBalancer(1), mongotest.LoadBalancer(2, 0))
	services := func(balancer, connections int) map[string]int {
		seen := map[string]int{}
		for range connections {
			hello := through(t, rs, rs.LoadBalancerAddr(balancer)).ok(`{"hello": 1, "loadBalanced": true, "$db": "admin"}`)
			seen[hello.Lookup("serviceId").ObjectID().Hex()]++
		}
		return seen
	}
	for balancer, want := range []int{3, 1, 2} {
		seen := services(balancer, 6)
		for id, n := range seen {
			if n != 6/want {
				t.Errorf("load balancer %d: the mongos %s got %d of 6 connections", balancer, id, n)
			}
		}
		if len(seen) != want {
			t.Errorf("load balancer %d: %d mongos got connections, want %d", balancer, len(seen), want)
		}
	}
	t.Run("one that is killed gets none", func(t *testing.T) {
		before := services(0, 3)
		rs.KillMongos(1)
		after := services(0, 6)
		for id := range after {
			if before[id] == 0 {
				t.Errorf("%s is a new mongos", id)
			}
		}
		if len(after) != 2 {
			t.Errorf("%d mongos got connections", len(after))
		}
	})
	t.Run("without a mongos that runs the connection ends", func(t *testing.T) {
		if _, err := through(t, rs, rs.LoadBalancerAddr(1)).conn.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is open")
		}
	})
	t.Run("a mongos that was restarted is a new service", func(t *testing.T) {
		before := services(0, 6)
		rs.RestartMongos(1)
		if after := services(1, 1); len(after) != 1 || before[firstKey(after)] != 0 {
			t.Errorf("%v is among %v", after, before)
		}
	})
}

func firstKey(m map[string]int) string {
	for k := range m {
		return k
	}
	return ""
}

func TestTheHelloThroughALoadBalancer(t *testing.T) {
	rs := mongotest.RunShardedT(t, 1, 2, mongotest.InMemory(), mongotest.LoadBalancer())
	c := through(t, rs, rs.LoadBalancerAddr(0))
	id := c.ok(`{"hello": 1, "loadBalanced": true, "$db": "admin"}`).Lookup("serviceId").ObjectID()
	if again := c.ok(`{"hello": 1, "loadBalanced": true, "$db": "admin"}`).Lookup("serviceId").ObjectID(); id.IsZero() || again != id {
		t.Errorf("the services of one connection are %v and %v", id, again)
	}
	refusal := through(t, rs, rs.LoadBalancerAddr(0)).run(`{"hello": 1, "$db": "admin"}`)
	if refusal.Lookup("code").AsInt64() != 354 || refusal.Lookup("codeName").StringValue() != "LoadBalancerSupportMismatch" ||
		!strings.Contains(refusal.Lookup("errmsg").StringValue(), "this driver does not have load balancing enabled") {
		t.Errorf("a client that does not know of the load balancer is answered %v", refusal)
	}
	direct := through(t, rs, rs.MongosAddr(0)).ok(`{"hello": 1, "loadBalanced": true, "$db": "admin"}`)
	if _, err := direct.LookupErr("serviceId"); err == nil {
		t.Errorf("without the load balancer the hello is %v", direct)
	}
}

func TestLoadBalancersThatAreRefused(t *testing.T) {
	for want, run := range map[string]func() (*mongotest.Deployment, error){
		"sharded clusters only": func() (*mongotest.Deployment, error) {
			return mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.LoadBalancer())
		},
		"version 5.0 or newer; found 4.4.29": func() (*mongotest.Deployment, error) {
			return mongotest.RunSharded(1, 1, mongotest.InMemory(), mongotest.LoadBalancer(), mongotest.Version("4.4.29"))
		},
		"LoadBalancer(1): there is no such mongos": func() (*mongotest.Deployment, error) {
			return mongotest.RunSharded(1, 1, mongotest.InMemory(), mongotest.LoadBalancer(1))
		},
		"LoadBalancer(0): there is no such mongos, or it is named twice": func() (*mongotest.Deployment, error) {
			return mongotest.RunSharded(1, 1, mongotest.InMemory(), mongotest.LoadBalancer(0, 0))
		},
		"2 addresses for 1 members, 1 mongos and 1 load balancers": func() (*mongotest.Deployment, error) {
			return mongotest.RunSharded(1, 1, mongotest.Listen("127.0.0.1:0", "127.0.0.1:0"), mongotest.LoadBalancer())
		},
	} {
		rs, err := run()
		if err == nil {
			_ = rs.Close()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}
