package unified

import (
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

func TestRequirements(t *testing.T) {
	facts := Facts{Version: "7.0.25", Topology: "replicaset", AuthMechanisms: []string{"SCRAM-SHA-256"}}
	facts.Parameters, _ = bson.Marshal(bson.D{{Key: "on", Value: true}, {Key: "n", Value: 1}})
	for _, c := range []struct {
		name, requirements string
		met                bool
	}{
		{"none", `[]`, true},
		{"the least version is inclusive", `[{"minServerVersion": "7.0.25"}]`, true},
		{"a missing patch is zero", `[{"minServerVersion": "7.0"}]`, true},
		{"components are compared as numbers", `[{"minServerVersion": "7.0.9"}]`, true},
		{"a newer version", `[{"minServerVersion": "7.0.26"}]`, false},
		{"the most version is inclusive", `[{"maxServerVersion": "7.0.25"}]`, true},
		{"an older version", `[{"maxServerVersion": "7.0"}]`, false},
		{"a topology", `[{"topologies": ["single", "replicaset"]}]`, true},
		{"another topology", `[{"topologies": ["sharded"]}]`, false},
		{"one of several requirements", `[{"topologies": ["sharded"]}, {"minServerVersion": "4.0"}]`, true},
		{"all conditions of one requirement", `[{"topologies": ["replicaset"], "minServerVersion": "8.0"}]`, false},
		{"serverless forbidden", `[{"serverless": "forbid"}]`, true},
		{"serverless required", `[{"serverless": "require"}]`, false},
		{"no authentication", `[{"auth": false}]`, true},
		{"authentication", `[{"auth": true}]`, false},
		{"a mechanism, whatever its case", `[{"authMechanism": "scram-sha-256"}]`, true},
		{"another mechanism", `[{"authMechanism": "MONGODB-AWS"}]`, false},
		{"client-side encryption", `[{"csfle": true}]`, false},
		{"a version of libmongocrypt", `[{"csfle": {"minLibmongocryptVersion": "1.15.1"}}]`, false},
		{"no client-side encryption", `[{"csfle": false}]`, true},
		{"a parameter, compared as a flexible number", `[{"serverParameters": {"n": 1.0, "on": true}}]`, true},
		{"another value", `[{"serverParameters": {"n": 2}}]`, false},
		{"a parameter that the server does not have", `[{"serverParameters": {"x": 1}}]`, false},
	} {
		var requirements []requirement
		if err := valueOf(t, c.requirements).Unmarshal(&requirements); err != nil {
			t.Fatal(err)
		}
		err := facts.Admit(&File{RunOnRequirements: requirements}, &Test{})
		skipped := new(Skipped)
		if c.met && err != nil || !c.met && !errors.As(err, &skipped) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := facts.Admit(&File{}, &Test{SkipReason: "why"}); err == nil || !strings.Contains(err.Error(), "why") {
		t.Errorf("a skipReason: %v", err)
	}
}

func TestSchemaVersions(t *testing.T) {
	for version, ok := range map[string]bool{"1.0": true, "1": true, "1.28": true, "1.28.1": false, "1.29": false, "2.0": false, "0.1": false, "x": false, "": false} {
		if err := checkSchema(version); (err == nil) != ok {
			t.Errorf("%q: %v", version, err)
		}
	}
}

func TestAFileWithAnUnknownKeyIsRefused(t *testing.T) {
	for _, text := range []string{
		`{"schemaVersion": "1.0", "colour": 1}`,
		`{"schemaVersion": "1.0", "tests": [{"colour": 1}]}`,
		`{"schemaVersion": "1.0", "tests": [{"expectEvents": [{"colour": 1}]}]}`,
		`{"schemaVersion": "1.0", "runOnRequirements": [{"colour": 1}]}`,
	} {
		if _, err := Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), `"colour" is not supported by this runner`) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestEntities(t *testing.T) {
	es := newEntities()
	if err := es.add("a", valueOf(t, `1`)); err != nil {
		t.Fatal(err)
	}
	if err := es.add("a", valueOf(t, `2`)); err == nil {
		t.Error("a name is given twice")
	}
	if _, err := entityNamed[bson.RawValue](es, "b"); err == nil {
		t.Error("there is an entity that was never made")
	}
	if _, err := entityNamed[*mongoClient](es, "a"); err == nil {
		t.Error("a value is taken for a client")
	}
}

func TestURIOptionsOverrideThoseOfTheDeployment(t *testing.T) {
	for _, c := range []struct{ uri, extra, want string }{
		{"mongodb://a,b/?replicaSet=rs", `{"retryWrites": false}`, "mongodb://a,b/?replicaSet=rs&retryWrites=false"},
		{"mongodb://a/?retrywrites=true", `{"retryWrites": false}`, "mongodb://a/?retryWrites=false"},
		{"mongodb://a,b/?replicaSet=rs", `{"directConnection": true}`, "mongodb://a/?directConnection=true"},
		{"mongodb://a/", `{"readPreferenceTags": ["dc:ny", "dc:sf"]}`, "mongodb://a/?readPreferenceTags=dc%3Any&readPreferenceTags=dc%3Asf"},
		{"mongodb://a/", `{"w": 1}`, "mongodb://a/?w=1"},
	} {
		if got, err := withURIOptions(c.uri, valueOf(t, c.extra).Document()); err != nil || got != c.want {
			t.Errorf("%s with %s: %s, %v; want %s", c.uri, c.extra, got, err, c.want)
		}
	}
	if _, err := withURIOptions("mongodb://a/", valueOf(t, `{"w": {"$$placeholder": 1}}`).Document()); err == nil {
		t.Error("a placeholder is put into a connection string")
	}
}

func TestOptionsAreSetByName(t *testing.T) {
	r := new(Runner)
	find := options.Find()
	for name, text := range map[string]string{
		"limit": `3`, "sort": `{"x": 1}`, "maxAwaitTimeMS": `5`, "cursorType": `"tailable"`, "collation": `{"locale": "en", "caseLevel": true}`, "showRecordId": `true`,
	} {
		if err := r.set(find, name, valueOf(t, text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	var set options.FindOptions
	for _, apply := range find.Opts {
		if err := apply(&set); err != nil {
			t.Fatal(err)
		}
	}
	if *set.Limit != 3 || *set.MaxAwaitTime != 5*time.Millisecond || *set.CursorType != options.Tailable || !set.Collation.CaseLevel || !*set.ShowRecordID {
		t.Errorf("the options are %+v", set)
	}
	if err := r.set(find, "colour", valueOf(t, `1`)); !errors.Is(err, errNoSuchOption) {
		t.Errorf("an option that there is not: %v", err)
	}
	if err := r.set(options.FindOneAndUpdate(), "returnDocument", valueOf(t, `"never"`)); err == nil {
		t.Error("a returnDocument that there is not is set")
	}
	if err := r.set(options.CreateCollection(), "timeseries", valueOf(t, `{"timeField": "t", "bucketMaxSpanSeconds": 5}`)); err != nil {
		t.Errorf("timeseries: %v", err)
	}
}
