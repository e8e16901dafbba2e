package services

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

func TestRedirectsAreNeverFollowed(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		other := answers(status(200, oneRow))
		cluster.serve(t, "b:1", other)
		cluster.addresses = nil
		cluster.serve(t, "a:1", answers(func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://b:1/stolen", http.StatusFound)
		}, status(200, `{"rows":[1]}`)))
		c, log := cluster.client(t)
		defer c.Close()
		rows, err := stream(c, clustermap.Views, retry.ReadOnly)
		if err != nil || len(all(rows)) != 1 || other.count() != 0 {
			t.Errorf("%v, %d requests went to the other node", err, other.count())
		}
		if log.String() != "VIEWS_NO_ACTIVE_PARTITION answered -> retried" {
			t.Errorf("log:\n%v", log)
		}
	})
}

func TestCredentials(t *testing.T) {
	cases := []struct {
		name       string
		credential Credential
		want       string
	}{
		{"a user name and a password are sent as Basic", Credential{Username: "u", Password: "p"}, "Basic dTpw"},
		{"a token is sent as Bearer", Credential{Username: "u", Token: "t"}, "Bearer t"},
		{"a client certificate needs no header", Credential{}, ""},
	}
	for _, tc := range cases {
		t.Run(tc.name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				node := answers(status(401, "no"))
				cluster.serve(t, "a:1", node)
				c, _ := cluster.client(t, func(c *Config) {
					c.Credential = func(_ context.Context, s clustermap.Service, address string) (Credential, error) {
						if s != clustermap.Query || address != "a:1" {
							t.Errorf("asked for %v at %s", s, address)
						}
						return tc.credential, nil
					}
				})
				defer c.Close()
				_, err := stream(c, clustermap.Query, retry.ReadOnly)
				if got := node.requests[0].header.Get("Authorization"); got != tc.want || kindOf(err) != KindAuthenticationFailure || node.count() != 1 {
					t.Errorf("%q, %v, %d requests", got, err, node.count())
				}
			})
		})
	}
	t.Run("a credential that cannot be had is said at once", func(t *testing.T) {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			node := answers(status(200, oneRow))
			cluster.serve(t, "a:1", node)
			c, _ := cluster.client(t, func(c *Config) {
				c.Credential = func(context.Context, clustermap.Service, string) (Credential, error) {
					return Credential{}, io.ErrNoProgress
				}
			})
			defer c.Close()
			_, err := stream(c, clustermap.Query, retry.ReadOnly)
			if kindOf(err) != KindAuthenticationFailure || !errors.Is(err, io.ErrNoProgress) || node.count() != 0 {
				t.Errorf("%v, %d requests", err, node.count())
			}
		})
	})
}

func TestNothingSecretStandsInErrors(t *testing.T) {
	for name, node := range map[string]http.HandlerFunc{
		"a refusal": status(401, "no"), "a lost connection": cut(""), "a timeout": silent, "no HTTP": cut("hello\r\n\r\n"),
	} {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			cluster.serve(t, "a:1", node)
			c, _ := cluster.client(t)
			defer c.Close()
			_, err := stream(c, clustermap.Query, retry.NotIdempotent)
			if err == nil || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "dXNlcj") {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if s := (Credential{Password: "secret"}).String(); strings.Contains(s, "secret") {
		t.Error(s)
	}
}

// TestOnlyTheEngineRepeatsAGet: the node closed a connection that was idle. Net/http would repeat a GET by itself.
func TestOnlyTheEngineRepeatsAGet(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		node := answers(status(200, "{}"), cut(""), status(200, "{}"))
		cluster.serve(t, "a:1", node)
		c, log := cluster.client(t)
		defer c.Close()
		for range 2 {
			_, err := c.Do(t.Context(), &Request{
				Call: Call{Timeout: time.Second}, Service: clustermap.Management, Method: http.MethodGet, Path: "/pools",
				Idempotency: retry.ReadOnly,
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if node.count() != 3 || log.String() != "SOCKET_CLOSED_WHILE_IN_FLIGHT in flight -> retried" {
			t.Errorf("%d requests, log:\n%v", node.count(), log)
		}
		for _, r := range node.requests {
			if len(r.header["Content-Length"])+len(r.header["Transfer-Encoding"]) != 0 || r.body != "" {
				t.Errorf("a GET has a body: %v", r.header)
			}
		}
	})
}

func TestAPostIsNotRepeatedOnAConnectionThatBroke(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		node := answers(status(200, oneRow), cut(""), status(200, oneRow))
		cluster.serve(t, "a:1", node)
		c, _ := cluster.client(t)
		defer c.Close()
		rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
		if err != nil || len(all(rows)) != 1 {
			t.Fatal(err)
		}
		if _, err = stream(c, clustermap.Query, retry.NotIdempotent); kindOf(err) != KindRequestCancelled || node.count() != 2 {
			t.Errorf("%v, %d requests", err, node.count())
		}
		if cluster.dials.Load() != 1 {
			t.Errorf("%d dials: the second request was to use the connection of the first", cluster.dials.Load())
		}
	})
}

