package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
	"github.com/holdfast-db/holdfast/mongo/once"
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
	args := []string{"sweep", "--uri", server.URI(), "--ns", "app.counters", "--older-than", "1ns"}
	for _, c := range []struct {
		more []string
		code int
		says string
	}{
		{[]string{"--older-than", "1h"}, exitOK, "app.counters: 0 updates in 0 documents: 0 applied, 0 abandoned, 0 gone, 0 pending\n"},
		{[]string{"--report-only"}, exitOK, "3 updates in 3 documents, the oldest of 2"},
		{nil, exitUnexpected, "2 applied, 0 abandoned, 0 gone, 1 pending\n  document \"bad\", token "},
		{nil, exitUnexpected, "app.counters: 1 updates in 1 documents"},
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
	_, out, _ := holdfast(t.Context(), append(args, "--json", "--ns", "app.none")...)
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
	if code != exitCannotRun || out != "" || !strings.Contains(errs, "server selection") || time.Since(began) > 20*time.Second {
		t.Errorf("exit code %d after %v: %s%s", code, time.Since(began), out, errs)
	}
}

// Flags that no sweep can have are refused before any server is looked for.
func TestSweepRefuses(t *testing.T) {
	for _, c := range []struct {
		flags []string
		says  string
	}{
		{[]string{"--ns", "app"}, "a database and a collection with a dot"},
		{[]string{"--ns", "app."}, "a database and a collection with a dot"},
		{[]string{"--ns", ".counters"}, "a database and a collection with a dot"},
		{[]string{"--ns", "a b.counters"}, "no space"},
		{[]string{"--ns", "a/b.counters"}, "no space"},
		{[]string{"--ns", "a$b.counters"}, "no space"},
		{[]string{"--ns", "app..counters"}, "does not begin with a dot"},
		{[]string{"--ns", "app.$cmd"}, "no dollar sign"},
		{[]string{"--ns", "app.ok", "--ns", "app.\x00"}, "zero byte"},
		{[]string{"--ns", strings.Repeat("a", 64) + ".counters"}, "at most 63 bytes"},
		{[]string{"--ns", "app." + strings.Repeat("c", 252)}, "at most 255"},
		{[]string{"--ns", "app.counters", "--older-than", "0s"}, "--older-than"},
		{[]string{"--ns", "app.counters", "--timeout", "-1s"}, "--timeout"},
		{[]string{"--ns", "app.counters", "--batch-size", "-1"}, "--batch-size"},
		{[]string{"--ns", "app.counters", "--field", "a.b"}, "Options.Field"},
		{[]string{"--ns", "app.counters", "--finished=-1"}, "Options.Finished"},
	} {
		code, out, errs := holdfast(t.Context(), append([]string{"sweep", "--uri", "mongodb://127.0.0.1:1"}, c.flags...)...)
		if code != exitUsage || !strings.Contains(errs, c.says) || out != "" {
			t.Errorf("%q: exit code %d: %s%s", c.flags, code, out, errs)
		}
	}
}

// The names of collections that a server takes are taken.
func TestSweepOfOddNamespaces(t *testing.T) {
	server := mongotest.RunStandaloneT(t)
	for _, ns := range []string{"app.a.b.c", "app.two words", "app.Zähler", "app.counters.", "APP-1." + strings.Repeat("c", 100), "app.-x"} {
		code, out, errs := holdfast(t.Context(), "sweep", "--uri", server.URI(), "--ns", ns)
		if code != exitOK || !strings.HasPrefix(out, ns+": 0 updates") {
			t.Errorf("%q: exit code %d: %s%s", ns, code, out, errs)
		}
	}
}

// A URI that asks for secondaries or for no acknowledgement does not make a sweep report what is not true.
func TestSweepWithOddURIs(t *testing.T) {
	server := mongotest.RunStandaloneT(t)
	leavePending(t, server, "a")
	args := func(option string) []string {
		uri := server.URI() + "&" + option
		if !strings.Contains(server.URI(), "?") {
			uri = strings.TrimSuffix(server.URI(), "/") + "/?" + option
		}
		return []string{"sweep", "--uri", uri, "--ns", "app.counters", "--older-than", "1ns"}
	}
	if code, out, errs := holdfast(t.Context(), args("w=0")...); code != exitCannotRun || !strings.Contains(errs, "unacknowledged") {
		t.Errorf("w=0: exit code %d: %s%s", code, out, errs)
	}
	if code, out, errs := holdfast(t.Context(), args("readPreference=secondary")...); code != exitOK || strings.Contains(errs, "selection") {
		t.Errorf("readPreference=secondary: exit code %d: %s%s", code, out, errs)
	}
}
