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

func TestTimeoutsAreAmbiguousByTheAttemptsThatWereMade(t *testing.T) {
	cases := []struct {
		name        string
		node        http.HandlerFunc
		idempotency retry.Idempotency
		kind        ErrorKind
		cause       ErrorKind
	}{
		{"no answer, read only", silent, retry.ReadOnly, KindUnambiguousTimeout, KindOther},
		{"no answer, not idempotent", silent, retry.NotIdempotent, KindAmbiguousTimeout, KindOther},
		{
			"each answer means that nothing was applied", status(500, `{"errors":[{"code":4040,"msg":"m"}]}`), retry.NotIdempotent,
			KindUnambiguousTimeout, KindPreparedStatementFailure,
		},
		{"1080, read only", status(200, `{"errors":[{"code":1080,"msg":"Timeout"}]}`), retry.ReadOnly, KindUnambiguousTimeout, KindOther},
		{"1080, not idempotent", status(200, `{"errors":[{"code":1080,"msg":"Timeout"}]}`), retry.NotIdempotent, KindAmbiguousTimeout, KindOther},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				cluster.serve(t, "a:1", tc.node)
				c, _ := cluster.client(t)
				defer c.Close()
				_, err := stream(c, clustermap.Query, tc.idempotency)
				var e *Error
				if !errors.As(err, &e) || e.Kind != tc.kind || e.Cause != tc.cause || e.OutcomeKnown != (tc.kind == KindUnambiguousTimeout) {
					t.Fatalf("%+v", err)
				}
				if isTimeoutOfOurs := !strings.HasPrefix(tc.name, "1080"); isTimeoutOfOurs != errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("%v matches DeadlineExceeded: %v", err, !isTimeoutOfOurs)
				}
			})
		})
	}
}

// TestTheTimeLeftIsSentAnewWithEachAttempt also shows that the wait of a timeout is not longer than the timeout.
func TestTheTimeLeftIsSentAnewWithEachAttempt(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		node := answers(status(500, `{"errors":[{"code":4040,"msg":"m"}]}`))
		cluster.serve(t, "a:1", node)
		c, _ := cluster.client(t, func(c *Config) {
			c.Strategy = retry.BestEffort(retry.BackoffOptions{Calculator: func(int) time.Duration { return 300 * time.Millisecond }})
		})
		defer c.Close()
		begin := time.Now()
		_, err := c.Query(t.Context(), &Query{Call: Call{Timeout: time.Second}, Statement: "s", Adhoc: true})
		if kindOf(err) != KindUnambiguousTimeout || time.Since(begin).Round(20*time.Millisecond) != time.Second {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		var sent []string
		for _, r := range node.requests {
			sent = append(sent, r.body)
		}
		want := `{"statement":"s","timeout":"1s"} {"statement":"s","timeout":"700ms"} {"statement":"s","timeout":"400ms"} {"statement":"s","timeout":"100ms"}`
		if got := strings.Join(sent, " "); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	})
}

func TestTheEndOfTheContextClosesTheRequest(t *testing.T) {
	for name, begun := range map[string]bool{"before the answer": false, "between two rows": true} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				var closedAt time.Time
				begin := time.Now()
				cluster.serve(t, "a:1", http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					io.Copy(io.Discard, r.Body)
					if begun {
						w.Write([]byte(`{"results":[1,`))
						w.(http.Flusher).Flush()
					}
					<-r.Context().Done()
					closedAt = time.Now()
				}))
				c, _ := cluster.client(t)
				defer c.Close()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				rows, err := c.Stream(ctx, streamRequest(clustermap.Query, retry.ReadOnly))
				if begun && err == nil {
					all(rows)
					err = rows.Err()
				}
				if kindOf(err) != KindRequestCancelled || !errors.Is(err, context.Canceled) {
					t.Errorf("%v", err)
				}
				synctest.Wait()
				if closedAt.Sub(begin) != time.Second {
					t.Errorf("the server saw the end after %v", closedAt.Sub(begin))
				}
			})
		})
	}
}

func TestTheTimeoutEndsTheReadingOfRows(t *testing.T) {
	for idempotency, kind := range map[retry.Idempotency]ErrorKind{
		retry.ReadOnly: KindUnambiguousTimeout, retry.NotIdempotent: KindAmbiguousTimeout,
	} {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			cluster.serve(t, "a:1", stalled)
			c, _ := cluster.client(t)
			defer c.Close()
			begin := time.Now()
			rows, err := stream(c, clustermap.Query, idempotency)
			if err != nil {
				t.Fatal(err)
			}
			if got := all(rows); len(got) != 1 || kindOf(rows.Err()) != kind || time.Since(begin) != 10*time.Second {
				t.Errorf("%v: rows %v, %v after %v", idempotency, got, rows.Err(), time.Since(begin))
			}
			if !errors.Is(rows.Err(), context.DeadlineExceeded) {
				t.Errorf("%v", rows.Err())
			}
		})
	}
}

