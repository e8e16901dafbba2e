package services

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

const oneRow = `{"results":[1],"status":"success"}`

// TestAnswersThatAreRetried has one case for each line of the response-code lists: the answer comes once, then a good one.
func TestAnswersThatAreRetried(t *testing.T) {
	const (
		prepared = "QUERY_PREPARED_STATEMENT_FAILURE"
		views    = "VIEWS_TEMPORARY_FAILURE"
		code     = "SERVICE_RESPONSE_CODE_INDICATED"
	)
	entry := func(e string) string { return `{"errors":[` + e + `],"status":"errors"}` }
	cases := []struct {
		name    string
		service clustermap.Service
		status  int
		body    string
		want    string    // the reason; "": not retried
		kind    ErrorKind // of the error, where it is not retried
	}{
		{"query 4040: no such prepared statement", clustermap.Query, 404, entry(`{"code":4040,"msg":"m"}`), prepared, 0},
		{"query 4050: the name is not recognized", clustermap.Query, 500, entry(`{"code":4050,"msg":"m"}`), prepared, 0},
		{"query 4060: no such name", clustermap.Query, 500, entry(`{"code":4060,"msg":"m"}`), prepared, 0},
		{"query 4070: the plan cannot be decoded", clustermap.Query, 500, entry(`{"code":4070,"msg":"m"}`), prepared, 0},
		{"query 4080: the plan has another name", clustermap.Query, 500, entry(`{"code":4080,"msg":"m"}`), prepared, 0},
		{"query 4090: the plan cannot be used", clustermap.Query, 500, entry(`{"code":4090,"msg":"m"}`), prepared, 0},
		{"query 5000 with queryport.indexNotFound", clustermap.Query, 500, entry(`{"code":5000,"msg":"queryport.indexNotFound"}`), "QUERY_INDEX_NOT_FOUND", 0},
		{"query 5000 with another text", clustermap.Query, 500, entry(`{"code":5000,"msg":"no"}`), "", KindInternalServerFailure},
		{"a query error that is temporary by itself", clustermap.Query, 500, entry(`{"code":17020,"msg":"m","retry":true}`), code, 0},
		{"query 12016 with retry", clustermap.Query, 500, entry(`{"code":12016,"msg":"m","retry":true}`), "", KindIndexNotFound},
		{"the first query error decides, here to stop", clustermap.Query, 500, entry(`{"code":3000,"msg":"m"},{"code":4040,"msg":"m"}`), "", KindParsingFailure},
		{"the first query error decides, here to retry", clustermap.Query, 500, entry(`{"code":4040,"msg":"m"},{"code":3000,"msg":"m"}`), prepared, 0},
		{"a query error with HTTP status 200", clustermap.Query, 200, entry(`{"code":4040,"msg":"m"}`), prepared, 0},
		{"query 503 without an entry", clustermap.Query, 503, "", "", KindOther},
		{"query 401", clustermap.Query, 401, "", "", KindAuthenticationFailure},
		{"analytics 23000", clustermap.Analytics, 500, entry(`{"code":23000,"msg":"m"}`), "ANALYTICS_TEMPORARY_FAILURE", 0},
		{"analytics 23003", clustermap.Analytics, 500, entry(`{"code":23003,"msg":"m"}`), "ANALYTICS_TEMPORARY_FAILURE", 0},
		{"analytics 23007", clustermap.Analytics, 200, entry(`{"code":23007,"msg":"m"}`), "ANALYTICS_TEMPORARY_FAILURE", 0},
		{"analytics 24000", clustermap.Analytics, 400, entry(`{"code":24000,"msg":"m"}`), "", KindParsingFailure},
		{"search 429", clustermap.Search, 429, `{"error":"too busy"}`, "SEARCH_TOO_MANY_REQUESTS", 0},
		{"search 429 num_concurrent_requests", clustermap.Search, 429, `{"error":"num_concurrent_requests"}`, "", KindRateLimited},
		{"search 429 num_queries_per_min", clustermap.Search, 429, `{"error":"num_queries_per_min"}`, "", KindRateLimited},
		{"search 429 ingress_mib_per_min", clustermap.Search, 429, `{"error":"ingress_mib_per_min"}`, "", KindRateLimited},
		{"search 429 egress_mib_per_min", clustermap.Search, 429, `{"error":"egress_mib_per_min"}`, "", KindRateLimited},
		{"search 400 index not found", clustermap.Search, 400, `{"error":"rest_auth: index not found"}`, "", KindIndexNotFound},
		{"search 500", clustermap.Search, 500, `{"error":"e"}`, "", KindInternalServerFailure},
		{"search 503", clustermap.Search, 503, `{"error":"e"}`, "", KindOther},
		{"views 300", clustermap.Views, 300, "", views, 0},
		{"views 301", clustermap.Views, 301, "", views, 0},
		{"views 302 has no active partition", clustermap.Views, 302, "", "VIEWS_NO_ACTIVE_PARTITION", 0},
		{"views 303", clustermap.Views, 303, "", views, 0},
		{"views 307", clustermap.Views, 307, "", views, 0},
		{"views 401 is an authentication failure", clustermap.Views, 401, "", "", KindAuthenticationFailure},
		{"views 408", clustermap.Views, 408, "", views, 0},
		{"views 409", clustermap.Views, 409, "", views, 0},
		{"views 412", clustermap.Views, 412, "", views, 0},
		{"views 416", clustermap.Views, 416, "", views, 0},
		{"views 417", clustermap.Views, 417, "", views, 0},
		{"views 501", clustermap.Views, 501, "", views, 0},
		{"views 502", clustermap.Views, 502, "", views, 0},
		{"views 503", clustermap.Views, 503, "", views, 0},
		{"views 504", clustermap.Views, 504, "", views, 0},
		{"views 404 with reason missing", clustermap.Views, 404, `{"error":"not_found","reason":"missing"}`, views, 0},
		{"views 404 with another reason", clustermap.Views, 404, `{"error":"not_found","reason":"deleted"}`, "", KindViewNotFound},
		{"views 500", clustermap.Views, 500, `{"error":"timeout"}`, views, 0},
		{"views 500 with a missing named view", clustermap.Views, 500, `{"error":"case_clause","reason":"{not_found, missing_named_view}"}`, "", KindOther},
		{"views 500 with badarg", clustermap.Views, 500, `{"error":"badarg"}`, "", KindOther},
		{"views 500 with badarg but no error", clustermap.Views, 500, `{"reason":"badarg"}`, views, 0},
		{"views 400", clustermap.Views, 400, `{"error":"query_parse_error"}`, "", KindOther},
	}
	for _, tc := range cases {
		for _, idempotency := range []retry.Idempotency{retry.ReadOnly, retry.NotIdempotent} {
			t.Run(tc.name+", "+idempotency.String(), func(t *testing.T) {
				bubble(t, func(t *testing.T, cluster *fakeCluster) {
					good := `{"` + rowFields[tc.service] + `":[1]}`
					node := answers(status(tc.status, tc.body), status(200, good))
					cluster.serve(t, "a:1", node)
					c, log := cluster.client(t)
					defer c.Close()
					rows, err := stream(c, tc.service, idempotency)
					if tc.want == "" {
						if want := "UNKNOWN answered -> not retryable"; !strings.HasPrefix(log.String(), want) || node.count() != 1 || kindOf(err) != tc.kind {
							t.Errorf("kind %v, %d requests, log:\n%v", kindOf(err), node.count(), log)
						}
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					if got := all(rows); len(got) != 1 || rows.Err() != nil || node.count() != 2 {
						t.Errorf("rows %v, error %v, %d requests", got, rows.Err(), node.count())
					}
					if !strings.HasPrefix(log.String(), tc.want+" ") {
						t.Errorf("log:\n%v", log)
					}
				})
			})
		}
	}
}

func TestManagementAnswers(t *testing.T) {
	cases := []struct {
		name, method string
		service      clustermap.Service
		status       int
		body         string
		retried      bool
		kind         ErrorKind
	}{
		{"503 of a GET is temporary", "GET", clustermap.Management, 503, "", true, 0},
		{"503 of a GET of the search service's management is as any other", "GET", clustermap.Search, 503, "", true, 0},
		{"503 of a POST may have been applied", "POST", clustermap.Management, 503, "", false, KindTemporaryFailure},
		{"a bucket that is not there", "GET", clustermap.Management, 404, "Requested resource not found.", false, KindBucketNotFound},
		{"a bucket that is there", "POST", clustermap.Management, 400, `{"errors":{"name":"Bucket with given name already exists"}}`, false, KindBucketExists},
		{"a scope that is there", "POST", clustermap.Management, 400, `{"errors":{"_":"Scope with name \"s\" already exists"}}`, false, KindScopeExists},
		{"a scope that is not there", "DELETE", clustermap.Management, 404, `{"errors":{"_":"Scope with name \"s\" is not found"}}`, false, KindScopeNotFound},
		{"a collection that is there", "POST", clustermap.Management, 400, `{"errors":{"_":"Collection with name \"c\" in scope \"s\" already exists"}}`, false, KindCollectionExists},
		{"a collection that is not there", "DELETE", clustermap.Management, 404, `{"errors":{"_":"Collection with name \"c\" in scope \"s\" is not found"}}`, false, KindCollectionNotFound},
		{"a bucket that cannot be flushed", "POST", clustermap.Management, 400, `{"_":"Flush is disabled for the bucket"}`, false, KindBucketNotFlushable},
		{"a rate limit", "POST", clustermap.Management, 429, "Limit(s) exceeded [ingress]", false, KindRateLimited},
		{"a quota", "POST", clustermap.Management, 429, "Maximum number of collections has been reached", false, KindQuotaLimited},
		{"another bad request", "POST", clustermap.Management, 400, "no", false, KindInvalidArgument},
		{"a wrong password", "GET", clustermap.Management, 401, "", false, KindAuthenticationFailure},
		{"a feature that the server does not have", "POST", clustermap.Management, 405, "", false, KindFeatureNotAvailable},
		{"a design document that is not there", "GET", clustermap.Views, 404, `{"error":"not_found","reason":"missing"}`, false, KindDesignDocumentNotFound},
		{"a search index that is not there", "GET", clustermap.Search, 400, `{"error":"index not found"}`, false, KindIndexNotFound},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				node := answers(status(tc.status, tc.body), status(200, "{}"))
				cluster.serve(t, "a:1", node)
				c, log := cluster.client(t)
				defer c.Close()
				idempotency := retry.NotIdempotent
				if tc.method == "GET" {
					idempotency = retry.ReadOnly
				}
				reply, err := c.Do(t.Context(), &Request{Call: Call{Timeout: time.Second}, Service: tc.service, Method: tc.method, Path: "/x", Idempotency: idempotency})
				switch {
				case tc.retried && (err != nil || string(reply.Body) != "{}" || !strings.HasPrefix(log.String(), "SERVICE_RESPONSE_CODE_INDICATED")):
					t.Errorf("%v, log:\n%v", err, log)
				case !tc.retried && (kindOf(err) != tc.kind || node.count() != 1):
					t.Errorf("%v: kind %v, %d requests", err, kindOf(err), node.count())
				}
			})
		})
	}
}