func TestAnIdleConnectionIsClosedAfterASecond(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", answers(status(200, oneRow)))
		c, _ := cluster.client(t)
		rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
		if err != nil || len(all(rows)) != 1 {
			t.Fatal(err)
		}
		<-time.After(990 * time.Millisecond)
		if n := cluster.open.Load(); n != 1 {
			t.Errorf("%d connections before a second", n)
		}
		<-time.After(20 * time.Millisecond)
		synctest.Wait()
		if n := cluster.open.Load(); n != 0 {
			t.Errorf("%d connections after a second", n)
		}
	})
}

func TestConnectingIsLimitedByItsTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.addresses = []string{"a:1"}
		c, log := cluster.client(t, func(c *Config) {
			c.ConnectTimeout = 3 * time.Second
			c.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) { <-ctx.Done(); return nil, ctx.Err() }
			c.Strategy = retry.Limited(2, c.Strategy)
		})
		defer c.Close()
		begin := time.Now()
		_, err := stream(c, clustermap.Query, retry.NotIdempotent)
		if err == nil || time.Since(begin).Round(time.Second) != 6*time.Second || !strings.HasPrefix(log.String(), "SOCKET_NOT_AVAILABLE before") {
			t.Errorf("%v after %v, log:\n%v", err, time.Since(begin), log)
		}
	})
}

// TestANodeThatJustFailedIsAvoided: of two nodes one refuses connections. Within a second of a failure all go to the other.
func TestANodeThatJustFailedIsAvoided(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", answers(status(200, oneRow))).Refuse(true)
		cluster.serve(t, "b:1", answers(status(200, oneRow)))
		c, log := cluster.client(t)
		defer c.Close()
		for range 100 {
			rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
			if err != nil || len(all(rows)) != 1 {
				t.Fatal(err)
			}
		}
		if n := len(log.events); n != 1 {
			t.Errorf("%d attempts failed in 100 operations of no time: 1 is enough to know the node", n)
		}
		cluster.listeners["a:1"].Refuse(false)
		<-time.After(failedFor)
		used := make(map[string]bool)
		for range 100 {
			rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
			if err != nil {
				t.Fatal(err)
			}
			used[rows.Address()] = true
			rows.Close()
		}
		if len(used) != 2 {
			t.Errorf("only %v are used after a second", used)
		}
	})
}

