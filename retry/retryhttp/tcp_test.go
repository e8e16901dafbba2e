package retryhttp_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/retryhttp"
)

// hangingUp is a server that reads whole requests, closes the connection instead of its first answers, and keeps the bodies.
type hangingUp struct {
	*httptest.Server
	mu     sync.Mutex
	hangs  int
	bodies []string
}

func newHangingUp(t *testing.T, hangs int) *hangingUp {
	t.Helper()
	h := &hangingUp{hangs: hangs}
	h.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		h.mu.Lock()
		h.bodies = append(h.bodies, string(body))
		n := len(h.bodies)
		h.mu.Unlock()
		if n <= h.hangs {
			panic(http.ErrAbortHandler)
		}
		_, _ = io.WriteString(w, "done")
	}))
	t.Cleanup(h.Close)
	return h
}

// seen returns the bodies that the server got.
func (h *hangingUp) seen() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.bodies)
}

// client returns a client with connections of its own.
func client(t *testing.T, o retry.Options, base *http.Transport) *http.Client {
	t.Helper()
	t.Cleanup(base.CloseIdleConnections)
	return &http.Client{Transport: transport(t, o, base)}
}

// The transport of net/http repeats some requests itself, on a connection that was idle. On a new one it does not.
func TestOverTCPALostAnswerIsRetriedOnlyWhereThatIsSafe(t *testing.T) {
	for _, c := range []struct {
		method, key string
		requests    int
	}{
		{"PUT", "", 3}, {"POST", "", 1}, {"POST", "17", 3}, {"PATCH", "", 1}, {"DELETE", "", 3},
	} {
		t.Run(c.method+" "+c.key, func(t *testing.T) {
			server := newHangingUp(t, 2)
			r, err := http.NewRequestWithContext(t.Context(), c.method, server.URL, strings.NewReader("the body"))
			if err != nil {
				t.Fatal(err)
			}
			if c.key != "" {
				r.Header.Set("Idempotency-Key", c.key)
			}
			response, err := client(t, retry.Options{}, &http.Transport{DisableKeepAlives: true}).Do(r)
			bodies := server.seen()
			if len(bodies) != c.requests || (err == nil) != (c.requests == 3) {
				t.Fatalf("%d requests, %v; want %d", len(bodies), err, c.requests)
			}
			for _, body := range bodies {
				if body != "the body" {
					t.Errorf("the server got the body %q", body)
				}
			}
			if err == nil {
				defer response.Body.Close()
				if text, err := io.ReadAll(response.Body); string(text) != "done" || err != nil {
					t.Errorf("%q, %v", text, err)
				}
				return
			}
			var failed *retry.Error
			if !errors.As(err, &failed) || failed.OutcomeKnown() || failed.StopReason() != retry.StopNotIdempotent {
				t.Errorf("%v", err)
			}
		})
	}
}

// What could not be sent is sent again, whatever its method, and even if its body cannot be read twice.
func TestOverTCPARequestThatWasNotSentIsSentAgain(t *testing.T) {
	server := newHangingUp(t, 0)
	dials := 0
	base := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		if dials++; dials < 3 {
			return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
		}
		return new(net.Dialer).DialContext(ctx, network, address)
	}}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL, io.NopCloser(strings.NewReader("the body")))
	if err != nil {
		t.Fatal(err)
	}
	response, err := client(t, retry.Options{}, base).Do(r)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if bodies := server.seen(); dials != 3 || !slices.Equal(bodies, []string{"the body"}) {
		t.Errorf("%d dials, bodies %q", dials, bodies)
	}
}

// The body of an earlier response is drained, so its connection serves the next attempt.
func TestOverTCPTheConnectionIsUsedAgainForTheRetry(t *testing.T) {
	var mu sync.Mutex
	remotes := map[string]bool{}
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		remotes[r.RemoteAddr] = true
		if requests++; requests < 4 {
			http.Error(w, strings.Repeat("x", 10_000), http.StatusServiceUnavailable)
		}
	}))
	defer server.Close()
	response, err := client(t, retry.Options{}, &http.Transport{}).Get(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	mu.Lock()
	defer mu.Unlock()
	if requests != 4 || len(remotes) != 1 {
		t.Errorf("%d requests on %d connections, want 4 on 1", requests, len(remotes))
	}
}

// An http.Client with a time limit says so of its error, as without retries.
func TestOverTCPTheErrorOfAClientsTimeLimitIsATimeout(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err == nil {
			_, _ = bufio.NewReader(conn).ReadString(0) // until the client closes
			conn.Close()
		}
	}()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+listener.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = client(t, retry.Options{}, &http.Transport{}).Do(r) //nolint:bodyclose // there is none
	var failed *url.Error
	if !errors.As(err, &failed) || !failed.Timeout() || !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

// A certificate that the client does not trust would not be trusted the second time.
func TestOverTCPAWrongCertificateIsNotRetried(t *testing.T) {
	server := httptest.NewUnstartedServer(http.NotFoundHandler())
	server.Config.ErrorLog = log.New(io.Discard, "", 0) // the server reports the client's refusal
	server.StartTLS()
	defer server.Close()
	_, err := client(t, retry.Options{}, &http.Transport{}).Get(server.URL) //nolint:bodyclose // there is none
	var failed *retry.Error
	if !errors.As(err, &failed) || failed.Total != 1 || failed.StopReason() != retry.StopNotRetryable {
		t.Errorf("%v", err)
	}
}

// The transport is safe for concurrent use, also with HTTP/2 and with time limits for attempts.
func TestOverTCPManyRequestsShareATransport(t *testing.T) {
	var mu sync.Mutex
	seen := map[string]int{}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		seen[string(body)]++
		n := seen[string(body)]
		mu.Unlock()
		if n%3 != 0 {
			http.Error(w, "busy", http.StatusTooManyRequests)
			return
		}
		_, _ = w.Write(body)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	tr, err := retryhttp.NewTransport(retryhttp.Options{Engine: engine(t, retry.Options{AttemptTimeout: time.Minute}), Base: server.Client().Transport})
	if err != nil {
		t.Fatal(err)
	}
	c := &http.Client{Transport: tr}
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			want := strings.Repeat("x", i+1)
			response, err := c.Post(server.URL, "text/plain", strings.NewReader(want))
			if err != nil {
				t.Error(err)
				return
			}
			defer response.Body.Close()
			if text, err := io.ReadAll(response.Body); string(text) != want || err != nil || response.ProtoMajor != 2 {
				t.Errorf("%s %q, %v", response.Proto, text, err)
			}
		})
	}
	all.Wait()
}
