package couchbase_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/cli/rules"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// verdictTimeout is the timeout of an operation whose trouble does not end.
const verdictTimeout = 40 * time.Millisecond

// serviceCalls has the operations of the table of rules that are not key-value operations.
var serviceCalls = map[string]call{
	"query": query(false), "queryReadonly": query(true), "analytics": analyticsQuery(false), "analyticsReadonly": analyticsQuery(true),
	"search": searchQuery, "view": viewQuery, "getAllBuckets": allBuckets, "createBucket": createBucket,
}

func createBucket(b *bench, o callOptions) error {
	settings := couchbase.CreateBucketSettings{BucketSettings: couchbase.BucketSettings{Name: "new", RAMQuotaMB: 100, BucketType: couchbase.CouchbaseBucketType}}
	return b.client.Buckets().CreateBucket(settings, &couchbase.CreateBucketOptions{Timeout: o.timeout, RetryStrategy: o.strategy, Context: o.ctx})
}

// callOf returns an operation of the table of rules.
func callOf(t *testing.T, o rules.CouchbaseOperation) call {
	if c, ok := serviceCalls[o.Name]; ok {
		return c
	}
	for _, op := range operations {
		if strings.EqualFold(op.name, o.Name) {
			return func(b *bench, o callOptions) error {
				return op.run(b.c, b.key, func(options any) {
					setField("Timeout", o.timeout)(options)
					if o.strategy != nil {
						setField("RetryStrategy", o.strategy)(options)
					}
				})
			}
		}
	}
	t.Fatalf("there is no operation %s", o.Name)
	return nil
}

// services has the name of each service in the table of rules.
var services = map[string]couchbasetest.Service{
	"query": couchbasetest.Query, "analytics": couchbasetest.Analytics, "search": couchbasetest.Search, "views": couchbasetest.Views,
	"management": couchbasetest.Management,
}

// verdicts counts the cases and compares each with what the client did.
type verdicts struct{ count int }

// run runs an operation whose trouble does not end, with the default strategy or one that declines.
func (v *verdicts) run(b *bench, o rules.CouchbaseOperation, reason retry.Reason, trouble string, declines bool) {
	v.count++
	options := callOptions{timeout: verdictTimeout}
	if declines {
		options.strategy = declining{}
	}
	b.forget()
	err := callOf(b.t, o)(b, options)
	log := b.log.take(b.t)
	c := rules.CouchbaseCase{Operation: o, Reason: reason, Declines: declines}
	want := c.Verdict()
	if len(log) == 0 {
		b.t.Errorf("%s, %s, declines %t: no attempt failed: %v", o.Name, trouble, declines, err)
		return
	}
	if last := log[len(log)-1]; log[0].reason != reason.String() || last.refusal != want.StopReason.String() || want.Retried != (len(log) > 1) {
		b.t.Errorf("%s, %s, declines %t: %v; the table says %v, %v by %s: %v", o.Name, trouble, declines, log, reason, want.StopReason, want.Rule.ID, err)
	}
}

// each runs f for the operations of a service, or of all of them if it is empty, with both strategies.
func (v *verdicts) each(t *testing.T, service string, f func(o rules.CouchbaseOperation, declines bool)) {
	for _, name := range rules.CouchbaseOperations() {
		o, err := rules.CouchbaseOperationNamed(name)
		if err != nil {
			t.Fatal(err)
		}
		if service == "" || o.Service() == service {
			f(o, false)
			f(o, true)
		}
	}
}

// reasonOf reads the error's text as the command line gives it.
func reasonOf(t *testing.T, o rules.CouchbaseOperation, text string) retry.Reason {
	reason, err := rules.ParseCouchbaseFailure(o, text)
	if err != nil {
		t.Fatal(err)
	}
	return reason
}

// TestTheTableOfRulesGivesTheVerdictsOfTheClient makes every case of the table happen: each operation with each status, code and reason that
// operations of its service meet, with the default strategy and with one that declines.
func TestTheTableOfRulesGivesTheVerdictsOfTheClient(t *testing.T) {
	var v verdicts
	t.Run("statuses", v.statuses)
	t.Run("codes", v.codes)
	t.Run("reasons", v.reasons)
	t.Logf("%d cases of Couchbase", v.count)
}

func (v *verdicts) statuses(t *testing.T) {
	quiet := func(o *couchbase.ClusterOptions) { o.Tracer, o.Meter = &couchbase.NoopTracer{}, &couchbase.NoopMeter{} } // its waits are long
	onBench(t, quiet, nil, func(b *bench) {
		for _, status := range memd.Statuses() {
			end := b.server.Use(couchbasetest.AnyOpcode, couchbasetest.OnKey(b.key, couchbasetest.Decide(func(*couchbasetest.Request) couchbasetest.Fault {
				return couchbasetest.Fault{Status: status}
			})))
			v.each(b.t, "key-value", func(o rules.CouchbaseOperation, declines bool) {
				if !slices.Contains(rules.CouchbaseStatuses(o), status) {
					return
				}
				// A connection that the status has closed is there again when this operation has ended.
				must[*couchbase.ExistsResult](b.t)(b.c.Exists("warm", &couchbase.ExistsOptions{Timeout: 10 * time.Second}))
				v.run(b, o, reasonOf(b.t, o, strconv.FormatUint(uint64(status), 16)), status.String(), declines)
			})
			end()
		}
	})
}