// A node that answers again is used again at once, before the second is over.
func TestANodeThatAnswersAgainIsNotAvoided(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", answers(cut(""), status(200, oneRow)))
		cluster.serve(t, "b:1", answers(status(200, oneRow)))
		c, _ := cluster.client(t)
		defer c.Close()
		ofA := streamRequest(clustermap.Query, retry.ReadOnly)
		ofA.Address = "a:1"
		rows, err := c.Stream(t.Context(), ofA) // the first attempt fails, the second one does not
		if err != nil || len(all(rows)) != 1 {
			t.Fatal(err)
		}
		used := make(map[string]bool)
		for range 100 {
			rows, err := stream(c, clustermap.Query, retry.ReadOnly)
			if err != nil || len(all(rows)) != 1 {
				t.Fatal(err)
			}
			used[rows.Address()] = true
		}
		if len(used) != 2 {
			t.Errorf("only %v are used", used)
		}
	})
}

// TestARequestThatWasGivenUpBeforeItWasWrittenIsNeverWritten: net/http writes in a goroutine of its own.
func TestARequestThatWasGivenUpBeforeItWasWrittenIsNeverWritten(t *testing.T) {
	client, server := net.Pipe()
	defer server.Close()
	c := &conn{Conn: client, ended: func(*conn) {}}
	c.begin()
	if !c.seal() {
		t.Error("a connection on which nothing was written has no seal")
	}
	if n, err := c.Write([]byte("x")); n != 0 || !errors.Is(err, errSealed) {
		t.Errorf("a sealed connection wrote %d bytes, %v", n, err)
	}
	c.begin()
	if !c.seal() {
		t.Error("the seal is gone")
	}

	c = &conn{Conn: client, ended: func(*conn) {}}
	go io.Copy(io.Discard, server)
	c.Write([]byte("x"))
	if c.seal() {
		t.Error("what was written cannot be sealed")
	}
	c.begin()
	server.Close()
	client.Close()
	if _, err := c.Write([]byte("x")); err == nil || !c.seal() {
		t.Errorf("a write that sent no byte: %v; it counts as sent", err)
	}
}

func TestTLS(t *testing.T) {
	node := answers(status(200, oneRow))
	server := httptest.NewUnstartedServer(node)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	defer server.Close()
	address := server.Listener.Addr().String()
	cluster := newCluster()
	cluster.addresses = []string{address}
	pool := x509.NewCertPool()
	pool.AddCert(server.Certificate())
	c, _ := cluster.client(t, func(c *Config) {
		c.Dial = nil
		c.TLS = &tls.Config{RootCAs: pool}
	})
	defer c.Close()
	rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
	if err != nil || len(all(rows)) != 1 {
		t.Fatal(err)
	}
	t.Run("a certificate that is not trusted is the cause of the timeout", func(t *testing.T) {
		c, _ := cluster.client(t, func(c *Config) {
			c.Dial, c.TLS = nil, &tls.Config{RootCAs: x509.NewCertPool()}
			c.Strategy = retry.Limited(2, c.Strategy)
		})
		defer c.Close()
		var unknown x509.UnknownAuthorityError
		if _, err := stream(c, clustermap.Query, retry.NotIdempotent); !errors.As(err, &unknown) || node.count() != 1 {
			t.Errorf("%v", err)
		}
	})
}

func TestAnAnswerThatIsNoHTTPIsUnknown(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		node := answers(func(w http.ResponseWriter, _ *http.Request) {
			c, _, _ := w.(http.Hijacker).Hijack()
			io.WriteString(c, "SSH-2.0-OpenSSH\r\n\r\n")
			<-time.After(time.Second)
			c.Close()
		})
		cluster.serve(t, "a:1", node)
		c, log := cluster.client(t)
		defer c.Close()
		_, err := stream(c, clustermap.Query, retry.ReadOnly)
		if err == nil || node.count() != 1 || log.String() != "UNKNOWN in flight -> not retryable" {
			t.Errorf("%v, %d requests, log:\n%v", err, node.count(), log)
		}
		<-time.After(2 * time.Second) // for the node
	})
}

