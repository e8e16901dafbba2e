package couchbase_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/telemetry"
)

// poolLines describes pools without their addresses, in a line each.
func poolLines(pools []telemetry.Pool) string {
	var b strings.Builder
	for _, p := range pools {
		fmt.Fprintf(&b, "%s: ready %v, %d in use, %d idle, %d pending, %d waiting; %d made, %d failed, closed %v\n",
			p.Service, p.Ready, p.InUse, p.Idle, p.Pending, p.Waiting, p.Made, p.Failed, p.Closed)
	}
	return b.String()
}

func TestPoolStats(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		client := connect(t, server, couchbase.ClusterOptions{})
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		check(t, "idle", poolLines(client.PoolStats()), nil, "kv: ready true, 0 in use, 1 idle, 0 pending, 0 waiting; 1 made, 0 failed, closed map[]\n")

		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Delay: 100 * time.Millisecond}))
		long := strings.Repeat("x", 100_000)
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{long, long}})
		got := make(chan struct{})
		go func() {
			defer close(got)
			must[*couchbase.GetResult](t)(c.Get("a", nil))
		}()
		rows := must[*couchbase.QueryResult](t)(client.Query("s", &couchbase.QueryOptions{Adhoc: true}))
		synctest.Wait()
		check(t, "in use", poolLines(client.PoolStats()), nil, `kv: ready true, 1 in use, 0 idle, 0 pending, 0 waiting; 1 made, 0 failed, closed map[]
query: ready true, 1 in use, 0 idle, 0 pending, 0 waiting; 1 made, 0 failed, closed map[]
`)
		for rows.Next() {
		}
		<-got
		check(t, "after the last row", poolLines(client.PoolStats()), nil, `kv: ready true, 0 in use, 1 idle, 0 pending, 0 waiting; 1 made, 0 failed, closed map[]
query: ready true, 0 in use, 1 idle, 0 pending, 0 waiting; 1 made, 0 failed, closed map[]
`)
		if p := client.PoolStats()[0]; p.Address != server.Address(0, "kv") {
			t.Errorf("%+v", p)
		}
		if err := client.Close(nil); err != nil {
			t.Fatal(err)
		}
		check(t, "after Close", poolLines(client.PoolStats()), nil, `kv: ready false, 0 in use, 0 idle, 0 pending, 0 waiting; 1 made, 0 failed, closed map[shutdown:1]
query: ready false, 0 in use, 0 idle, 0 pending, 0 waiting; 1 made, 0 failed, closed map[shutdown:1]
`)
	})
}

// What is not needed, and what has left the cluster, does not look as if it could not be reached: a health check would never be good again.
func TestPoolStatsOfWhatIsNotNeeded(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		client := connect(t, server, couchbase.ClusterOptions{})
		defer client.Close(nil)
		bucket := client.Bucket("default")
		if err := bucket.WaitUntilReady(time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1}})
		rows := must[*couchbase.QueryResult](t)(client.Query("s", &couchbase.QueryOptions{Adhoc: true}))
		for rows.Next() {
		}
		<-time.After(10 * time.Second) // longer than a connection stays idle
		ready := func() (lines []string) {
			for _, p := range client.PoolStats() {
				lines = append(lines, fmt.Sprint(p.Service, " ", p.Ready, " ", p.Closed))
			}
			return lines
		}
		if got, want := ready(), []string{"kv true map[]", "kv true map[]", "query true map[idle:1]"}; !slices.Equal(sorted(got), want) {
			t.Errorf("%q, want %q", got, want)
		}
		server.Kill(1)
		<-time.After(10 * time.Second)
		if got := strings.Join(ready(), "\n"); !strings.Contains(got, "kv false map[lost:1]") {
			t.Errorf("the dead node is not seen: %q", got)
		}
		if err := server.Failover(1); err != nil {
			t.Fatal(err)
		}
		<-time.After(10 * time.Second)
		if got := strings.Join(ready(), "\n"); strings.Contains(got, "false") || strings.Count(got, "kv ") != 1 {
			t.Errorf("after the failover: %q", got)
		}
	}, couchbasetest.Nodes(2))
}

func sorted(lines []string) []string {
	slices.Sort(lines)
	return lines
}

