package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/cli/rules"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// ruledDeployments are the kinds of deployments of the table of rules, and the versions that differ in the label of a reply.
var ruledDeployments = []struct {
	server  rules.MongoServer
	version string
	run     func(...mongotest.Option) (*mongotest.Deployment, error)
}{
	{rules.ReplicaSet, "8.0", setOfThree},
	{rules.ReplicaSet, "4.2", setOfThree},
	{rules.Sharded, "8.0", shardedBehind(2)},
	{rules.Sharded, "4.2", shardedBehind(2)},
	{rules.LoadBalanced, "8.0", func(o ...mongotest.Option) (*mongotest.Deployment, error) {
		return shardedBehind(2)(append(o, mongotest.LoadBalancer())...)
	}},
	{rules.Standalone, "8.0", mongotest.RunStandalone},
	{rules.Standalone, "4.2", mongotest.RunStandalone},
	{rules.WithoutSessions, "8.0", setOfThree},
}

func setOfThree(o ...mongotest.Option) (*mongotest.Deployment, error) {
	return mongotest.RunReplicaSet(3, o...)
}

func shardedBehind(mongos int) func(...mongotest.Option) (*mongotest.Deployment, error) {
	return func(o ...mongotest.Option) (*mongotest.Deployment, error) {
		return mongotest.RunSharded(3, mongos, o...)
	}
}

// ruledFailures has every failure of the table of rules: each code as a reply and as a writeConcernError, and the others.
func ruledFailures(t *testing.T) []rules.MongoFailure {
	texts := []string{
		"network error", "connection failed", "pool cleared", "cancelled", "handshake:91", "handshake:8", "4711", "writeErrors:11000", "writeErrors:91",
		"462,SystemOverloadedError,RetryableError", "91,SystemOverloadedError,RetryableError", "462,SystemOverloadedError", "462,RetryableError",
		"8,RetryableWriteError", "10107,NoWritesPerformed", "writeConcernError:64,RetryableWriteError",
	}
	for _, c := range rules.MongoCodes() {
		texts = append(texts, fmt.Sprint(c.Code), "writeConcernError:"+c.Name)
	}
	failures := make([]rules.MongoFailure, len(texts))
	for i, text := range texts {
		var err error
		if failures[i], err = rules.ParseMongoFailure(text); err != nil {
			t.Fatal(err)
		}
	}
	return failures
}

// The rules know each code after which the client retries a read, and no other one.
func TestTheRulesHaveTheCodesOfTheClient(t *testing.T) {
	known := map[int32]bool{}
	for _, c := range rules.MongoCodes() {
		known[c.Code] = c.Retryable
	}
	for code := range int32(20_000) {
		if retried := operation.RetryableRead(official.CommandError{Code: code}); retried != known[code] {
			t.Errorf("code %d: the client retries reads after it: %t; the rules say %t", code, retried, known[code])
		}
	}
}

// TestTheTableOfRulesGivesTheVerdictsOfTheClient makes cases of the table happen: an operation with a failure on a kind of deployment,
// without options or with some. The failure lasts until the operation ends. By default the cases are those of pairwise; with
// the flag they are all.
func TestTheTableOfRulesGivesTheVerdictsOfTheClient(t *testing.T) {
	cases := ruledCases(t)
	if !*allRules {
		cases = pairwise(cases)
	}
	t.Run("on", func(t *testing.T) {
		for i, deployment := range ruledDeployments {
			t.Run(fmt.Sprint(deployment.server, " ", deployment.version), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					set, err := deployment.run(mongotest.InMemory(), mongotest.Version(deployment.version))
					if err != nil {
						t.Fatal(err)
					}
					r := newRuled(t, deployment.server, set)
					defer r.close()
					if _, err := r.on.Database("test").Collection("c").InsertMany(context.Background(), []d{doc("n", 1), doc("n", 2), doc("n", 3)}); err != nil {
						t.Fatal(err)
					}
					for _, c := range cases {
						if c.levels[0] == i {
							r.check(&c.MongoCase)
						}
					}
				})
			})
		}
	})
	t.Logf("%d cases of MongoDB", len(cases))
}

// possible reports whether a case can happen.
func possible(c *rules.MongoCase) bool {
	o, kind := &c.Operation, c.Failure.Kind
	switch {
	case c.Check() != nil:
		return false
	case c.InRequest && kind == rules.MongoPoolCleared: // what clears the pool makes the other members Unknown too, and the request does not wait
		return false
	case c.Before44 && ruledOperations[o.Name].command == "bulkWrite": // since 8.0
		return false
	case kind == rules.MongoPoolCleared && c.Server == rules.LoadBalanced: // it is cleared only for the service of a connection
		return false
	case c.Unacknowledged && !ruledOperations[o.Name].unacknowledged:
		return false
	case c.Unacknowledged && (kind == rules.MongoNetwork || kind == rules.MongoCancelled): // the client does not wait
		return false
	case kind == rules.MongoWriteErrors:
		return slices.Contains([]string{"insert", "update", "delete"}, ruledOperations[o.Name].command)
	case c.Server == rules.LoadBalanced && (c.InTransaction || o.Pinned()) && onNewConnection(c): // it has a connection already
		return false
	}
	return true
}

