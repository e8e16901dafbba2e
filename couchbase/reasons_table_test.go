package couchbase_test

import (
	"bytes"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbase/search"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// forever is longer than every operation under test.
const forever = time.Hour

// raising says how a reason is raised, and what its rule is.
type raising struct {
	reason  retry.Reason
	path    string // the trouble, in words
	servers []couchbasetest.Option
	// prepare changes the cluster before the client connects, and configure the client, for trouble of a duration.
	prepare   func(b *bench)
	configure func(o *couchbase.ClusterOptions, lasts time.Duration)
	// arrange begins the trouble, which ends by itself.
	arrange func(b *bench, lasts time.Duration)
	// read is idempotent, write is not; nil where no such operation meets the reason.
	read, write call
	// How long the trouble lasts where it ends: 25 ms if it is 0.
	lasts time.Duration

	sent        bool  // attempts reach the node
	woken       bool  // the end of the trouble ends the wait
	always      bool  // retried by the controlled backoff, whatever the strategy says
	readsOnly   bool  // only idempotent operations are retried
	never       bool  // nothing is retried
	kind        error // what the error of a refusal and of a timeout matches; nil: nothing special
	mayHaveDone bool  // the outcome of a refused write is not known
}

// answers makes nodes answer the operation with a status.
func answers(status couchbasetest.Status) func(*bench, time.Duration) {
	return func(b *bench, lasts time.Duration) {
		b.server.Use(couchbasetest.AnyOpcode, couchbasetest.OnKey(b.key, couchbasetest.For(lasts, couchbasetest.Fault{Status: status})))
	}
}

// saysInstead makes a service answer so in place of a good answer.
func saysInstead(s couchbasetest.Service, a couchbasetest.HTTPAnswer) func(*bench, time.Duration) {
	return func(b *bench, lasts time.Duration) {
		end := time.Now().Add(lasts)
		b.server.HTTP().Script(on(s), 0, couchbasetest.HTTPScript{Func: func(*couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
			if time.Now().Before(end) {
				return a
			}
			return couchbasetest.HTTPAnswer{}
		}})
	}
}

// refuses makes a service answer with an HTTP status and a text.
func refuses(s couchbasetest.Service, status int, text string) func(*bench, time.Duration) {
	return func(b *bench, lasts time.Duration) {
		b.server.HTTP().Script(on(s), 0, couchbasetest.HTTPScript{})
		b.server.HTTP().Inject(on(s), 0, lasts, couchbasetest.HTTPFault{Status: status, Body: text})
	}
}

func problem(code int, text string, again bool) couchbasetest.HTTPAnswer {
	return couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{{Code: code, Message: text, Retry: again}}}
}

func searchQuery(b *bench, o callOptions) error {
	_, err := b.client.SearchQuery("i", search.NewMatchNoneQuery(), &couchbase.SearchOptions{Timeout: o.timeout, RetryStrategy: o.strategy, Context: o.ctx})
	return err
}

func viewQuery(b *bench, o callOptions) error {
	_, err := b.client.Bucket("default").ViewQuery("d", "v", &couchbase.ViewOptions{Timeout: o.timeout, RetryStrategy: o.strategy, Context: o.ctx})
	return err
}

func allBuckets(b *bench, o callOptions) error {
	_, err := b.client.Buckets().GetAllBuckets(&couchbase.GetAllBucketsOptions{Timeout: o.timeout, RetryStrategy: o.strategy, Context: o.ctx})
	return err
}

// later runs a function after a duration.
func later(d time.Duration, f func()) {
	if d < forever {
		time.AfterFunc(d, f)
	}
}

// unknownStatus is a status that neither the client nor the server's error map knows, and mappedStatus one that the map says to retry.
const (
	unknownStatus couchbasetest.Status = 0xff7f
	mappedStatus  couchbasetest.Status = 0xff01
)

