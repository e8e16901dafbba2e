// Command service is an HTTP service that counts visits in MongoDB. It runs a replica set of its own, whose primary dies while it
// executes an update, and logs each retry:
//
//	go run ./examples/service
package main

import (
	"context"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry/retryslog"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() error {
	rs, err := mongotest.RunReplicaSet(3, mongotest.ElectionTimeout(500*time.Millisecond)) // in a real service: your database
	if err != nil {
		return err
	}
	defer rs.Close()
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{Level: slog.LevelDebug}))
	client, err := mongo.Open(rs.URI(), mongo.Config{Observer: retryslog.New(logger)})
	if err != nil {
		return err
	}
	defer func() { _ = client.Disconnect(context.Background()) }()
	service := httptest.NewServer(&visits{client.Database("app").Collection("visits")})
	defer service.Close()
	for visit := range 6 {
		if visit == 3 {
			rs.Use("findAndModify", mongotest.FaultOnce(mongotest.Fault{After: func() { rs.Kill(rs.Primary()) }})) // the reply is lost
		}
		if err := get(service.URL); err != nil {
			return err
		}
	}
	return nil
}

func get(url string) error {
	response, err := http.Get(url)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	var n int
	if _, err := fmt.Fscan(response.Body, &n); err != nil {
		return fmt.Errorf("%s: %w", response.Status, err)
	}
	fmt.Println("visit", n)
	return nil
}

// visits counts its requests. The update has a transaction number, so the client may send it again, and the server applies it once.
type visits struct{ documents *mongo.Collection }

func (v *visits) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	var after struct{ N int }
	err := v.documents.FindOneAndUpdate(r.Context(), bson.D{{Key: "_id", Value: "all"}},
		bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}},
		options.FindOneAndUpdate().SetUpsert(true).SetReturnDocument(options.After)).Decode(&after)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable) // the text has every attempt
		return
	}
	fmt.Fprintln(w, after.N)
}