// check makes a case happen and compares its verdict with the attempts of the client.
func (r *ruled) check(c *rules.MongoCase) {
	synctest.Wait() // all that followed the case before has happened
	client := r.on
	if c.Off {
		client = r.off
	}
	coll := client.Database("test").Collection("c")
	if c.Unacknowledged {
		coll = notAcknowledged(coll)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if c.InTransaction {
		end, within, err := transactionOf(ctx, coll)
		if err != nil {
			r.Fatalf("%s: %v", describe(c), err)
		}
		ctx = within
		defer end()
	}
	operation := ruledOperations[c.Operation.Name]
	do := func(ctx context.Context) error { return operation.do(ctx, coll) }
	if operation.begin != nil {
		var err error
		if do, err = operation.begin(ctx, coll); err != nil {
			r.Fatalf("%s: %v", describe(c), err)
		}
	}
	if onNewConnection(c) {
		if err := findOneOf(ctx, coll); err != nil && !errors.Is(err, mongo.ErrNoDocuments) { // it waits until all is well again
			r.Fatalf("%s: %v", describe(c), err)
		}
		<-time.After(idle + 10*time.Millisecond)
	}
	if c.Server == rules.Sharded || c.InRequest {
		<-time.After(restored)
	}
	if c.InRequest {
		within, end := mongo.WithRequest(ctx)
		defer end()
		ctx, coll = within, coll.Clone(options.Collection().SetReadPreference(readpref.Nearest()))
	}
	if c.Deadline {
		ctx, cancel = context.WithTimeout(ctx, 5*time.Second)
		defer cancel()
	}
	r.arm(c, operation.command, cancel)
	err := do(ctx)
	r.compare(c, r.disarm(), err)
}

// restored is longer than the time after which a monitor has checked again a mongos that was left Unknown.
const restored = heartbeat + 100*time.Millisecond

// onNewConnection reports whether the failure is of a new connection.
func onNewConnection(c *rules.MongoCase) bool {
	return c.Failure.Kind == rules.MongoConnect || c.Failure.Kind == rules.MongoHandshake
}

// transactionOf begins a transaction with a read, which pins it in a sharded cluster.
func transactionOf(ctx context.Context, coll *mongo.Collection) (end func(), within context.Context, err error) {
	s, err := coll.Database().Client().StartSession()
	if err != nil {
		return nil, nil, err
	}
	if err := s.StartTransaction(); err != nil {
		return nil, nil, err
	}
	within = mongo.NewSessionContext(ctx, s)
	return func() { s.EndSession(context.Background()) }, within, coll.FindOne(within, d{}).Err()
}

// compare compares the failed attempts of a case with its verdict.
func (r *ruled) compare(c *rules.MongoCase, failed []retry.Record, err error) {
	v := c.Verdict()
	if len(failed) == 0 {
		r.Errorf("%s: no attempt failed: %v", describe(c), err)
		return
	}
	stop := failed[len(failed)-1].StopReason
	if v.UntilDeadline && stop == retry.StopNotBuilt { // less time was left than a round trip takes
		stop = v.StopReason
	}
	switch {
	case v.UntilDeadline && len(failed) < 3, !v.UntilDeadline && len(failed) != v.Attempts, stop != v.StopReason, v.Retried != (len(failed) > 1):
		r.Errorf("%s: %d attempts, %v; the table says %d, %v by %s: %v", describe(c), len(failed), stop, v.Attempts, v.StopReason, v.Rule.ID, err)
	case len(failed) > 1:
		r.compareNext(c, v, failed)
	}
}

// compareNext compares the delay and the server of the first retry.
func (r *ruled) compareNext(c *rules.MongoCase, v rules.Verdict, failed []retry.Record) {
	same := failed[0].Endpoint == failed[1].Endpoint
	if c.Failure.Kind == rules.MongoPoolCleared { // what cleared the pool may have made the other mongos Unknown too
		v.Where = rules.WhereSelected
	}
	if v.Where == rules.WhereSame && !same || v.Where == rules.WhereAnother && same {
		r.Errorf("%s: the attempts were at %s and %s; the table says %s", describe(c), failed[0].Endpoint, failed[1].Endpoint, v.Where)
	}
	if delay := failed[0].Delay; v.Delay == rules.DelayAtOnce && delay != 0 || v.Delay == rules.DelayOverload && (delay <= 0 || delay > 200*time.Millisecond) {
		r.Errorf("%s: the delay was %v; the table says %s", describe(c), delay, v.Delay)
	}
}

func describe(c *rules.MongoCase) string {
	return fmt.Sprintf("%s, failure %d %d %v, %s, before 4.4 %t, off %t, in a transaction %t, deadline %t, w: 0 %t, in a request %t", c.Operation.Name, c.Failure.Kind,
		c.Failure.Code, c.Failure.Labels, c.Server, c.Before44, c.Off, c.InTransaction, c.Deadline, c.Unacknowledged, c.InRequest)
}

var _ options.ContextDialer = (*ruled)(nil)
