package couchbase_test

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// decision is one line of the log of retries.
type decision struct {
	attempt int
	reason  string
	delay   time.Duration
	refusal string // why there is no other attempt; "" of a retry
}

// decisionLog is a logger that understands the lines about retries.
type decisionLog struct {
	mu    sync.Mutex
	lines []decision
	wrong []string // lines about attempts that it does not understand
}

var decisionLine = regexp.MustCompile(
	`(?s)^\S+: attempt (\d+) on .*? failed \(.*?, reason (\S+)\); (?:another one follows after (\S+): |there is no other one, because (.*?) \(delay (\S+)\): )`)

func (l *decisionLog) Log(_ couchbase.LogLevel, _ int, format string, v ...any) error {
	text := fmt.Sprintf(format, v...)
	l.mu.Lock()
	defer l.mu.Unlock()
	match := decisionLine.FindStringSubmatch(text)
	if match == nil {
		l.wrong = append(l.wrong, text)
		return nil
	}
	d := decision{reason: match[2], refusal: match[4]}
	d.attempt, _ = strconv.Atoi(match[1])
	d.delay, _ = time.ParseDuration(match[3] + match[5]) // one of them is empty
	l.lines = append(l.lines, d)
	return nil
}

// take returns the lines so far, and forgets them.
func (l *decisionLog) take(t *testing.T) []decision {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.wrong) > 0 {
		t.Errorf("the log has %q", l.wrong)
	}
	lines := l.lines
	l.lines = nil
	return lines
}

// bench is a cluster and a client on the fake clock, with the records of both.
type bench struct {
	t      *testing.T
	server *couchbasetest.Cluster
	client *couchbase.Cluster
	c      *couchbase.Collection
	log    *decisionLog
	key    string // of the document that the operation is about
	end    func() // ends the trouble that was made before the client connected

	mu    sync.Mutex
	times []time.Time // at which the nodes received key-value operations on the document
}

// onBench runs a test with a bench. configure may be nil.
func onBench(t *testing.T, configure func(*couchbase.ClusterOptions), prepare func(*bench), test func(*bench), opts ...couchbasetest.Option) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, log: &decisionLog{}, key: "a"}
		couchbase.SetLogger(b.log)
		defer couchbase.SetLogger(nil)
		var err error
		withViews := couchbasetest.Bucket{Name: "default", Replicas: 1, Storage: "couchstore"}
		b.server, err = couchbasetest.Run(append([]couchbasetest.Option{couchbasetest.InMemory(), couchbasetest.VBuckets(16), couchbasetest.Buckets(withViews)}, opts...)...)
		if err != nil {
			t.Fatal(err)
		}
		defer b.server.Close()
		for _, op := range []memd.Opcode{memd.OpGetMeta, memd.OpSet} {
			b.server.Use(op, b.record)
		}
		if prepare != nil {
			prepare(b)
		}
		var options couchbase.ClusterOptions
		if configure != nil {
			configure(&options)
		}
		b.client = connect(t, b.server, options)
		defer b.client.Close(nil)
		b.c = b.client.Bucket("default").DefaultCollection()
		must[*couchbase.ExistsResult](t)(b.c.Exists("warm", nil))
		<-time.After(5 * time.Millisecond) // from then on an idle connection notices its end, and pushed maps
		test(b)
	})
}

// record is middleware that notes the operations on the document.
func (b *bench) record(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
	b.mu.Lock()
	if r.Key == b.key {
		b.times = append(b.times, time.Now())
	}
	b.mu.Unlock()
	return next(r)
}

// forget empties the records.
func (b *bench) forget() {
	b.log.take(b.t)
	b.server.HTTP().ForgetRequests()
	b.mu.Lock()
	defer b.mu.Unlock()
	b.times = nil
}

// requests returns when, after began, the nodes received requests of the operation.
func (b *bench) requests(began time.Time) []time.Duration {
	var all []time.Duration
	b.mu.Lock()
	for _, at := range b.times {
		all = append(all, at.Sub(began))
	}
	b.mu.Unlock()
	for _, r := range b.server.HTTP().Requests(couchbasetest.HTTPWhen{}) {
		all = append(all, r.At.Sub(began))
	}
	slices.Sort(all)
	return all
}

// ownedBy makes the operation be about a document that a node has.
func (b *bench) ownedBy(node int) {
	for i := 0; b.server.Owners("default", b.key)[0] != node; i++ {
		b.key = fmt.Sprint("key", i)
	}
}

// callOptions are the options of the operation under test.
type callOptions struct {
	timeout  time.Duration
	strategy couchbase.RetryStrategy
	ctx      context.Context
}

// call is an operation under test.
type call func(b *bench, o callOptions) error

func exists(b *bench, o callOptions) error {
	_, err := b.c.Exists(b.key, &couchbase.ExistsOptions{Timeout: o.timeout, RetryStrategy: o.strategy, Context: o.ctx})
	return err
}

func upsert(b *bench, o callOptions) error {
	_, err := b.c.Upsert(b.key, 1, &couchbase.UpsertOptions{Timeout: o.timeout, RetryStrategy: o.strategy, Context: o.ctx})
	return err
}

func query(readonly bool) call {
	return func(b *bench, o callOptions) error {
		_, err := b.client.Query("s", &couchbase.QueryOptions{Adhoc: true, Readonly: readonly, Timeout: o.timeout, RetryStrategy: o.strategy, Context: o.ctx})
		return err
	}
}

func analyticsQuery(readonly bool) call {
	return func(b *bench, o callOptions) error {
		_, err := b.client.AnalyticsQuery("s", &couchbase.AnalyticsOptions{Readonly: readonly, Timeout: o.timeout, RetryStrategy: o.strategy, Context: o.ctx})
		return err
	}
}
