package rules

import "testing"

const overloadLabels = "SystemOverloadedError,RetryableError"

// verdictCases are sentences of the rules of MongoDB, each with the attempts that it allows; 0 means until the deadline.
var verdictCases = []struct {
	operation, failure string
	change             func(*MongoCase)
	attempts           int
	rule               string // "" if it is not compared
}{
	{"find", "11600", nil, 2, "mongodb.reads"},
	{"find", "134", nil, 2, "mongodb.reads"},
	{"find", "11601", nil, 1, "mongodb.read-code"},
	{"find", "handshake:91", nil, 2, ""},
	{"find", "handshake:18", nil, 1, ""},
	{"find", "11000,RetryableWriteError", nil, 1, ""},
	{"find", "91", func(c *MongoCase) { c.Off = true }, 1, "mongodb.disabled"},
	{"find", "91", func(c *MongoCase) { c.InTransaction = true }, 1, "mongodb.in-transaction"},
	{"find", "91", func(c *MongoCase) { c.Deadline = true }, 0, "mongodb.deadline"},
	{"find", "91", func(c *MongoCase) { c.Server = Standalone }, 2, ""},
	{"find", "network error", func(c *MongoCase) { c.InRequest = true }, 3, "mongodb.in-request"},
	{"find", "91", func(c *MongoCase) { c.InRequest = true }, 2, "mongodb.in-request"},
	{"find", "no server", nil, 1, "mongodb.select-first"},
	{"getMore", "network error", nil, 1, "mongodb.reads-never"},
	{"getMore", overloadLabels, nil, 3, "mongodb.overload"},
	{"runCommand", "91", nil, 1, "mongodb.run-command"},
	{"runCommand", overloadLabels, func(c *MongoCase) { c.Off = true }, 1, "mongodb.disabled"},
	{"insertOne", "10107", nil, 2, "mongodb.writes"},
	{"insertOne", "11000", nil, 1, "mongodb.write-label"},
	{"insertOne", "11000,RetryableWriteError", nil, 2, ""},
	{"insertOne", "134", func(c *MongoCase) { c.Before44 = true }, 1, ""},
	{"insertOne", "262", func(c *MongoCase) { c.Before44 = true }, 2, ""},
	{"insertOne", "writeErrors:91", nil, 1, "mongodb.write-errors"},
	{"insertOne", "writeConcernError:91", nil, 2, ""},
	{"insertOne", "writeConcernError:91", func(c *MongoCase) { c.Before44 = true }, 2, ""},
	{"insertOne", "writeConcernError:91", func(c *MongoCase) { c.Before44, c.Server = true, Sharded }, 1, ""},
	{"insertOne", "writeConcernError:64,RetryableWriteError", nil, 2, ""},
	{"insertOne", "network error", func(c *MongoCase) { c.Server = Standalone }, 1, "mongodb.unsupported"},
	{"insertOne", "network error", func(c *MongoCase) { c.Server = WithoutSessions }, 1, "mongodb.unsupported"},
	{"insertOne", "network error", func(c *MongoCase) { c.Unacknowledged = true }, 1, "mongodb.unacknowledged"},
	{"insertOne", "connection failed", nil, 3, "mongodb.connect"},
	{"insertOne", "SystemOverloadedError", nil, 1, ""},
	{"insertOne", overloadLabels, func(c *MongoCase) { c.InTransaction = true }, 3, "mongodb.overload"},
	{"updateMany", "network error", nil, 1, "mongodb.writes-never"},
	{"deleteMany", overloadLabels, nil, 3, "mongodb.overload"},
	{"commitTransaction", "91", func(c *MongoCase) { c.Off = true }, 2, "mongodb.end-of-transaction"},
	{"commitTransaction", overloadLabels, func(c *MongoCase) { c.Off = true }, 3, "mongodb.overload"},
	{"abortTransaction", "network error", nil, 2, "mongodb.end-of-transaction"},
}

func TestTheVerdictsOfTheRules(t *testing.T) {
	for _, c := range verdictCases {
		operation, err := MongoOperationNamed(c.operation)
		if err != nil {
			t.Fatal(err)
		}
		failure, err := ParseMongoFailure(c.failure)
		if err != nil {
			t.Fatal(err)
		}
		question := MongoCase{Operation: operation, Failure: failure, Server: ReplicaSet}
		if c.change != nil {
			c.change(&question)
		}
		if err := question.Check(); err != nil {
			t.Errorf("%+v: %v", question, err)
		}
		v := question.Verdict()
		if v.Attempts != c.attempts || v.Retried != (c.attempts != 1) || v.UntilDeadline != (c.attempts == 0) || c.rule != "" && v.Rule.ID != c.rule {
			t.Errorf("%+v: %+v, want %d attempts by %s", question, v, c.attempts, c.rule)
		}
	}
}

func TestTheVersionFromWhichAServerLabelsErrors(t *testing.T) {
	for version, want := range map[string]bool{"3.6": false, "4.2": false, "4.3.9": false, "4.4": true, "4.4.29": true, "5.0": true, "8.0": true, "10.0": true} {
		if got, err := LabelsErrors(version); err != nil || got != want {
			t.Errorf("%s: %v, %v", version, got, err)
		}
	}
	for _, version := range []string{"", "4", "four", "2.6", "3.4", "3.5"} {
		if _, err := LabelsErrors(version); err == nil {
			t.Errorf("%q is accepted", version)
		}
	}
}

func TestCasesThatCannotHappenAreRefused(t *testing.T) {
	for _, c := range []struct {
		operation, failure string
		change             func(*MongoCase)
	}{
		{"commitTransaction", "91", func(c *MongoCase) { c.InTransaction = true }},
		{"commitTransaction", "91", func(c *MongoCase) { c.Server = Standalone }},
		{"find", "91", func(c *MongoCase) { c.InTransaction, c.Server = true, WithoutSessions }},
		{"find", "network error", func(c *MongoCase) { c.Unacknowledged = true }},
		{"insertOne", "network error", func(c *MongoCase) { c.Unacknowledged, c.InTransaction = true, true }},
		{"insertOne", "91", func(c *MongoCase) { c.Unacknowledged = true }},
		{"insertOne", "writeErrors:91", func(c *MongoCase) { c.Unacknowledged = true }},
		{"find", "writeConcernError:91", nil},
		{"find", "writeErrors:91", nil},
		{"insertOne", "91", func(c *MongoCase) { c.InRequest = true }},
		{"listDatabases", "91", func(c *MongoCase) { c.InRequest = true }},
		{"find", "91", func(c *MongoCase) { c.InRequest, c.Server = true, Sharded }},
		{"find", "91", func(c *MongoCase) { c.Before44, c.Server = true, LoadBalanced }},
	} {
		operation, err := MongoOperationNamed(c.operation)
		if err != nil {
			t.Fatal(err)
		}
		failure, err := ParseMongoFailure(c.failure)
		if err != nil {
			t.Fatal(err)
		}
		question := MongoCase{Operation: operation, Failure: failure, Server: ReplicaSet}
		if c.change != nil {
			c.change(&question)
		}
		if question.Check() == nil {
			t.Errorf("%+v is accepted", question)
		}
	}
}
