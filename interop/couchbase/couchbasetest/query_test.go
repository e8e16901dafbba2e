package couchbasetest

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// connectCluster returns a cluster by gocb, and its bucket "default".
func connectCluster(t *testing.T, c *couchbasetest.Cluster) (*gocb.Cluster, *gocb.Bucket) {
	t.Helper()
	client, err := gocb.Connect(c.ConnectionString(), gocb.ClusterOptions{Username: c.Username(), Password: c.Password()})
	must(t, "Connect", err, nil)
	t.Cleanup(func() { _ = client.Close(nil) })
	b := client.Bucket("default")
	must(t, "WaitUntilReady", b.WaitUntilReady(10*time.Second, &gocb.WaitUntilReadyOptions{ServiceTypes: []gocb.ServiceType{gocb.ServiceTypeKeyValue}}), nil)
	return client, b
}

const scripted = "SELECT * FROM x WHERE a = $a"

// echo answers the statement with one row that has its parameter.
func echo(c *couchbasetest.Cluster) {
	c.HTTP().Script(couchbasetest.HTTPWhen{Statement: scripted}, 0, couchbasetest.HTTPScript{
		Func: func(r *couchbasetest.HTTPRequest) couchbasetest.HTTPAnswer {
			return couchbasetest.HTTPAnswer{
				Rows:     []any{map[string]any{"a": r.Fields["$a"]}},
				Warnings: []couchbasetest.HTTPProblem{{Code: 5, Message: "careful"}},
			}
		},
	})
}

// runEcho runs the statement and checks its row and what stands around it.
func runEcho(t *testing.T, client *gocb.Cluster, adhoc bool) {
	t.Helper()
	result, err := client.Query(scripted, &gocb.QueryOptions{Adhoc: adhoc, Metrics: true, NamedParameters: map[string]any{"a": 5}})
	must(t, "Query", err, nil)
	rows := 0
	for ; result.Next(); rows++ {
		var row map[string]int
		if err := result.Row(&row); err != nil || row["a"] != 5 {
			t.Errorf("row %v, %v", row, err)
		}
	}
	must(t, "rows", result.Err(), nil)
	meta, err := result.MetaData()
	must(t, "MetaData", err, nil)
	if rows != 1 || meta.Metrics.ResultCount != 1 || meta.Metrics.ElapsedTime <= 0 || len(meta.Warnings) != 1 || meta.Status != gocb.QueryStatusSuccess {
		t.Errorf("%d rows, %+v", rows, meta)
	}
}

// Old servers send the encoded plan to whoever prepares, and take it back with each execution; in new ones all nodes know the name.
func TestGocbPreparesStatements(t *testing.T) {
	for _, c := range []struct {
		version string
		sent    string // what each execution has besides the name
		evicted int    // requests for an execution after all nodes have forgotten the statement
	}{
		{"6.0", `"encoded_plan":`, 1},
		{"7.6.4", ``, 2},
	} {
		t.Run(c.version, func(t *testing.T) {
			cluster := couchbasetest.RunT(t, couchbasetest.Nodes(2), couchbasetest.Version(c.version))
			client, _ := connectCluster(t, cluster)
			echo(cluster)
			requests := func() []couchbasetest.HTTPRecord {
				return cluster.HTTP().Requests(couchbasetest.HTTPWhen{Services: []couchbasetest.Service{couchbasetest.Query}, Path: "/query/service"})
			}
			runEcho(t, client, true)
			if all := requests(); len(all) != 1 || strings.Contains(string(all[0].Body), "PREPARE") {
				t.Errorf("an ad hoc statement was prepared: %d requests", len(all))
			}
			for range 8 { // more than enough that both nodes have their turn
				runEcho(t, client, false)
			}
			all := requests()
			last := string(all[len(all)-1].Body)
			if !strings.Contains(last, `"prepared":`) || !strings.Contains(last, c.sent) || (c.sent == "") != !strings.Contains(last, "encoded_plan") {
				t.Errorf("the last execution was sent as %s", last)
			}
			before := len(all)
			cluster.HTTP().EvictPrepared("")
			runEcho(t, client, false)
			if n := len(requests()) - before; n != c.evicted {
				t.Errorf("%d requests after the eviction, want %d", n, c.evicted)
			}
		})
	}
}

