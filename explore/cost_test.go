//go:build unix

package explore_test

import (
	"context"
	"fmt"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/explore"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// cpu returns the time that the process has used its processors for.
func cpu(t *testing.T) time.Duration {
	t.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// order is a small program: three writes and two reads.
func order(ctx context.Context, client *mongo.Client) error {
	for n := range 2 {
		if _, err := client.Database("shop").Collection("orders").InsertOne(ctx, bson.D{{Key: "_id", Value: n}}); err != nil {
			return err
		}
	}
	if err := add(ctx, client); err != nil {
		return err
	}
	if err := has(ctx, client, 1); err != nil {
		return err
	}
	_, err := client.Database("shop").Collection("orders").CountDocuments(ctx, bson.D{})
	return err
}

// plain runs the program in a bubble, without package explore.
func plain(t *testing.T) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
		client, err := mongo.Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()))
		if err != nil {
			t.Fatal(err)
		}
		if err = order(t.Context(), client); err != nil {
			t.Error(err)
		}
		if err = client.Disconnect(t.Context()); err != nil {
			t.Error(err)
		}
	})
}

// What a run with one failure costs, compared with a run of the same program without explore, and how many there are in a second.
func TestFigureOfTheCost(t *testing.T) {
	const runs = 150
	program := func(e *explore.Exploration) {
		client := connect(e)
		err := order(e.Context(), client)
		e.Logf("order returned %v", err)
		e.Check(func() error { return nil })
	}
	explore.Report(t, "", program, explore.InMemory(), explore.Parallel(1)) // warm
	before := cpu(t)
	for range runs {
		plain(t)
	}
	ofPlain := (cpu(t) - before) / runs
	before = cpu(t)
	report, text := explore.Report(t, "", program, explore.InMemory(), explore.Parallel(1))
	ofExplore := (cpu(t) - before) / time.Duration(1+len(report.Outcomes))
	began := time.Now()
	report, _ = explore.Report(t, "", program, explore.InMemory())
	t.Logf("%d runs, %v each, plain %v\n%s", len(report.Outcomes), ofExplore, ofPlain, text)
	fmt.Printf("figure explore-run-vs-plain %.2f\nfigure explore-runs-per-second %.0f\n",
		float64(ofExplore)/float64(ofPlain), float64(len(report.Outcomes))/time.Since(began).Seconds())
}
