package retryhttp_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/retryhttp"
)

// base is a transport whose attempts are a test's own. It reports to httptrace that it obtained a connection.
type base func(n int, r *http.Request) (*http.Response, error)

// counting returns a base that numbers the attempts from 1.
func counting(attempts *int, f base) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		*attempts++
		if trace := httptrace.ContextClientTrace(r.Context()); trace != nil {
			trace.GetConn(r.URL.Host)
			trace.GotConn(httptrace.GotConnInfo{})
		}
		if r.Body != nil {
			defer r.Body.Close()
		}
		return f(*attempts, r)
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func engine(t *testing.T, o retry.Options) *retry.Engine {
	t.Helper()
	if o.Strategy == nil {
		o.Strategy = retry.Limited(4, retry.UntilDeadline())
	}
	e, err := retry.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func transport(t *testing.T, o retry.Options, base http.RoundTripper) tested {
	t.Helper()
	transport, err := retryhttp.NewTransport(retryhttp.Options{Engine: engine(t, o), Base: base})
	if err != nil {
		t.Fatal(err)
	}
	return tested{transport}
}

type tested struct{ *retryhttp.Transport }

// answer is a response whose body is a test's own and need not be closed.
type answer http.Response

// send makes a round trip.
func (t tested) send(r *http.Request) (*answer, error) {
	response, err := t.RoundTrip(r) //nolint:bodyclose // see answer
	return (*answer)(response), err
}

func request(t *testing.T, ctx context.Context, method string, body io.Reader) *http.Request {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, method, "http://a.example/path", body)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// watchedBody is a body that counts the bytes that are read, and how often it was closed.
type watchedBody struct {
	io.Reader
	read, closed int
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	b.read += n
	return n, err
}

func (b *watchedBody) Close() error { b.closed++; return nil }

// responses makes responses with watched bodies.
type responses struct{ bodies []*watchedBody }

func (r *responses) make(code int, text string, headers ...string) *http.Response {
	b := &watchedBody{Reader: strings.NewReader(text)}
	r.bodies = append(r.bodies, b)
	h := http.Header{}
	for i := 0; i < len(headers); i += 2 {
		h.Set(headers[i], headers[i+1])
	}
	return &http.Response{StatusCode: code, Header: h, Body: b, ContentLength: int64(len(text))}
}

func TestAWrongOptionIsAnError(t *testing.T) {
	_, err := retryhttp.NewTransport(retryhttp.Options{})
	if err == nil || !strings.Contains(err.Error(), "Options.Engine is nil; it must be an engine") {
		t.Errorf("%v", err)
	}
}

// RFC 9110, section 9.2: which methods are safe and which are idempotent.
func TestWhichRequestsAreSentAgainWhenTheAnswerIsLost(t *testing.T) {
	for _, c := range []struct {
		method, header string
		attempts       int
		stop           retry.StopReason
	}{
		{"", "", 4, retry.StopAttemptsUsed},
		{"GET", "", 4, retry.StopAttemptsUsed},
		{"HEAD", "", 4, retry.StopAttemptsUsed},
		{"OPTIONS", "", 4, retry.StopAttemptsUsed},
		{"TRACE", "", 4, retry.StopAttemptsUsed},
		{"PUT", "", 4, retry.StopAttemptsUsed},
		{"DELETE", "", 4, retry.StopAttemptsUsed},
		{"POST", "", 1, retry.StopNotIdempotent},
		{"PATCH", "", 1, retry.StopNotIdempotent},
		{"CONNECT", "", 1, retry.StopNotIdempotent},
		{"MY-OWN", "", 1, retry.StopNotIdempotent},
		{"POST", "Idempotency-Key", 4, retry.StopAttemptsUsed},
		{"PATCH", "X-Idempotency-Key", 4, retry.StopAttemptsUsed},
		{"POST", "Another-Header", 1, retry.StopNotIdempotent},
	} {
		t.Run(c.method+" "+c.header, func(t *testing.T) {
			attempts := 0
			r := request(t, t.Context(), c.method, nil)
			r.Method = c.method
			if c.header != "" {
				r.Header.Set(c.header, "17")
			}
			_, err := transport(t, retry.Options{}, counting(&attempts, func(int, *http.Request) (*http.Response, error) {
				return nil, io.ErrUnexpectedEOF
			})).send(r)
			var failed *retry.Error
			if !errors.As(err, &failed) || failed.StopReason() != c.stop || attempts != c.attempts || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("%d attempts, %v; want %d, %v", attempts, err, c.attempts, c.stop)
			}
			if a := failed.Attempts[0]; a.Endpoint != "a.example" || a.Stage != retry.StageInFlight || a.Reason != retry.ReasonNetworkError {
				t.Errorf("%+v", a)
			}
		})
	}
}

