package couchbase_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
)

// Statements that change something run while their connections are cut at any place and their contexts are cancelled: none runs again
// after an attempt that may have been executed, and one that ends well ran once. Close leaves nothing.
func TestStatementsRunOnceInAStormOfHTTPFaults(t *testing.T) {
	for seed := range *seeds {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
				httpStorm(t, server, client, rand.New(rand.NewPCG(seed, 0)))
			}, couchbasetest.Nodes(2), couchbasetest.Latency(100*time.Microsecond, time.Millisecond))
		})
	}
}

func httpStorm(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster, random *rand.Rand) {
	t.Helper()
	var mu sync.Mutex
	ran := make(map[string]int)
	query := couchbasetest.HTTPWhen{Services: []couchbasetest.Service{couchbasetest.Query}}
	server.HTTP().Script(query, 0, couchbasetest.HTTPScript{Func: func(r *couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
		if r.Preparing {
			return couchbasetest.HTTPAnswer{}
		}
		mu.Lock()
		defer mu.Unlock()
		ran[r.Statement]++
		return couchbasetest.HTTPAnswer{Rows: []any{1, 2, 3}, RowDelay: time.Millisecond}
	}})
	ctx, end := context.WithTimeout(context.Background(), time.Second)
	defer end()
	var workers sync.WaitGroup
	results := make(map[string]error)
	for worker := range 8 {
		own := rand.New(rand.NewPCG(random.Uint64(), 0))
		workers.Go(func() {
			for i := 0; ctx.Err() == nil; i++ {
				statement := fmt.Sprintf("UPDATE x SET a = %d, b = %d", worker, i)
				err := update(client, statement, own)
				mu.Lock()
				results[statement] = err
				mu.Unlock()
			}
		})
	}
	faults := []couchbasetest.HTTPFault{
		{Cut: couchbasetest.CutHTTPRequest},
		{Cut: couchbasetest.CutHTTPReply},
		{Cut: couchbasetest.CutHTTPRows, After: 1},
		{Cut: couchbasetest.CutHTTPBytes, After: 20},
		{Status: 503},
		{Delay: 20 * time.Millisecond},
		{Cut: couchbasetest.CutHTTPReply, Silent: true},
	}
	for ctx.Err() == nil {
		remove := server.HTTP().Inject(query, 1+random.IntN(5), 0, faults[random.IntN(len(faults))])
		<-time.After(time.Duration(random.IntN(50)) * time.Millisecond)
		remove()
	}
	workers.Wait()
	pause(time.Second) // a request that its client gave up may still arrive
	synctest.Wait()
	succeeded := 0
	for statement, err := range results {
		if err == nil {
			succeeded++
		}
		switch n := ran[statement]; {
		case n > 1:
			t.Errorf("%s ran %d times: %v", statement, n, err)
		case err == nil && n != 1:
			t.Errorf("%s has succeeded but ran %d times", statement, n)
		case errors.Is(err, couchbase.ErrUnambiguousTimeout) && n > 0:
			t.Errorf("%s is called unambiguous, but it ran: %v", statement, err)
		}
	}
	if t.Logf("%d of %d succeeded", succeeded, len(results)); succeeded < 100 {
		t.Errorf("only %d of %d statements have succeeded", succeeded, len(results))
	}
}

func update(client *couchbase.Cluster, statement string, random *rand.Rand) error {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	if random.IntN(4) == 0 {
		defer time.AfterFunc(time.Duration(random.IntN(10000))*time.Microsecond, cancel).Stop()
	}
	timeout := time.Duration(1+random.IntN(1000)) * time.Millisecond
	rows, err := client.Query(statement, &couchbase.QueryOptions{Context: ctx, Timeout: timeout, Adhoc: random.IntN(2) == 0})
	if err != nil {
		return err
	}
	n := 0
	for rows.Next() {
		n++
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if n != 3 {
		return fmt.Errorf("%d rows and no error", n)
	}
	return rows.Close()
}