func TestAConnectionThatIsLostAfterSending(t *testing.T) {
	for name, beginning := range map[string]string{
		"before the answer": "", "in the head of the answer": "HTTP/1.1 200 OK\r\nContent-Ty",
		"before the rows":              chunkedHead + chunk(`{"signature":1,`),
		"in the first row":             chunkedHead + chunk(`{"results":[{"a":`),
		"in an answer without framing": "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n" + `{"results":[{"a":`,
		"in an answer with a length":   "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + `{"results":[{"a":`,
		"in the text of an error":      "HTTP/1.1 500 Oh\r\nContent-Length: 1000\r\n\r\n" + `{"errors":[{"code":4040,`,
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				node := answers(cut(beginning), status(200, oneRow))
				cluster.serve(t, "a:1", node)
				c, log := cluster.client(t)
				defer c.Close()
				rows, err := stream(c, clustermap.Query, retry.ReadOnly)
				if err != nil || len(all(rows)) != 1 || node.count() != 2 {
					t.Errorf("%v, %d requests", err, node.count())
				}
				if want := "SOCKET_CLOSED_WHILE_IN_FLIGHT in flight -> retried"; log.String() != want {
					t.Errorf("log:\n%v", log)
				}
			})
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				node := answers(cut(beginning), status(200, oneRow))
				cluster.serve(t, "a:1", node)
				c, _ := cluster.client(t)
				defer c.Close()
				_, err := stream(c, clustermap.Query, retry.NotIdempotent)
				var e *Error
				if !errors.As(err, &e) || e.Kind != KindRequestCancelled || e.OutcomeKnown || node.count() != 1 {
					t.Errorf("%v, %d requests", err, node.count())
				}
			})
		})
	}
}