func TestGocbUnderstandsErrorsOfQueries(t *testing.T) {
	cluster := couchbasetest.RunT(t)
	client, _ := connectCluster(t, cluster)
	for _, c := range []struct {
		problem couchbasetest.HTTPProblem
		want    error
	}{
		{couchbasetest.HTTPProblem{Code: 3000, Message: "syntax error"}, gocb.ErrParsingFailure},
		{couchbasetest.HTTPProblem{Code: 4300, Message: "The index i already exists."}, gocb.ErrIndexExists},
		{couchbasetest.HTTPProblem{Code: 12004, Message: "No index"}, gocb.ErrIndexNotFound},
		{couchbasetest.HTTPProblem{Code: 12009, Message: "DML", Reason: map[string]any{"code": 17012}}, gocb.ErrDocumentExists},
		{couchbasetest.HTTPProblem{Code: 12009, Message: "DML", Reason: map[string]any{"code": 17014}}, gocb.ErrDocumentNotFound},
		{couchbasetest.HTTPProblem{Code: 13014, Message: "who"}, gocb.ErrAuthenticationFailure},
		{couchbasetest.HTTPProblem{Code: 5000, Message: "internal"}, gocb.ErrInternalServerFailure},
		{couchbasetest.HTTPProblem{Code: 1192, Message: "too many"}, gocb.ErrRateLimitedFailure},
		{couchbasetest.HTTPProblem{Code: 1080, Message: "late"}, gocb.ErrUnambiguousTimeout},
	} {
		cluster.HTTP().Script(couchbasetest.HTTPWhen{}, 1, couchbasetest.HTTPScript{Answer: couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{c.problem}}})
		result, err := client.Query("SELECT x", &gocb.QueryOptions{Adhoc: true, Readonly: true})
		if err == nil { // the HTTP status was 200; the error stands behind the rows
			for result.Next() {
				t.Errorf("%d: a row", c.problem.Code)
			}
			err = result.Err()
		}
		must(t, c.problem.Message, err, c.want)
		var detail *gocb.QueryError
		if c.problem.Code != 1080 && (!errors.As(err, &detail) || len(detail.Errors) != 1 || detail.Errors[0].Code != uint32(c.problem.Code)) {
			t.Errorf("%d: error %v", c.problem.Code, err)
		}
	}
	_, err := client.Query("SELECT nothing", &gocb.QueryOptions{Adhoc: true})
	must(t, "a statement without a script", err, gocb.ErrParsingFailure)
	if !strings.Contains(err.Error(), "the test must add a script for it: SELECT nothing") {
		t.Errorf("error %v", err)
	}
}

func TestGocbRetriesAQueryThatTheServiceRefuses(t *testing.T) {
	cluster := couchbasetest.RunT(t)
	client, _ := connectCluster(t, cluster)
	echo(cluster)
	refused := couchbasetest.HTTPAnswer{Errors: []couchbasetest.HTTPProblem{{Code: 5000, Message: "later", Retry: true}}}
	cluster.HTTP().Script(couchbasetest.HTTPWhen{Statement: scripted}, 2, couchbasetest.HTTPScript{Answer: refused})
	runEcho(t, client, true)
	if n := len(cluster.HTTP().Requests(couchbasetest.HTTPWhen{Statement: scripted})); n != 3 {
		t.Errorf("%d requests, want 3", n)
	}
}

func TestGocbSeesACutInTheMiddleOfRows(t *testing.T) {
	cluster := couchbasetest.RunT(t)
	client, _ := connectCluster(t, cluster)
	rows := couchbasetest.HTTPAnswer{Rows: []any{person{"Ada", 1}, person{"Bo", 2}, person{"Cy", 3}}}
	cluster.HTTP().Script(couchbasetest.HTTPWhen{Statement: "three"}, 0, couchbasetest.HTTPScript{Answer: rows})
	cluster.HTTP().Inject(couchbasetest.HTTPWhen{Statement: "three"}, 1, 0, couchbasetest.HTTPFault{Cut: couchbasetest.CutHTTPRows, After: 2})
	result, err := client.Query("three", &gocb.QueryOptions{Adhoc: true})
	must(t, "Query", err, nil)
	n := 0
	for result.Next() {
		n++
	}
	if n != 2 || result.Err() == nil {
		t.Errorf("%d rows, error %v; want 2 and an error", n, result.Err())
	}
}
