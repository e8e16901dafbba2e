package explore_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	explore "github.com/holdfast-db/holdfast/explore/couchbase"
	search "github.com/holdfast-db/holdfast/internal/explore"
)

// contains fails the test unless a text has each of the parts.
func contains(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(text, p) {
			t.Errorf("the report has no %q:\n%s", p, text)
		}
	}
}

func TestAProgramWithoutAMistakeIsSilent(t *testing.T) {
	for name, opts := range map[string][]explore.Option{
		"three nodes":  {explore.InMemory()},
		"one node":     {explore.InMemory(), explore.Nodes(1)},
		"two failures": {explore.InMemory(), explore.Depth(2), explore.Samples(40)},
	} {
		t.Run(name, func(t *testing.T) { explore.Run(t, mended, opts...) })
	}
}

func TestOverTCP(t *testing.T) {
	report, text := explore.Report(t, "", incrementBlindly, explore.Failures(explore.RequestLost, explore.Refused(0x24), explore.KilledBefore))
	if len(report.Broken()) != 0 || report.Count(search.Held) != 3 {
		t.Error(text)
	}
}

func TestTheReportNamesTheMessageOfABlindRetry(t *testing.T) {
	report, text := explore.Report(t, "", incrementBlindly, explore.InMemory())
	if !report.Failing() {
		t.Fatal("no mistake was found")
	}
	contains(t, text,
		"message 1 of 1 (increment default/c): the reply is lost after the node executed it", "the check found: the counter is 2",
		"HOLDFAST_EXPLORE='increment/default/c/1:reply-lost' go test -run '^TestTheReportNamesTheMessageOfABlindRetry$'",
		"increment/default/c/1:late-request", "increment/default/c/1:half-reply", "increment/default/c/1:silence")
}

func TestABlindRetryOfAnAppend(t *testing.T) {
	report, text := explore.Report(t, "", appendBlindly, explore.InMemory())
	if !report.Failing() {
		t.Fatal("no mistake was found")
	}
	contains(t, text, "message 2 of 2 (append default/text): the reply is lost after the node executed it", "the text is begin:xx")
}

func TestOneCaseAlone(t *testing.T) {
	report, text := explore.Report(t, "increment/default/c/1:reply-lost", incrementBlindly, explore.InMemory())
	if len(report.Outcomes) != 1 || len(report.Broken()) != 1 {
		t.Error(text)
	}
	report, text = explore.Report(t, "increment/default/c/9:reply-lost", incrementBlindly, explore.InMemory())
	if len(report.Outcomes) != 1 || !report.Failing() || report.Count(search.NotReached) != 1 {
		t.Error(text)
	}
}

// A write without durability may be lost, although it was acknowledged.
func TestALostWriteIsExploredIfItIsAskedFor(t *testing.T) {
	promise := func(level couchbase.DurabilityLevel) func(e *explore.Exploration) {
		return func(e *explore.Exploration) {
			_, err := connect(e).Upsert("k", 1, &couchbase.UpsertOptions{Context: e.Context(), DurabilityLevel: level})
			e.Check(func() error {
				if _, there := e.Cluster().Document("default", "k"); !there && err == nil {
					return errors.New("the write is lost")
				}
				return nil
			})
		}
	}
	_, text := explore.Report(t, "", promise(couchbase.DurabilityLevelNone), explore.InMemory(), explore.Failures(explore.WriteLost))
	contains(t, text, "message 1 of 1 (set default/k): the node executes this, and is failed over before a replica has it", "executed; lost later", "the write is lost")
	_, text = explore.Report(t, "", promise(majority), explore.InMemory(), explore.Failures(explore.WriteLost))
	contains(t, text, "no failure concerns any of the chosen messages")
	explore.Run(t, promise(couchbase.DurabilityLevelNone), explore.InMemory())
}

func TestAMessageHasTheNameOfItsCollection(t *testing.T) {
	report, text := explore.Report(t, "", func(e *explore.Exploration) {
		if _, err := e.Cluster().CreateCollection("shop", "_default", couchbasetest.Collection{Name: "orders"}); err != nil {
			e.Fatalf("%v", err)
		}
		client := cluster(e)
		c := client.Bucket("shop").Collection("orders")
		_, err := c.Insert("a/b c", 1, nil)
		e.Logf("Insert returned %v", err)
		e.Check(func() error { return nil })
	}, explore.InMemory(), explore.Buckets(couchbasetest.Bucket{Name: "shop", Replicas: 1}), explore.Failures(explore.Refused(0x24)))
	if report.Failing() || len(report.Outcomes) != 1 || report.Outcomes[0].Case.String() != "add/shop._default.orders/a/b%20c/1:status-24" {
		t.Errorf("%s\n%v", text, report.Outcomes)
	}
	again, err := search.ParseCase(report.Outcomes[0].Case.String(), report.Failures)
	if err != nil || !again[0].Message.Same(report.First.Messages[0]) {
		t.Errorf("the name leads to %v, %v", again, err)
	}
}

// In memory the same seed gives the same report, if the client does the same. During an outage it chooses by chance which node it asks for
// the map.
func TestTheReportIsTheSame(t *testing.T) {
	var short []explore.Failure
	for _, f := range explore.All() {
		if !slices.Contains([]string{"silence", "killed-before", "killed-after", "paused", "black-hole"}, f.Name) {
			short = append(short, f)
		}
	}
	opts := []explore.Option{explore.InMemory(), explore.Failures(short...), explore.Depth(2), explore.Samples(20)}
	_, first := explore.Report(t, "", incrementBlindly, opts...)
	for range 2 {
		if _, again := explore.Report(t, "", incrementBlindly, opts...); again != first {
			t.Fatalf("the report was\n%s\nand is now\n%s", first, again)
		}
	}
}