func TestADeliveredRowRulesOutARetry(t *testing.T) {
	for name, rest := range map[string]http.HandlerFunc{
		"the connection is lost":      cut(chunkedHead + chunk(`{"results":[1,`)),
		"a temporary error follows":   status(200, `{"results":[1],"errors":[{"code":4040,"msg":"m","retry":true}]}`),
		"an error of reading follows": status(200, `{"results":[1 2]}`),
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				node := answers(rest)
				cluster.serve(t, "a:1", node)
				c, _ := cluster.client(t)
				defer c.Close()
				rows, err := stream(c, clustermap.Query, retry.ReadOnly)
				if err != nil {
					t.Fatal(err)
				}
				if got := all(rows); len(got) != 1 || rows.Err() == nil || rows.Close() == nil || node.count() != 1 {
					t.Errorf("rows %v, error %v, %d requests", got, rows.Err(), node.count())
				}
			})
		})
	}
}

func TestARequestThatWasNotSentIsRetriedWhateverItDoes(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		node := answers(status(200, oneRow))
		l := cluster.serve(t, "a:1", node)
		l.Refuse(true)
		time.AfterFunc(time.Second, func() { l.Refuse(false) })
		c, log := cluster.client(t)
		defer c.Close()
		rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
		if err != nil || len(all(rows)) != 1 || node.count() != 1 {
			t.Errorf("%v, %d requests", err, node.count())
		}
		if !strings.HasPrefix(log.String(), "SOCKET_NOT_AVAILABLE before sending -> retried") {
			t.Errorf("log:\n%v", log)
		}
	})
}