func TestWhichStatusesAreRetried(t *testing.T) {
	for _, c := range []struct {
		code      int
		get, post int // attempts
	}{
		{200, 1, 1},
		{304, 1, 1},
		{400, 1, 1},
		{409, 1, 1},
		{429, 4, 4}, // the server did nothing
		{500, 1, 1},
		{501, 1, 1},
		{502, 4, 1}, // a proxy may have lost the server's answer
		{503, 4, 1},
		{504, 4, 1},
	} {
		for method, want := range map[string]int{"GET": c.get, "POST": c.post} {
			attempts := 0
			var all responses
			response, err := transport(t, retry.Options{}, counting(&attempts, func(n int, _ *http.Request) (*http.Response, error) {
				return all.make(c.code, fmt.Sprint("answer ", n)), nil
			})).send(request(t, t.Context(), method, nil))
			if err != nil || attempts != want || response.StatusCode != c.code {
				t.Errorf("%s %d: %d attempts, want %d; %v", method, c.code, attempts, want, err)
				continue
			}
			checkBodies(t, &all, response)
		}
	}
}

// The caller gets the last response with its body unread. Those before were drained and closed.
func checkBodies(t *testing.T, all *responses, response *answer) {
	t.Helper()
	last := len(all.bodies) - 1
	for i, b := range all.bodies[:last] {
		if b.closed != 1 || b.read != len("answer 1") {
			t.Errorf("the body of response %d was closed %d times, and %d bytes were read", i+1, b.closed, b.read)
		}
	}
	if b := all.bodies[last]; b.closed != 0 || b.read != 0 {
		t.Errorf("the body of the last response was closed %d times, and %d bytes were read", b.closed, b.read)
	}
	if text, err := io.ReadAll(response.Body); err != nil || string(text) != fmt.Sprint("answer ", last+1) {
		t.Errorf("%q, %v", text, err)
	}
}

func TestTheResponseHasTheCallersRequest(t *testing.T) {
	attempts := 0
	r := request(t, t.Context(), "GET", nil)
	response, err := transport(t, retry.Options{}, counting(&attempts, func(int, *http.Request) (*http.Response, error) {
		return new(responses).make(200, ""), nil
	})).send(r)
	if err != nil || response.Request != r {
		t.Errorf("%p, want %p; %v", response.Request, r, err)
	}
}

func TestALargeBodyOfAnEarlierResponseIsNotReadToItsEnd(t *testing.T) {
	for name, length := range map[string]int64{"of known length": 1 << 20, "of unknown length": -1} {
		attempts := 0
		var all responses
		response, err := transport(t, retry.Options{}, counting(&attempts, func(n int, _ *http.Request) (*http.Response, error) {
			if n == 2 {
				return all.make(200, ""), nil
			}
			response := all.make(503, strings.Repeat("x", 1<<20))
			response.ContentLength = length
			return response, nil
		})).send(request(t, t.Context(), "GET", nil))
		if b := all.bodies[0]; err != nil || response.StatusCode != http.StatusOK || b.closed != 1 || b.read > 64<<10 {
			t.Errorf("%s: %d bytes were read, closed %d times; %v", name, b.read, b.closed, err)
		}
	}
}

