package mongotest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// rounds is how often each figure is measured; it is the median.
const rounds = 20

// trouble is what one operation, which may take 30 s, lives through on the fake clock.
type trouble struct {
	figure  string
	members int
	strike  func(*mongotest.Deployment)
	failed  bool          // the operation returns an error
	least   time.Duration // that the operation takes on the fake clock
	most    time.Duration
}

// patience is the operation's deadline, and the driver's time for server selection.
const patience = 30 * time.Second

var troubles = []trouble{
	{"outage-25s-ms", 1, outage(25 * time.Second), false, 25 * time.Second, 26 * time.Second},
	{"outage-30s-ms", 1, outage(30 * time.Second), true, 30 * time.Second, 30 * time.Second},
	{"election-10s-ms", 3, func(rs *mongotest.Deployment) { rs.Kill(0) }, false, 10 * time.Second, 13 * time.Second},
}

// outage makes everything unreachable for a time.
func outage(d time.Duration) func(*mongotest.Deployment) {
	return func(rs *mongotest.Deployment) {
		rs.Kill(0)
		time.AfterFunc(d, func() { rs.Restart(0) })
	}
}

// TestTroubleInMilliseconds has the unmodified official driver live through half a minute of trouble, and measures what that
// takes of real time, everything included from the start of the servers to the client's end.
func TestTroubleInMilliseconds(t *testing.T) {
	for _, c := range troubles {
		measure(t, c.figure, 20*time.Millisecond, func() time.Duration {
			began := time.Now()
			synctest.Test(t, func(t *testing.T) { c.live(t) })
			return time.Since(began)
		})
	}
}

// live runs an operation that the trouble strikes when the server has received it.
func (c *trouble) live(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, c.members, mongotest.InMemory(), mongotest.Latency(time.Millisecond, time.Millisecond))
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()).SetServerSelectionTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	coll := client.Database("test").Collection("c")
	if _, err := coll.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 0}}); err != nil {
		t.Fatal(err)
	}
	rs.Use("update", mongotest.FaultOnce(mongotest.Fault{Before: func() { c.strike(rs) }}))
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	began := time.Now()
	_, err = coll.UpdateOne(ctx, bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}})
	took := time.Since(began)
	if (err != nil) != c.failed || took < c.least || took > c.most {
		t.Errorf("%s: after %v: %v", c.figure, took, err)
	}
	if !c.failed {
		rs.CheckDocuments(t, "test.c", bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 1}})
	}
}

// measure prints the median of a duration, in milliseconds, and holds it against its bar.
func measure(t *testing.T, figure string, bar time.Duration, sample func() time.Duration) {
	t.Helper()
	all := make([]time.Duration, rounds)
	for i := range all {
		all[i] = sample()
	}
	slices.Sort(all)
	median := (all[rounds/2-1] + all[rounds/2]) / 2
	fmt.Printf("%-18s least %v, most %v\n", figure, all[0], all[rounds-1])
	fmt.Printf("figure %s %.2f\n", figure, float64(median)/float64(time.Millisecond))
	if median > bar && !raceEnabled {
		t.Errorf("%s: the median is %v, it must be at most %v", figure, median, bar)
	}
}
