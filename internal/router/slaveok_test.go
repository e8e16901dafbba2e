package router

import (
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// A member answers a read with slaveOk only if it gets what the bit means, as a read preference.
func TestARecentMemberAnswersAReadWithSlaveOk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
		r, err := New(Config{Upstream: options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer())})
		if err != nil {
			t.Fatal(err)
		}
		defer r.Close()
		<-time.After(time.Second) // until all members are known
		ours, theirs := memnet.Pipe()
		defer ours.Close()
		c := newClient(r, theirs, 1)
		defer c.end()
		q := carrying(t, nil)
		q.slaveOk = true
		if err := c.deal(q); err != nil {
			t.Fatal(err)
		}
		message, err := wire.ReadMessage(ours, nil, wire.MaxMessageLength)
		if err != nil {
			t.Fatal(err)
		}
		reply, err := wire.ParseMsg(message)
		if ok, _ := bson.Raw(reply.Body).Lookup("ok").AsInt64OK(); err != nil || ok != 1 {
			t.Errorf("%v, %v", bson.Raw(reply.Body), err)
		}
		for _, entry := range set.Journal() {
			if entry.Command == "find" && entry.Member == set.Primary() {
				t.Errorf("the primary was asked: %v", &entry)
			}
		}
	})
}