// "Retry-After as seconds and as HTTP date."
func TestRetryAfterIsWaitedFor(t *testing.T) {
	for _, c := range []struct {
		name     string
		header   func(now time.Time) []string
		waited   time.Duration
		attempts int
	}{
		{"seconds", func(time.Time) []string { return []string{"Retry-After", "7"} }, 7 * time.Second, 2},
		{"a date", func(now time.Time) []string {
			return []string{"Retry-After", now.Add(9 * time.Second).UTC().Format(http.TimeFormat)}
		}, 9 * time.Second, 2},
		{"a date by the server's own clock", func(now time.Time) []string {
			server := now.Add(-time.Hour).UTC()
			return []string{"Date", server.Format(http.TimeFormat), "Retry-After", server.Add(11 * time.Second).Format(http.TimeFormat)}
		}, 11 * time.Second, 2},
		{"longer than the engine waits", func(time.Time) []string { return []string{"Retry-After", "3600"} }, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts, start := 0, time.Now()
				response, err := transport(t, retry.Options{}, counting(&attempts, func(n int, _ *http.Request) (*http.Response, error) {
					if n == 2 {
						return new(responses).make(200, ""), nil
					}
					return new(responses).make(429, "", c.header(start)...), nil
				})).send(request(t, t.Context(), "POST", nil))
				if waited := time.Since(start); err != nil || waited != c.waited || attempts != c.attempts {
					t.Errorf("%d attempts after %v, %v; want %d after %v", attempts, waited, err, c.attempts, c.waited)
				}
				if want := map[int]int{1: 429, 2: 200}[c.attempts]; response.StatusCode != want {
					t.Errorf("status %d", response.StatusCode)
				}
			})
		})
	}
}

// "Cancellation": the caller gets the error, and nothing stays open.
func TestACancelledRequestEndsWithAnError(t *testing.T) {
	for name, within := range map[string]func(*http.Request){
		"during a delay": func(*http.Request) {}, "during an attempt": func(r *http.Request) { <-r.Context().Done() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(2*time.Second, cancel)
				var all responses
				attempts := 0
				body := &watchedBody{Reader: strings.NewReader("x")}
				response, err := transport(t, retry.Options{}, counting(&attempts, func(n int, r *http.Request) (*http.Response, error) {
					if n == 2 {
						within(r)
						return nil, r.Context().Err()
					}
					return all.make(429, "busy", "Retry-After", map[bool]string{true: "9", false: "1"}[name == "during a delay"]), nil
				})).send(withBody(request(t, ctx, "PUT", nil), body, true))
				if response != nil || !errors.Is(err, context.Canceled) {
					t.Errorf("%v, %v", response, err)
				}
				if all.bodies[0].closed != 1 || body.closed != 1 {
					t.Errorf("the response's body was closed %d times, the request's %d times", all.bodies[0].closed, body.closed)
				}
			})
		})
	}
}

// withBody gives a request a body, which can be sent again if it is replayable.
func withBody(r *http.Request, body io.ReadCloser, replayable bool) *http.Request {
	r.Body, r.ContentLength = body, 1
	if replayable {
		r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("x")), nil }
	}
	return r
}

