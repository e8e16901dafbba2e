package mongo

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// Server Selection: localThresholdMS is for writes too, because several mongos may be suitable.
func TestTheLocalThresholdIsForReadsAndWrites(t *testing.T) {
	for uri, want := range map[string]time.Duration{
		"mongodb://127.0.0.1:1/":                      15 * time.Millisecond,
		"mongodb://127.0.0.1:1/?localThresholdMS=200": 200 * time.Millisecond,
		"mongodb://127.0.0.1:1/?localThresholdMS=0":   0,
		// Read Preferences document of 2014, "Ping Times": the older name.
		"mongodb://127.0.0.1:1/?secondaryAcceptableLatencyMS=200": 200 * time.Millisecond,
		"mongodb://127.0.0.1:1/?secondaryAcceptableLatencyMS=0":   0,
	} {
		client, err := Connect(options.Client().ApplyURI(uri))
		if err != nil {
			t.Fatal(err)
		}
		coll := client.Database("d").Collection("c")
		var write operation.Operation
		coll.write(&write, "insert", nil, retry.Idempotent)
		for name, got := range map[string]time.Duration{
			"read": coll.scope.reads.LocalThreshold, "write": write.Selection.LocalThreshold,
		} {
			if got != want {
				t.Errorf("%s with %s: %v, want %v", name, uri, got, want)
			}
		}
		if err := client.Disconnect(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