// raisings has the reasons in the order of the RFC.
var raisings = []raising{
	{
		reason: retry.ReasonUnknown, path: "a status that nobody knows", arrange: answers(unknownStatus),
		read: exists, write: upsert, sent: true, never: true, mayHaveDone: true,
	},
	{
		reason: couchbasereason.SocketNotAvailable, path: "the node was killed", arrange: killNode,
		read: exists, write: upsert, lasts: 70 * time.Millisecond, woken: true,
	},
	{
		reason: couchbasereason.ServiceNotAvailable, path: "the map has no query service", prepare: hideQueryService, arrange: showQueryService,
		read: query(true), write: query(false), woken: true, kind: couchbase.ErrServiceNotAvailable,
	},
	{
		reason: couchbasereason.NodeNotAvailable, path: "a failover left the vbucket without a node", arrange: failOver,
		servers: []couchbasetest.Option{couchbasetest.Nodes(2), couchbasetest.Buckets(couchbasetest.Bucket{Name: "default"})},
		read:    exists, write: upsert, woken: true,
	},
	{
		reason: couchbasereason.KVNotMyVBucket, path: "the node says that it does not own the vbucket", arrange: answers(memd.StatusNotMyVBucket),
		read: exists, write: upsert, sent: true, always: true,
	},
	{
		reason: couchbasereason.KVNotMyVBucket, path: "the vbucket has moved, and no node tells the new map", arrange: moveInSecret,
		servers: []couchbasetest.Option{couchbasetest.Nodes(2)},
		read:    exists, write: upsert, sent: true, woken: true, always: true,
	},
	{
		reason: couchbasereason.KVCollectionOutdated, path: "the node is behind and does not know the collection", arrange: holdManifest,
		servers: []couchbasetest.Option{couchbasetest.Nodes(2)},
		read:    exists, write: upsert, sent: true, always: true, kind: couchbase.ErrCollectionNotFound,
	},
	{
		reason: couchbasereason.KVErrorMapRetryIndicated, path: "a status that the error map says to retry", arrange: answers(mappedStatus),
		prepare: func(b *bench) { b.server.SetErrorMapEntry(mappedStatus, "NEW", "a new status", "temp", "retry-now") },
		read:    exists, write: upsert, sent: true,
	},
	{
		reason: couchbasereason.KVLocked, path: "another caller has locked the document", arrange: lockDocument,
		write: upsert, sent: true, kind: couchbase.ErrDocumentLocked,
	},
	{
		reason: couchbasereason.KVTemporaryFailure, path: "the node is busy", arrange: answers(memd.StatusTemporaryFailure),
		read: exists, write: upsert, sent: true, kind: couchbase.ErrTemporaryFailure,
	},
	{
		reason: couchbasereason.KVSyncWriteInProgress, path: "a durable write waits for its replica", arrange: writeDurably,
		servers: []couchbasetest.Option{couchbasetest.Nodes(2)},
		write:   upsert, sent: true, kind: couchbase.ErrDurableWriteInProgress,
	},
	{
		reason: couchbasereason.KVSyncWriteReCommitInProgress, path: "a durable write is committed again", arrange: answers(memd.StatusSyncWriteReCommit),
		read: exists, write: upsert, sent: true, kind: couchbase.ErrDurableWriteReCommitInProgress,
	},
	{
		reason: retry.ReasonServiceResponseCodeIndicated, path: "a query error that says retry",
		arrange: saysInstead(couchbasetest.Query, problem(17020, "m", true)), read: query(true), write: query(false), sent: true,
	},
	{
		reason: retry.ReasonServiceResponseCodeIndicated, path: "a read of the cluster manager answered 503",
		arrange: refuses(couchbasetest.Management, 503, ""), read: allBuckets, sent: true, kind: couchbase.ErrTemporaryFailure,
	},
	{
		reason: couchbasereason.SocketClosedInFlight, path: "the node reads the request and ends the connection", arrange: cutQueries,
		read: query(true), write: query(false), sent: true, readsOnly: true, kind: couchbase.ErrRequestCanceled, mayHaveDone: true,
	},
	{
		reason: retry.ReasonCircuitBreakerOpen, path: "a timeout has opened the breaker", arrange: openBreaker,
		configure: func(o *couchbase.ClusterOptions, lasts time.Duration) {
			o.CircuitBreakerConfig = couchbase.CircuitBreakerConfig{
				VolumeThreshold: 1, ErrorThresholdPercentage: 1, SleepWindow: lasts, RollingWindow: 2 * forever,
			}
		},
		read: exists, write: upsert, woken: true, kind: couchbase.ErrCircuitBreakerOpen,
	},
	{
		reason: couchbasereason.QueryPreparedStatementFailure, path: "query error 4040", arrange: saysInstead(couchbasetest.Query, problem(4040, "m", false)),
		read: query(true), write: query(false), sent: true, kind: couchbase.ErrPreparedStatementFailure,
	},
	{
		reason: couchbasereason.QueryIndexNotFound, path: "query error 5000 about the index",
		arrange: saysInstead(couchbasetest.Query, problem(5000, "queryport.indexNotFound", false)),
		read:    query(true), write: query(false), sent: true, kind: couchbase.ErrIndexNotFound,
	},
	{
		reason: couchbasereason.AnalyticsTemporaryFailure, path: "analytics error 23000", arrange: saysInstead(couchbasetest.Analytics, problem(23000, "m", false)),
		read: analyticsQuery(true), write: analyticsQuery(false), sent: true, kind: couchbase.ErrTemporaryFailure,
	},
	{
		reason: couchbasereason.SearchTooManyRequests, path: "search 429", arrange: refuses(couchbasetest.Search, 429, `{"error":"too busy"}`),
		read: searchQuery, sent: true,
	},
	{
		reason: couchbasereason.ViewsTemporaryFailure, path: "views 503", arrange: refuses(couchbasetest.Views, 503, ""), read: viewQuery, sent: true,
	},
	{
		reason: couchbasereason.ViewsNoActivePartition, path: "views 302", arrange: refuses(couchbasetest.Views, 302, ""), read: viewQuery, sent: true, always: true,
	},
}