func (v *verdicts) codes(t *testing.T) {
	onBench(t, nil, nil, func(b *bench) {
		v.each(b.t, "", func(o rules.CouchbaseOperation, declines bool) {
			for _, code := range rules.CouchbaseCodes(o) {
				end := answersCode(b, services[o.Service()], code)
				v.run(b, o, reasonOf(b.t, o, fmt.Sprint(code)), fmt.Sprint("code ", code), declines)
				end()
			}
		})
	})
}

// answersCode makes a service answer with an error's code or, if it is below 1000, with an HTTP status.
func answersCode(b *bench, s couchbasetest.Service, code uint32) (end func()) {
	if code >= 1000 {
		return b.server.HTTP().Script(on(s), 0, couchbasetest.HTTPScript{Answer: problem(int(code), "m", false)})
	}
	endScript := b.server.HTTP().Script(on(s), 0, couchbasetest.HTTPScript{})
	endFault := b.server.HTTP().Inject(on(s), 0, 0, couchbasetest.HTTPFault{Status: int(code), Body: "m"})
	return func() { endFault(); endScript() }
}

func (v *verdicts) reasons(t *testing.T) {
	v.each(t, "", func(o rules.CouchbaseOperation, declines bool) {
		for _, reason := range rules.CouchbaseReasons(o) {
			t.Run(fmt.Sprint(o.Name, " ", reason, " ", declines), func(t *testing.T) {
				trouble := troubleOf(o, reason)
				if trouble == nil {
					return // of one of its statuses or codes
				}
				configure := func(options *couchbase.ClusterOptions) {
					if trouble.configure != nil {
						trouble.configure(options, forever)
					}
				}
				onBench(t, configure, trouble.prepare, func(b *bench) {
					trouble.arrange(b, forever)
					v.run(b, o, reason, reason.String(), declines)
				}, trouble.servers...)
			})
		}
	})
}

// troubleOf returns how an operation meets a reason, nil for a reason that only a status or a code without a text raises.
func troubleOf(o rules.CouchbaseOperation, reason retry.Reason) *raising {
	service, isHTTP := services[o.Service()]
	switch {
	case reason == couchbasereason.SocketNotAvailable && isHTTP:
		return &raising{arrange: func(b *bench, _ time.Duration) { b.server.Kill(0); synctest.Wait() }}
	case reason == couchbasereason.ServiceNotAvailable:
		return &raising{prepare: hides(service), arrange: func(*bench, time.Duration) {}}
	case reason == couchbasereason.SocketClosedInFlight && isHTTP:
		return &raising{arrange: func(b *bench, lasts time.Duration) {
			b.server.HTTP().Script(on(service), 0, couchbasetest.HTTPScript{})
			b.server.HTTP().Inject(on(service), 0, lasts, couchbasetest.HTTPFault{Cut: couchbasetest.CutHTTPRequest})
		}}
	case reason == couchbasereason.SocketClosedInFlight:
		return &raising{arrange: func(b *bench, _ time.Duration) {
			lose := couchbasetest.Decide(func(*couchbasetest.Request) couchbasetest.Fault { return couchbasetest.Fault{LoseRequest: true} })
			b.server.Use(couchbasetest.AnyOpcode, couchbasetest.OnKey(b.key, lose))
		}}
	case slices.Contains(ofStatuses, reason):
		return nil
	}
	for i, r := range raisings {
		sameService := reason != retry.ReasonServiceResponseCodeIndicated || errors.Is(r.kind, couchbase.ErrTemporaryFailure) == (o.Service() == "management")
		if r.reason == reason && sameService {
			return &raisings[i]
		}
	}
	return nil
}

// ofStatuses are the reasons that the test of the statuses raises for each operation.
var ofStatuses = []retry.Reason{
	couchbasereason.KVLocked, couchbasereason.KVTemporaryFailure, couchbasereason.KVSyncWriteInProgress,
	couchbasereason.KVSyncWriteReCommitInProgress, couchbasereason.KVConfigOnly, couchbasereason.KVCollectionOutdated,
}

// hides returns a function that takes a service out of the maps that clients fetch.
func hides(s couchbasetest.Service) func(*bench) {
	key := map[couchbasetest.Service]string{
		couchbasetest.Query: `"n1ql":`, couchbasetest.Analytics: `"cbas":`, couchbasetest.Search: `"fts":`, couchbasetest.Views: `"capi":`,
	}[s]
	return func(b *bench) {
		b.server.Use(memd.OpGetClusterConfig, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
			reply := next(r)
			if reply != nil {
				reply.Value = bytes.ReplaceAll(reply.Value, []byte(key), otherPort)
			}
			return reply
		})
	}
}