// "Body replayed by GetBody; a body without it: no retry after it was read."
func TestABodyIsSentWholeByEachAttempt(t *testing.T) {
	refused := &net.OpError{Op: "dial", Err: errors.New("refused")}
	for _, c := range []struct {
		name       string
		replayable bool
		connects   bool // the first attempt
		reads      bool // the first attempt
		attempts   int
		stop       retry.StopReason
	}{
		{"with GetBody, after it was sent", true, true, true, 2, retry.NotStopped},
		{"with GetBody, not sent", true, false, false, 2, retry.NotStopped},
		{"without GetBody, not sent", false, false, false, 2, retry.NotStopped},
		{"without GetBody, not sent, but read", false, false, true, 1, retry.StopNotReplayable},
		{"without GetBody, after it was sent", false, true, true, 1, retry.StopNotReplayable},
		{"without GetBody, by a connection that could still read it", false, true, false, 1, retry.StopNotReplayable},
	} {
		t.Run(c.name, func(t *testing.T) {
			body := &watchedBody{Reader: strings.NewReader("x")}
			var sent []string
			attempts := 0
			_, err := transport(t, retry.Options{}, roundTripper(func(r *http.Request) (*http.Response, error) {
				attempts++
				trace := httptrace.ContextClientTrace(r.Context())
				trace.GetConn("a")
				defer r.Body.Close()
				if attempts > 1 || c.connects {
					trace.GotConn(httptrace.GotConnInfo{})
				}
				if attempts > 1 || c.reads {
					text, _ := io.ReadAll(r.Body)
					sent = append(sent, string(text))
				}
				if attempts > 1 {
					return new(responses).make(200, ""), nil
				}
				return nil, refused
			})).send(withBody(request(t, t.Context(), "PUT", nil), body, c.replayable))
			stop := retry.NotStopped
			var failed *retry.Error
			if errors.As(err, &failed) {
				stop = failed.StopReason()
			}
			if attempts != c.attempts || stop != c.stop || body.closed != 1 {
				t.Errorf("%d attempts, %v, the body was closed %d times; want %d, %v, once", attempts, stop, body.closed, c.attempts, c.stop)
			}
			if len(sent) > 0 && slices.ContainsFunc(sent, func(s string) bool { return s != "x" }) {
				t.Errorf("sent %q", sent)
			}
		})
	}
}

func TestAGetBodyThatFailsEndsTheRequest(t *testing.T) {
	errGone := errors.New("the file is gone")
	r := withBody(request(t, t.Context(), "PUT", nil), &watchedBody{Reader: strings.NewReader("x")}, true)
	r.GetBody = func() (io.ReadCloser, error) { return nil, errGone }
	attempts := 0
	_, err := transport(t, retry.Options{}, counting(&attempts, func(int, *http.Request) (*http.Response, error) {
		return nil, io.ErrUnexpectedEOF
	})).send(r)
	var failed *retry.Error
	if !errors.As(err, &failed) || !errors.Is(err, errGone) || failed.StopReason() != retry.StopNotBuilt || attempts != 1 {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

// A base that does not report to httptrace may have sent the request, whatever its error says.
func TestTheFailureOfABaseWithoutReportsIsInFlight(t *testing.T) {
	attempts := 0
	_, err := transport(t, retry.Options{}, roundTripper(func(*http.Request) (*http.Response, error) {
		attempts++
		return nil, &net.OpError{Op: "dial", Err: errors.New("refused")}
	})).send(request(t, t.Context(), "POST", nil))
	var failed *retry.Error
	if !errors.As(err, &failed) || failed.OutcomeKnown() || attempts != 1 {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

// With Options.AttemptTimeout a silent server costs one attempt, and the body of the response can be read for longer than the limit.
func TestATimeLimitForAnAttemptEndsBeforeTheBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts, start := 0, time.Now()
		var last context.Context
		tr := transport(t, retry.Options{AttemptTimeout: time.Second}, counting(&attempts, func(n int, r *http.Request) (*http.Response, error) {
			last = r.Context()
			if n == 1 {
				<-r.Context().Done()
				return nil, context.Cause(r.Context())
			}
			return new(responses).make(200, "hello"), nil
		}))
		response, err := tr.send(request(t, t.Context(), "GET", nil))
		if err != nil || attempts != 2 || time.Since(start) != time.Second {
			t.Fatalf("%d attempts after %v: %v", attempts, time.Since(start), err)
		}
		<-time.After(time.Minute)
		if last.Err() != nil {
			t.Errorf("the response's context ended before its body was closed: %v", context.Cause(last))
		}
		if text, err := io.ReadAll(response.Body); string(text) != "hello" || err != nil {
			t.Errorf("%q, %v", text, err)
		}
		response.Body.Close()
		if last.Err() == nil {
			t.Error("the response's context did not end with its body")
		}
	})
}

func TestAnAttemptThatReachedItsTimeLimitIsNamedSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		tr := transport(t, retry.Options{AttemptTimeout: time.Second}, counting(&attempts, func(_ int, r *http.Request) (*http.Response, error) {
			<-r.Context().Done()
			return nil, context.Cause(r.Context())
		}))
		_, err := tr.send(request(t, t.Context(), "POST", nil))
		var failed *retry.Error
		if !errors.As(err, &failed) || failed.Last().Reason != retry.ReasonAttemptTimeout || failed.StopReason() != retry.StopNotIdempotent ||
			!errors.Is(err, retry.ErrAttemptTimeout) || attempts != 1 {
			t.Errorf("%d attempts, %v", attempts, err)
		}
	})
}