func killNode(b *bench, lasts time.Duration) {
	b.server.Kill(0)
	synctest.Wait() // the client connects again after 10, 30, 70 ms
	later(min(lasts, lasts-30*time.Millisecond), func() { b.server.Restart(0) })
}

var queryPort, otherPort = []byte(`"n1ql":`), []byte(`"none":`)

// hideQueryService takes the query service out of the maps that clients fetch.
func hideQueryService(b *bench) {
	b.end = b.server.Use(memd.OpGetClusterConfig, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
		reply := next(r)
		if reply != nil {
			reply.Value = bytes.ReplaceAll(reply.Value, queryPort, otherPort)
		}
		return reply
	})
}

func showQueryService(b *bench, lasts time.Duration) {
	saysInstead(couchbasetest.Query, couchbasetest.HTTPAnswer{})(b, 0)
	later(lasts, func() {
		b.end()
		b.server.PublishMap("default")
	})
}

func failOver(b *bench, lasts time.Duration) {
	b.ownedBy(1)
	if err := b.server.Failover(1); err != nil {
		b.t.Fatal(err)
	}
	synctest.Wait() // the client has the new map
	later(lasts, func() { _ = b.server.Rebalance() })
}

// moveInSecret moves all vbuckets to node 0, and keeps node 1 in the cluster: the rebalance is not finished.
func moveInSecret(b *bench, lasts time.Duration) {
	b.ownedBy(1)
	b.server.HoldMaps(0)
	b.server.HoldMaps(1)
	r, err := b.server.StartRebalance(1)
	if err != nil {
		b.t.Fatal(err)
	}
	for b.server.Owners("default", b.key)[0] == 1 {
		r.Move()
	}
	later(lasts, func() {
		b.server.ReleaseMaps(0)
		b.server.ReleaseMaps(1)
	})
}

// holdManifest makes a collection that node 1 does not know.
func holdManifest(b *bench, lasts time.Duration) {
	b.server.HoldManifests(1)
	if _, err := b.server.CreateCollection("default", "_default", couchbasetest.Collection{Name: "new"}); err != nil {
		b.t.Fatal(err)
	}
	b.c = b.client.Bucket("default").Collection("new")
	b.ownedBy(0)
	must[*couchbase.ExistsResult](b.t)(b.c.Exists(b.key, nil)) // the client knows the id now
	b.ownedBy(1)
	later(lasts, func() { b.server.ReleaseManifests(1) })
}

func lockDocument(b *bench, lasts time.Duration) {
	must[*couchbase.MutationResult](b.t)(b.c.Upsert(b.key, 1, nil))
	locked := must[*couchbase.GetResult](b.t)(b.c.GetAndLock(b.key, 15*time.Second, nil))
	later(lasts, func() {
		if err := b.c.Unlock(b.key, locked.Cas(), nil); err != nil {
			b.t.Error(err)
		}
	})
}

func writeDurably(b *bench, lasts time.Duration) {
	b.server.SetReplicationLag(lasts)
	go func() {
		_, _ = b.c.Upsert(b.key, 2, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority})
	}()
	synctest.Wait()
}

func cutQueries(b *bench, lasts time.Duration) {
	b.server.HTTP().Script(on(couchbasetest.Query), 0, couchbasetest.HTTPScript{})
	b.server.HTTP().Inject(on(couchbasetest.Query), 0, lasts, couchbasetest.HTTPFault{Cut: couchbasetest.CutHTTPRequest})
}

func openBreaker(b *bench, lasts time.Duration) {
	b.server.BlackHole(0)
	if _, err := b.c.Exists("other", &couchbase.ExistsOptions{Timeout: 5 * time.Millisecond}); err == nil {
		b.t.Error("the node answered out of a black hole")
	}
	if lasts < forever {
		b.server.Heal(0)
	}
}
