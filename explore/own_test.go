package explore_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/explore"
	search "github.com/holdfast-db/holdfast/internal/explore"
	"github.com/holdfast-db/holdfast/mongotest"
)

// own is a failure of the user's own.
func own(apply func(*explore.Strike) mongotest.Middleware) []explore.Option {
	return []explore.Option{explore.InMemory(), explore.Failures(explore.Failure{Name: "own", Title: "it fails in its own way", Apply: apply})}
}

func TestAFailureOfOnesOwn(t *testing.T) {
	report, text := explore.Report(t, "", addBlindly, own(func(*explore.Strike) mongotest.Middleware {
		return mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: 8000, Message: "not today"}})
	})...)
	if report.Count(search.Held) != 1 {
		t.Error(text)
	}
}

func TestAFailureThatDoesNothingIsNotReached(t *testing.T) {
	report, text := explore.Report(t, "", addOnce, own(func(*explore.Strike) mongotest.Middleware { return nil })...)
	if report.Count(search.NotReached) != 1 {
		t.Error(text)
	}
}

func TestAFailureThatPanicsIsTold(t *testing.T) {
	report, text := explore.Report(t, "", addOnce, own(func(*explore.Strike) mongotest.Middleware { panic("oh") })...)
	if !report.Failing() {
		t.Error("the exploration passes")
	}
	contains(t, text, "the failure own panicked: oh", "own_test.go")
}

func TestOptionsThatCannotBeAreRefused(t *testing.T) {
	named := func(name string) explore.Failure {
		return explore.Failure{Name: name, Apply: func(*explore.Strike) mongotest.Middleware { return nil }}
	}
	for want, o := range map[string]explore.Option{
		"option 0 is nil":                        nil,
		"Depth: 0 is less than 1":                explore.Depth(0),
		"Samples: 0 is less than 1":              explore.Samples(0),
		"Parallel: -1 is negative":               explore.Parallel(-1),
		"Budget: -1ns is negative":               explore.Budget(-1),
		"there is none":                          explore.Failures(),
		"(own) has no function Apply":            explore.Failures(explore.Failure{Name: "own"}),
		`the name "Own" must have`:               explore.Failures(named("Own")),
		`two have the name "own"`:                explore.Failures(named("own"), named("own")),
		"ReplicaSet: the number of members is 0": explore.ReplicaSet(0),
		"Sharded: the number of members is 8":    explore.Sharded(8, 1),
		"Sharded: the number of mongoses is 0":   explore.Sharded(3, 0),
	} {
		err := explore.CheckOptions(o)
		if err == nil {
			t.Errorf("%s: it is accepted", want)
			continue
		}
		contains(t, err.Error(), want)
	}
}

// The seed chooses the pairs.
func TestTheSeedChoosesThePairs(t *testing.T) {
	pairs := func(seed int64) (names string) {
		report, _ := explore.Report(t, "", addOnce, explore.InMemory(), explore.Depth(2), explore.Samples(10), explore.Seed(seed))
		for _, o := range report.Outcomes {
			if len(o.Case) == 2 {
				names += o.Case.String() + "\n"
			}
		}
		return names
	}
	if first := pairs(1); first != pairs(1) || first == pairs(2) {
		t.Errorf("seed 1 draws\n%sand seed 2\n%s", first, pairs(2))
	}
}

// A server before 4.4 puts no labels on its errors: the client knows by the code.
func TestTheServerMayBeOlder(t *testing.T) {
	var version string
	report, text := explore.Report(t, "", func(e *explore.Exploration) {
		addOnce(e)
		reply, err := e.Deployment().Command(0, "admin", bson.D{{Key: "buildInfo", Value: 1}})
		if err != nil {
			e.Fatalf("%v", err)
		}
		version = reply.Lookup("version").StringValue()
	}, explore.InMemory(), explore.Server(mongotest.Version("4.2")), explore.Parallel(1), explore.Failures(explore.Refused(91), explore.ReplyLost))
	if !strings.HasPrefix(version, "4.2") || report.Count(search.Held) != 2 {
		t.Errorf("version %s: %s", version, text)
	}
}

// An option of mongotest may be wrong too. A bubble that could not start must not end the test binary.
func TestServersThatDoNotStartAreTold(t *testing.T) {
	for name, opts := range map[string][]explore.Option{"in memory": {explore.InMemory()}, "over TCP": nil} {
		t.Run(name, func(t *testing.T) {
			report, text := explore.Report(t, "", addOnce, append(opts, explore.Server(mongotest.Version("what")))...)
			if !report.Failing() {
				t.Error("the exploration passes")
			}
			contains(t, text, "the run without any failure fails", `"what"`)
		})
	}
}