func TestRequestsThatCannotBeSentAreRefused(t *testing.T) {
	cluster := newCluster()
	c, _ := cluster.client(t)
	defer c.Close()
	for want, change := range map[string]func(*Request){
		"the timeout is 0s: it must be positive":   func(r *Request) { r.Timeout = 0 },
		`the path "x" does not begin with a slash`: func(r *Request) { r.Path = "x" },
		"the service kv returns no rows":           func(r *Request) { r.Service = clustermap.KeyValue },
		"the service mgmt returns no rows":         func(r *Request) { r.Service = clustermap.Management },
	} {
		r := streamRequest(clustermap.Query, retry.ReadOnly)
		change(r)
		if _, err := c.Stream(t.Context(), r); kindOf(err) != KindInvalidArgument || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
	if _, err := New(Config{}); err == nil {
		t.Error("a client without nodes was made")
	}
	if _, err := New(Config{Nodes: cluster}); err == nil {
		t.Error("a client without a strategy was made")
	}
}

func TestDispatchIsReported(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", answers(cut(""), status(200, oneRow)))
		c, _ := cluster.client(t)
		defer c.Close()
		r := streamRequest(clustermap.Query, retry.ReadOnly)
		var dispatched []Dispatch
		var ends []error
		var told []string
		r.OnDispatch = func(d Dispatch) Dispatched {
			dispatched = append(dispatched, d)
			return Dispatched{
				Head:  func(err error) { ends = append(ends, err) },
				Ended: func(status int, err error) { told = append(told, fmt.Sprint(status, err != nil)) },
			}
		}
		rows, err := c.Stream(t.Context(), r)
		if err != nil {
			t.Fatal(err)
		}
		rows.Close()
		if len(dispatched) != 2 || dispatched[0].Address != "a:1" || dispatched[0].Remote != "a:1" || dispatched[0].Local == "" || len(ends) != 2 || dispatched[0].Retries != 0 || dispatched[1].Retries != 1 || ends[0] == nil || ends[1] != nil {
			t.Errorf("%v, %v", dispatched, ends)
		}
		if want := []string{"0 true", "200 false"}; !slices.Equal(told, want) {
			t.Errorf("told %v", told)
		}
	})
}

// A panic of a listener reaches the caller, and leaves no connection behind that nobody closes: Close waits for all.
func TestAPanicOfADispatchLeavesNoConnection(t *testing.T) {
	for name, dispatch := range map[string]func(Dispatch) Dispatched{
		"the beginning": func(Dispatch) Dispatched { panic("mine") },
		"the head":      func(Dispatch) Dispatched { return Dispatched{Head: func(error) { panic("mine") }} },
		"the end":       func(Dispatch) Dispatched { return Dispatched{Ended: func(int, error) { panic("mine") }} },
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				cluster.serve(t, "a:1", status(200, oneRow))
				c, _ := cluster.client(t)
				defer c.Close()
				r := streamRequest(clustermap.Query, retry.ReadOnly)
				r.OnDispatch = dispatch
				defer func() {
					if v := recover(); v != "mine" {
						t.Errorf("recovered %v", v)
					}
				}()
				_, err := c.Stream(t.Context(), r)
				t.Errorf("returned %v", err)
			})
		})
	}
}

// countingContext counts the contexts that are made of it and have not ended.
type countingContext struct {
	context.Context
	done chan struct{}
	open atomic.Int64
}

func (c *countingContext) Done() <-chan struct{} { return c.done }

// AfterFunc is what the package context asks for when it makes a context of another type's.
func (c *countingContext) AfterFunc(func()) (stop func() bool) {
	c.open.Add(1)
	return func() bool { c.open.Add(-1); return true }
}

// A ping leaves nothing behind until its timeout: a program may ping often, with a long one.
func TestAPingEndsWithItsAnswer(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		cluster.serve(t, "a:1", answers(status(200, "")))
		c, _ := cluster.client(t)
		defer c.Close()
		ctx := &countingContext{Context: context.Background(), done: make(chan struct{})}
		if p := c.Ping(ctx, clustermap.Query, "a:1", time.Hour); p.Err != nil {
			t.Fatal(p.Err)
		}
		if n := ctx.open.Load(); n != 0 {
			t.Errorf("%d contexts of the ping have not ended", n)
		}
	})
}

