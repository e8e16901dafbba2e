package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// leavePending makes updates whose second step is lost: an increment of n of each document.
func leavePending(t *testing.T, server *mongotest.Deployment, ids ...any) {
	t.Helper()
	client, err := mongo.Connect(options.Client().ApplyURI(server.URI()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Disconnect(t.Context()) }()
	counters, err := once.New(client.Database("app").Collection("counters"), once.Options{})
	if err != nil {
		t.Fatal(err)
	}
	second := func(r *mongotest.Request) bool {
		_, first := r.Body.Lookup("updates", "0", "u", "$push", "_once.pending").DocumentOK()
		return !first
	}
	defer server.Use("update", mongotest.While(second, mongotest.Fault{LoseRequest: true}))()
	increment := bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}}
	for _, id := range ids {
		if _, err := counters.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: id}}, increment, options.UpdateOne().SetUpsert(true)); err == nil {
			t.Fatal("the second step was not lost")
		}
	}
}

func TestSweep(t *testing.T) {
	server := mongotest.RunStandaloneT(t)
	if err := server.Insert("app.counters", bson.D{{Key: "_id", Value: "bad"}, {Key: "n", Value: "text"}}); err != nil {
		t.Fatal(err)
	}
	leavePending(t, server, "a", "b", "bad")
	args := []string{"sweep", "--uri", server.URI(), "--ns", "app.counters"}
	now := []string{"--older-than", "1ns"}
	for _, c := range []struct {
		more []string
		code int
		says string
	}{
		{[]string{"--older-than", "1h"}, exitOK, "app.counters: no update is pending for more than 1h0m0s\n"},
		{append(now, "--report-only"), exitOK, "3 updates in 3 documents, the oldest of 2"},
		{now, exitUnexpected, "2 applied, 0 abandoned, 0 gone, 1 still pending\n  document \"bad\", token "},
		{now, exitUnexpected, "app.counters: 1 update in 1 document, the oldest of 2"},
	} {
		code, out, errs := holdfast(t.Context(), append(args, c.more...)...)
		if code != c.code || !strings.Contains(out, c.says) {
			t.Errorf("%v: exit code %d\n%s%s\nwant %d and %q", c.more, code, out, errs, c.code, c.says)
		}
	}
	for _, d := range server.ReadAll("app.counters") {
		if n := d.Lookup("n"); n.Type == bson.TypeInt32 && n.Int32() != 1 {
			t.Errorf("%v", d)
		}
	}
	_, out, _ := holdfast(t.Context(), append(args, "--older-than", "1ns", "--json", "--ns", "app.none")...)
	var reports []swept
	for line := range strings.Lines(out) {
		var r swept
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		reports = append(reports, r)
	}
	if len(reports) != 2 || reports[0].Pending != 1 || len(reports[0].Failures) != 1 || reports[0].Oldest == nil || reports[1].Tokens != 0 {
		t.Errorf("%+v", reports)
	}
}

func TestSweepOfAnUnreachableServer(t *testing.T) {
	began := time.Now()
	code, out, errs := holdfast(t.Context(), "sweep", "--uri", "mongodb://127.0.0.1:1", "--ns", "app.counters", "--timeout", "200ms")
	if code != exitCannotRun || out != "" || !strings.Contains(errs, "no server answers:\n  127.0.0.1:1: ") || time.Since(began) > 20*time.Second {
		t.Errorf("exit code %d after %v: %s%s", code, time.Since(began), out, errs)
	}
}