func TestANewerMapEndsTheWaitForANode(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		node := answers(status(200, oneRow))
		c, log := cluster.client(t, func(c *Config) {
			c.Strategy = retry.BestEffort(retry.BackoffOptions{Min: 5 * time.Second, Max: 5 * time.Second})
		})
		defer c.Close()
		time.AfterFunc(20*time.Millisecond, func() {
			cluster.serve(t, "a:1", node)
			cluster.publish("a:1")
		})
		begin := time.Now()
		rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
		if err != nil || len(all(rows)) != 1 || time.Since(begin) != 20*time.Millisecond {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if log.String() != "SERVICE_NOT_AVAILABLE before sending -> retried" {
			t.Errorf("log:\n%v", log)
		}
	})
}

func TestNoNodeOffersTheServiceUntilTheTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		c, _ := cluster.client(t)
		defer c.Close()
		begin := time.Now()
		_, err := stream(c, clustermap.Query, retry.NotIdempotent)
		var e *Error
		if !errors.As(err, &e) || e.Kind != KindUnambiguousTimeout || e.Cause != KindServiceNotAvailable || time.Since(begin).Round(time.Second) != 10*time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, KindError{KindServiceNotAvailable}) {
			t.Errorf("%v matches not all that it is", err)
		}
	})
}

func TestABucketThatCannotHaveTheServiceIsSaidAtOnce(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.never = true
		c, _ := cluster.client(t)
		defer c.Close()
		begin := time.Now()
		_, err := stream(c, clustermap.Views, retry.ReadOnly)
		if kindOf(err) != KindServiceNotAvailable || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
	})
}

// A request that changes something is answered by a node that has left, if that takes no longer than a second.
func TestANodeThatLeavesMayAnswer(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers time.Duration // after the node has left
		ends    time.Duration
		ok      bool
	}{
		{"in time", 900 * time.Millisecond, 900 * time.Millisecond, true},
		{"too late", 1100 * time.Millisecond, time.Second, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				cluster.serve(t, "a:1", answers(func(w http.ResponseWriter, r *http.Request) {
					select {
					case <-time.After(time.Second + c.answers):
						status(200, oneRow)(w, r)
					case <-r.Context().Done():
					}
				}))
				client, _ := cluster.client(t)
				defer client.Close()
				time.AfterFunc(time.Second, func() { cluster.publish("b:1") })
				begin := time.Now()
				rows, err := stream(client, clustermap.Query, retry.NotIdempotent)
				if took := time.Since(begin) - time.Second; (err == nil) != c.ok || took != c.ends || c.ok && len(all(rows)) != 1 {
					t.Errorf("%v, %v after the node has left", err, took)
				}
			})
		})
	}
}