// A response of a protocol switch is both read and written.
func TestTheBodyOfAProtocolSwitchCanBeWrittenTo(t *testing.T) {
	attempts := 0
	one, other := net.Pipe()
	defer other.Close()
	tr := transport(t, retry.Options{AttemptTimeout: time.Hour}, counting(&attempts, func(int, *http.Request) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusSwitchingProtocols, Body: one}, nil
	}))
	response, err := tr.send(request(t, t.Context(), "GET", nil))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if _, ok := response.Body.(io.Writer); !ok {
		t.Error("its body cannot be written to")
	}
}

// lastEvent is an observer that keeps the last event.
type lastEvent struct{ retry.Event }

func (l *lastEvent) Observe(_ context.Context, e retry.Event) { l.Event = e }

func TestAnObserverSeesMethodAndHost(t *testing.T) {
	var last lastEvent
	attempts := 0
	_, _ = transport(t, retry.Options{Observer: &last}, counting(&attempts, func(int, *http.Request) (*http.Response, error) {
		return nil, errors.New("a wrong certificate")
	})).send(request(t, t.Context(), "GET", nil))
	if last.Name != "GET" || last.Endpoint != "a.example" || last.StopReason != retry.StopNotRetryable {
		t.Errorf("%+v", last.Event)
	}
}

func TestAJudgeOfYourOwnDecidesWhatAResponseIs(t *testing.T) {
	attempts := 0
	var all responses
	tr, err := retryhttp.NewTransport(retryhttp.Options{
		Engine: engine(t, retry.Options{}),
		Base: counting(&attempts, func(int, *http.Request) (*http.Response, error) {
			return all.make(409, ""), nil
		}),
		Judge: func(r *http.Response) retry.Failure {
			if r.StatusCode == http.StatusConflict {
				return retry.Failure{Err: &retryhttp.StatusError{Code: r.StatusCode}, Reason: retry.ReasonConflict}
			}
			return retryhttp.Judge(r)
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	response, err := tested{tr}.send(request(t, t.Context(), "POST", nil))
	if err != nil || response.StatusCode != http.StatusConflict || attempts != 4 {
		t.Errorf("%d attempts, %v", attempts, err)
	}
}

func TestIdleConnectionsOfTheBaseAreClosed(t *testing.T) {
	var closed atomic.Int32
	client := &http.Client{Transport: transport(t, retry.Options{}, idler{&closed})}
	client.CloseIdleConnections()
	if closed.Load() != 1 {
		t.Errorf("closed %d times", closed.Load())
	}
	transport(t, retry.Options{}, roundTripper(nil)).CloseIdleConnections() // it cannot
}

type idler struct{ closed *atomic.Int32 }

func (i idler) RoundTrip(*http.Request) (*http.Response, error) { return nil, io.EOF }
func (i idler) CloseIdleConnections()                           { i.closed.Add(1) }
