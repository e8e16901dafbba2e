package failover

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

// TestOneLostReply measures an insert whose first reply is lost, on a healthy set of three on sockets: the median of 12, with more than
// half a second before each. The drivers take turns. It prints ten that follow each other too.
func TestOneLostReply(t *testing.T) {
	if testing.Short() {
		t.Skip("its pauses take 7 s; .ci/run has it")
	}
	sets, collections := make(map[string]*mongotest.Deployment), make(map[string]driver.Collection)
	for _, name := range driver.Names() {
		sets[name] = mongotest.RunReplicaSetT(t, 3)
		collections[name] = connect(t, name, sets[name], options.ServerMonitoringModeStream).Collection("failover", "c")
		if _, err := collections[name].InsertOne(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
	}
	took := make(map[string][]time.Duration)
	for range 12 {
		pause(t.Context(), 550*time.Millisecond)
		for _, name := range driver.Names() {
			took[name] = append(took[name], losingInsert(t, sets[name], collections[name]))
		}
	}
	ratio := median(took[driver.NameOurs]).Seconds() / median(took[driver.NameOfficial]).Seconds()
	fmt.Printf("figure lost-connection-vs-official %.2f\n", ratio)
	if ratio > 3 {
		t.Errorf("an insert with one lost reply took %.2f of the official driver's time", ratio)
	}
	for _, name := range driver.Names() {
		var times []time.Duration
		for range 10 {
			times = append(times, losingInsert(t, sets[name], collections[name]).Round(100*time.Microsecond))
		}
		fmt.Printf("%s: ten inserts without a pause, each with one lost reply: %v\n", name, times)
	}
}

// losingInsert returns how long an insert takes whose first reply is lost.
func losingInsert(t *testing.T, set *mongotest.Deployment, c driver.Collection) time.Duration {
	t.Helper()
	heal := set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
	defer heal()
	began := time.Now()
	if _, err := c.InsertOne(t.Context(), bson.D{}); err != nil {
		t.Fatal(err)
	}
	return time.Since(began)
}