// A node may leave while its request gets a connection: then nothing is written, so the request may go to another node.
func TestANodeThatLeavesBeforeTheWrite(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		asked := false
		cluster.serve(t, "a:1", answers(func(http.ResponseWriter, *http.Request) { asked = true }))
		client, _ := cluster.client(t)
		defer client.Close()
		x := client.begin(t.Context(), streamRequest(clustermap.Query, retry.NotIdempotent), "a:1", Offer{})
		x.departure.state.Store(departed)
		failure := x.send([]byte("{}"))
		synctest.Wait() // what was sent has arrived
		if failure == nil || failure.Stage != retry.StageBeforeSending || asked {
			t.Errorf("%+v, asked %v; want a failure before sending", failure, asked)
		}
		if cluster.open.Load() != 0 { // nothing can be written to it any more
			t.Error("the sealed connection is still open")
		}
	})
}

// After the first row a query cannot be repeated, though it changes nothing.
func TestRowsOfANodeThatLeaves(t *testing.T) {
	for _, c := range []struct {
		name   string
		pause  time.Duration // of the node, before each of four more rows
		reader time.Duration // a pause of the reader
		rows   int
	}{
		{"each row in time", 900 * time.Millisecond, 0, 5},
		{"a reader that takes its time", time.Millisecond, 3 * time.Second, 5},
		{"a row too late", 1100 * time.Millisecond, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				cluster.serve(t, "a:1", answers(func(w http.ResponseWriter, r *http.Request) {
					io.WriteString(w, `{"results":[1`)
					for range 4 {
						w.(http.Flusher).Flush()
						select {
						case <-time.After(c.pause):
							io.WriteString(w, ",1")
						case <-r.Context().Done():
							return
						}
					}
					io.WriteString(w, `],"status":"success"}`)
				}))
				client, _ := cluster.client(t)
				defer client.Close()
				rows, err := stream(client, clustermap.Query, retry.ReadOnly)
				if err != nil {
					t.Fatal(err)
				}
				cluster.publish("b:1")
				n := 0
				for rows.Next() {
					n++
					<-time.After(c.reader)
				}
				if n != c.rows || (rows.Err() == nil) != (n == 5) {
					t.Errorf("%d rows, %v; want %d rows", n, rows.Err(), c.rows)
				}
			})
		})
	}
}

// A node may leave while the first row of its answer is read: then the row is not delivered, so the request may go to another node.
func TestANodeThatLeavesBeforeTheFirstRow(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", answers(status(200, oneRow)))
		client, _ := cluster.client(t)
		defer client.Close()
		x := client.begin(t.Context(), streamRequest(clustermap.Query, retry.ReadOnly), "a:1", Offer{})
		if failure := x.send([]byte("{}")); failure != nil {
			t.Fatal(failure.Err)
		}
		x.departure.state.Store(departed)
		time.AfterFunc(time.Second, func() { x.cancel(errNodeLeft) })
		rows := Rows{judge: judgeQuery}
		if failure := rows.open(x); failure == nil || !errors.Is(failure.Err, errNodeLeft) {
			t.Errorf("%+v; want %v", failure, errNodeLeft)
		}
	})
}

// TestANodeThatLeavesEndsItsRequests also shows the reason NODE_NOT_AVAILABLE: the request was not written when its node left.
func TestANodeThatLeavesEndsItsRequests(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", answers(silent))
		c, log := cluster.client(t)
		defer c.Close()
		time.AfterFunc(time.Second, func() {
			cluster.serve(t, "b:1", answers(status(200, oneRow)))
			cluster.publish("b:1")
		})
		begin := time.Now()
		rows, err := stream(c, clustermap.Query, retry.ReadOnly)
		if err != nil || len(all(rows)) != 1 || time.Since(begin) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		if log.String() != "SOCKET_CLOSED_WHILE_IN_FLIGHT in flight -> retried" {
			t.Errorf("log:\n%v", log)
		}
	})
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "b:1", answers(status(200, oneRow)))
		cluster.addresses = []string{"a:1"}
		c, log := cluster.client(t, func(c *Config) {
			dial := c.Dial
			c.Dial = func(ctx context.Context, network, address string) (conn net.Conn, err error) {
				if address == "a:1" {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return dial(ctx, network, address)
			}
		})
		defer c.Close()
		time.AfterFunc(time.Second, func() { cluster.publish("b:1") })
		rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
		if err != nil || len(all(rows)) != 1 {
			t.Errorf("%v", err)
		}
		if log.String() != "NODE_NOT_AVAILABLE before sending -> retried" {
			t.Errorf("log:\n%v", log)
		}
	})
}