func TestPing(t *testing.T) {
	for service, path := range map[clustermap.Service]string{
		clustermap.Query: "/admin/ping", clustermap.Analytics: "/admin/ping", clustermap.Search: "/api/ping", clustermap.Views: "/",
		clustermap.Management: "/whoami",
	} {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			node := answers(status(200, ""))
			cluster.serve(t, "a:1", node)
			c, _ := cluster.client(t)
			defer c.Close()
			if p := c.Ping(t.Context(), service, "a:1", time.Second); p.Err != nil || p.Remote != "a:1" || p.Local == "" || node.requests[0].path != path || node.requests[0].method != "GET" {
				t.Errorf("%v: %+v, %+v", service, p, node.requests)
			}
		})
	}
	for name, tc := range map[string]struct {
		node http.HandlerFunc
		kind ErrorKind
		took time.Duration
	}{
		"a node that does not answer":      {silent, KindUnambiguousTimeout, time.Second},
		"a node that answers 500":          {status(500, ""), KindOther, 0},
		"a wrong password":                 {status(401, ""), KindAuthenticationFailure, 0},
		"a node that loses the connection": {cut(""), KindRequestCancelled, 0},
	} {
		t.Run(name, func(t *testing.T) {
			bubble(t, func(t *testing.T, cluster *fakeCluster) {
				node := answers(tc.node)
				cluster.serve(t, "a:1", node)
				c, _ := cluster.client(t)
				defer c.Close()
				p := c.Ping(t.Context(), clustermap.Query, "a:1", time.Second)
				if p.Err == nil || kindOf(p.Err) != tc.kind || p.Latency != tc.took || node.count() != 1 {
					t.Errorf("%+v, %d requests", p, node.count())
				}
			})
		})
	}
}

// brokenConn fails at its first write, before any byte is sent.
type brokenConn struct{ net.Conn }

func (brokenConn) Write([]byte) (int, error) { return 0, syscall.EPIPE }

// TestAWriteThatSentNothingIsRetriedWhateverTheRequestDoes: the connection was made, and broke before the request was written.
func TestAWriteThatSentNothingIsRetriedWhateverTheRequestDoes(t *testing.T) {
	bubble(t, func(t *testing.T, cluster *fakeCluster) {
		node := answers(status(200, oneRow))
		cluster.serve(t, "a:1", node)
		c, log := cluster.client(t, func(c *Config) {
			c.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				raw, err := cluster.dial(ctx, network, address)
				if err == nil && cluster.dials.Load() == 1 {
					raw = brokenConn{raw}
				}
				return raw, err
			}
		})
		defer c.Close()
		rows, err := stream(c, clustermap.Query, retry.NotIdempotent)
		if err != nil || len(all(rows)) != 1 || node.count() != 1 {
			t.Errorf("%v, %d requests", err, node.count())
		}
		if log.String() != "SOCKET_NOT_AVAILABLE before sending -> retried" {
			t.Errorf("log:\n%v", log)
		}
	})
}

// TestTheClientForgetsOperations: after their timeout they cost no memory, whether they were ended or not.
func TestTheClientForgetsOperations(t *testing.T) {
	for name, end := range map[string]func(*life){"ended": (*life).end, "not ended": func(*life) {}} {
		bubble(t, func(t *testing.T, cluster *fakeCluster) {
			c, _ := cluster.client(t)
			l := c.live(t.Context(), time.Second)
			operation := weak.Make(l)
			end(l)
			<-time.After(2 * time.Second) // the runtime keeps a stopped timer until then
			synctest.Wait()
			runtime.GC()
			if operation.Value() != nil {
				t.Errorf("an operation that was %s is still in memory", name)
			}
			runtime.KeepAlive(c)
		})
	}
}