// A request that waits because there are enough connections to its node is counted, and how long it has waited.
func TestPoolStatsHaveWhoWaits(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		long := strings.Repeat("x", 100_000)
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{long, long}})
		client, err := couchbase.Open(server.ConnectionString()+"?max_perhost_http_connections=1", couchbase.Config{Dial: server.Dialer().DialContext}, couchbase.ClusterOptions{
			Username: server.Username(), Password: server.Password(),
			SecurityConfig: couchbase.SecurityConfig{AllowedSaslMechanisms: []couchbase.SaslMechanism{couchbase.PlainSaslMechanism}},
		})
		if err != nil {
			t.Fatal(err)
		}
		defer client.Close(nil)
		ready(t, client)
		first := must[*couchbase.QueryResult](t)(client.Query("s", &couchbase.QueryOptions{Adhoc: true}))
		ended := make(chan error)
		go func() {
			_, err := client.Query("s", &couchbase.QueryOptions{Adhoc: true, Timeout: 3 * time.Second})
			ended <- err
		}()
		<-time.After(2 * time.Second)
		query := client.PoolStats()[1]
		if query.Waiting != 1 || query.OldestWait != 2*time.Second || query.LongestWait != 2*time.Second || query.Max != 1 || query.InUse != 1 {
			t.Errorf("%+v", query)
		}
		if err := <-ended; err == nil {
			t.Error("the second query has a connection")
		}
		first.Close()
		if query = client.PoolStats()[1]; query.Waiting != 0 || query.OldestWait != 0 || query.LongestWait != 3*time.Second || query.TimedOut != 1 {
			t.Errorf("%+v", query)
		}
	})
}

func TestATracerIsToldOfConnections(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		told := &toldLines{t: t}
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{LoseRequest: true}))
		must[*couchbase.GetResult](t)(c.Get("a", nil))
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1, strings.Repeat("x", 100_000)}})
		must[*couchbase.QueryResult](t)(client.Query("s", &couchbase.QueryOptions{Adhoc: true})).Close()
		synctest.Wait()
		if err := client.Close(nil); err != nil {
			t.Fatal(err)
		}
		kinds := map[telemetry.PoolEventKind]string{
			telemetry.ConnectionCreated: "created", telemetry.ConnectionReady: "ready", telemetry.ConnectionClosed: "closed",
		}
		var got []string
		for _, e := range told.pools {
			if e.System != telemetry.Couchbase || e.Address == "" {
				t.Errorf("%+v", e)
			}
			got = append(got, strings.TrimSpace(fmt.Sprintf("%s %d %s %s", e.Service, e.ID, kinds[e.Kind], e.Reason)))
		}
		want := []string{
			"kv 1 created", "kv 1 ready", "kv 1 closed lost", "kv 2 created", "kv 2 ready",
			"query 1 created", "query 1 ready", "query 1 closed abandoned", "kv 2 closed shutdown",
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestAConnectionThatCannotBeMadeIsCounted(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		told := &toldLines{t: t}
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		defer client.Close(nil)
		server.Kill(0)
		_, _ = client.Bucket("default").DefaultCollection().Get("a", &couchbase.GetOptions{Timeout: 15 * time.Millisecond})
		p := client.PoolStats()[0]
		if p.Ready || p.Made != 0 || p.Failed == 0 || p.InUse != 0 || p.Idle != 0 {
			t.Errorf("%+v", p)
		}
		if e := told.pools[1]; e.Kind != telemetry.ConnectionClosed || e.Reason != "failed" || e.Err == nil {
			t.Errorf("%+v", e)
		}
	})
}

func TestATracerIsToldOfAClient(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		var opened, closed []*telemetry.Client
		client := connectTraced(t, server, &telemetry.Tracer{
			ClientOpened: func(c *telemetry.Client) { opened = append(opened, c) },
			ClientClosed: func(c *telemetry.Client) { closed = append(closed, c) },
		}, couchbase.ClusterOptions{CircuitBreakerConfig: couchbase.CircuitBreakerConfig{VolumeThreshold: 1}})
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		if len(opened) != 1 || opened[0].System != telemetry.Couchbase || len(opened[0].Pools()) != 1 {
			t.Fatalf("%+v", opened)
		}
		breakers := func() string { return fmt.Sprint(opened[0].Limits().Breakers) }
		address := server.Address(0, "kv")
		check(t, "the breaker", breakers(), nil, "[{"+address+" closed}]")
		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Delay: time.Second}))
		_, _ = c.Get("a", &couchbase.GetOptions{Timeout: 100 * time.Millisecond})
		check(t, "the breaker after a timeout", breakers(), nil, "[{"+address+" open}]")
		if opened[0].Limits().Budget != nil {
			t.Error("there is a budget")
		}
		client.Close(nil)
		if len(closed) != 1 || closed[0] != opened[0] || len(closed[0].Pools()) != 1 || len(closed[0].Limits().Breakers) != 1 {
			t.Errorf("%+v", closed)
		}
		client.Close(nil)
		if len(closed) != 1 {
			t.Error("told of a second Close")
		}
	})
}