// stalled sends one row, and then nothing.
var stalled = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	w.Write([]byte(`{"results":[1,`))
	w.(http.Flusher).Flush()
	<-r.Context().Done()
})

func TestAResultThatNobodyClosesLeavesNothingAfterItsTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", stalled)
		c, _ := cluster.client(t)
		for range 20 {
			if _, err := stream(c, clustermap.Query, retry.ReadOnly); err != nil {
				t.Fatal(err)
			}
		}
		if n := cluster.open.Load(); n != 20 {
			t.Errorf("%d connections are open, 20 results are", n)
		}
		<-time.After(11 * time.Second)
		synctest.Wait()
		// The client was not closed: the bubble would not end if a goroutine of it were left.
		if n := cluster.open.Load(); n != 0 {
			t.Errorf("%d connections are open after the timeout", n)
		}
	})
}

func TestCloseEndsAllOperations(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", stalled)
		cluster.serve(t, "b:1", http.HandlerFunc(silent))
		c, _ := cluster.client(t)
		open := make(chan error, 30)
		for range 10 {
			go func() {
				r := streamRequest(clustermap.Query, retry.ReadOnly)
				r.Address = "a:1"
				rows, err := c.Stream(context.Background(), r)
				if err == nil {
					all(rows)
					err = rows.Err()
				}
				open <- err
			}()
			go func() {
				r := streamRequest(clustermap.Query, retry.ReadOnly)
				r.Address = "b:1"
				_, err := c.Stream(context.Background(), r)
				open <- err
			}()
			go func() { // waits for a retry
				r := streamRequest(clustermap.Query, retry.ReadOnly)
				r.Address = "c:1"
				_, err := c.Stream(context.Background(), r)
				open <- err
			}()
		}
		<-time.After(time.Second)
		begin := time.Now()
		c.Close()
		if n := cluster.open.Load(); n != 0 {
			t.Errorf("%d connections are open after Close", n)
		}
		for range 30 {
			if err := <-open; kindOf(err) != KindClosed || !errors.Is(err, ErrClosed) {
				t.Errorf("%v", err)
			}
		}
		if time.Since(begin) != 0 {
			t.Errorf("the last operation ended after %v", time.Since(begin))
		}
		if _, err := stream(c, clustermap.Query, retry.ReadOnly); kindOf(err) != KindClosed {
			t.Errorf("an operation of a closed client: %v", err)
		}
	})
}

func TestCancelledWaitsLeaveNoGoroutine(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		c, _ := cluster.client(t)
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 200)
		for range 200 {
			go func() {
				_, err := c.Stream(ctx, streamRequest(clustermap.Query, retry.ReadOnly))
				done <- err
			}()
		}
		<-time.After(time.Second)
		cancel()
		for range 200 {
			if err := <-done; kindOf(err) != KindRequestCancelled {
				t.Errorf("%v", err)
			}
		}
		// The client is not closed: a goroutine that is left would keep the bubble from ending.
	})
}

func TestCloseEndsConnectionsThatAreBeingMade(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.addresses = []string{"a:1"}
		c, _ := cluster.client(t, func(c *Config) {
			c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
		})
		done := make(chan error)
		go func() {
			_, err := stream(c, clustermap.Query, retry.ReadOnly)
			done <- err
		}()
		<-time.After(time.Second)
		begin := time.Now()
		go c.Close()
		if err := <-done; kindOf(err) != KindClosed || time.Since(begin) != 0 {
			t.Errorf("%v after %v", err, time.Since(begin))
		}
		c.Close()
	})
}

// TestEachRowGetsTheWholeTime: the rows of a long result come slowly, or are read slowly. Only one that stands still ends.
func TestEachRowGetsTheWholeTime(t *testing.T) {
	slow := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, `{"results":[0`)
		for range 5 {
			select {
			case <-time.After(6 * time.Second):
			case <-r.Context().Done():
				return
			}
			io.WriteString(w, ",1")
			w.(http.Flusher).Flush()
		}
		io.WriteString(w, "]}")
	})
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", slow)
		c, _ := cluster.client(t)
		defer c.Close()
		begin := time.Now()
		rows, err := stream(c, clustermap.Query, retry.ReadOnly)
		if err != nil {
			t.Fatal(err)
		}
		if got := all(rows); len(got) != 6 || rows.Err() != nil || time.Since(begin) != 30*time.Second {
			t.Errorf("rows %v, %v after %v", got, rows.Err(), time.Since(begin))
		}
	})
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", slow)
		c, _ := cluster.client(t)
		defer c.Close()
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		defer cancel()
		rows, err := c.Stream(ctx, streamRequest(clustermap.Query, retry.ReadOnly))
		if err != nil {
			t.Fatal(err)
		}
		if got := all(rows); len(got) != 2 || kindOf(rows.Err()) != KindUnambiguousTimeout || !errors.Is(rows.Err(), context.DeadlineExceeded) {
			t.Errorf("the context's deadline does not hold for all rows together: %v, %v", got, rows.Err())
		}
	})
}
