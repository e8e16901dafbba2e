package revocation

import (
	"bytes"
	"context"
	"crypto"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"testing/synctest"
	"time"

	"golang.org/x/crypto/ocsp"

	"github.com/holdfast-db/holdfast/internal/base/shortanswer"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// naming returns the state of a connection to a server whose certificate names some responders.
func (w *world) naming(urls ...string) tls.ConnectionState {
	state := w.shown()
	leaf := *state.VerifiedChains[0][0]
	leaf.OCSPServer = urls
	state.VerifiedChains[0][0] = &leaf
	return state
}

// reply is an HTTP reply.
func reply(status int, body io.Reader) (*http.Response, error) {
	return &http.Response{StatusCode: status, Status: http.StatusText(status), Header: http.Header{}, Body: io.NopCloser(body)}, nil
}

// Source: OCSP Support, step 7: "send HTTP requests to the responders in parallel. The first valid response that concretely marks the
// certificate status as good or revoked should be used".
func TestAllRespondersAreAskedAtOnce(t *testing.T) {
	for _, c := range []struct {
		name  string
		hosts string
		want  string
		after time.Duration
	}{
		{"a silent one does not delay another", "silent good", "", 0},
		{"one that knows nothing does not count", "unknown late-revoked", "is revoked", time.Second},
		{"one that lies does not count", "wrong broken late-revoked", "is revoked", time.Second},
		{"the first counts", "good late-revoked", "", 0},
		{"the first counts, revoked", "revoked late-good silent", "is revoked", 0},
		{"two at the same moment", "deaf-good deaf-good deaf-good", "", time.Second},
		{"none answers", "silent silent broken unknown", "", patience},
		{"none is there", "", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t, testserver.OCSPSettings{})
				says := map[string]testserver.OCSPAnswer{"good": good, "revoked": revoked, "unknown": unknown, "wrong": testserver.OCSPWrongSigner}
				w.checker.client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
					kind, late := strings.CutPrefix(r.URL.Host, "late-")
					kind, deaf := strings.CutPrefix(kind, "deaf-") // it does not notice that it is interrupted
					wait, interrupted := time.Duration(0), r.Context().Done()
					if late || deaf {
						wait = time.Second
					}
					if deaf {
						interrupted = nil
					}
					if kind == "silent" {
						wait = time.Hour
					}
					select {
					case <-time.After(wait):
					case <-interrupted:
						return nil, context.Cause(r.Context())
					}
					a, known := says[kind]
					if !known {
						return nil, errors.New("connection refused")
					}
					der, err := w.responder.Response(a, w.shown().PeerCertificates[0].SerialNumber)
					if err != nil {
						return nil, err
					}
					return reply(200, bytes.NewReader(der))
				})}
				var urls []string
				for _, host := range strings.Fields(c.hosts) {
					urls = append(urls, "http://"+host+"/")
				}
				began := time.Now()
				w.checkState(t.Context(), w.naming(urls...), c.want, 0)
				if took := time.Since(began); took != c.after {
					t.Errorf("it took %v, want %v", took, c.after)
				}
			})
		})
	}
}

// Source: RFC 6960, A.1.
func TestARequest(t *testing.T) {
	w := newWorld(t, testserver.OCSPSettings{})
	transport := w.checker.client.Transport
	var body closing
	w.checker.client = &http.Client{Transport: roundTrip(func(r *http.Request) (*http.Response, error) {
		if der, err := io.ReadAll(r.Body); err != nil {
			t.Error(err)
		} else if asked, err := ocsp.ParseRequest(der); err != nil || asked.HashAlgorithm != crypto.SHA1 {
			t.Errorf("the request is %v, %v", asked, err)
		} else {
			r.Body = io.NopCloser(bytes.NewReader(der))
		}
		if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/ocsp-request" ||
			r.Header.Get("Accept") != "application/ocsp-response" || !r.Close || r.ContentLength <= 0 {
			t.Errorf("the request is %v", r)
		}
		reply, err := transport.RoundTrip(r)
		if err == nil {
			body.Reader = reply.Body
			reply.Body = &body
		}
		return reply, err
	})}
	w.responder.Set(revoked, revoked)
	w.check("is revoked", 1)
	if !body.closed {
		t.Error("the body of the reply is not closed")
	}
}

// closing notes that it is closed.
type closing struct {
	io.Reader
	closed bool
}

func (c *closing) Close() error {
	c.closed = true
	return nil
}

// The body of a responder that does not end is not read to its end.
type endless struct{ read int }

func (e *endless) Read(b []byte) (int, error) {
	e.read += len(b)
	return len(b), nil
}

func TestAResponderThatMisbehaves(t *testing.T) {
	body := new(endless)
	w := newWorld(t, testserver.OCSPSettings{})
	saysRevoked := func() []byte {
		der, err := w.responder.Response(revoked, w.shown().PeerCertificates[0].SerialNumber)
		if err != nil {
			t.Fatal(err)
		}
		return der
	}
	for _, c := range []struct {
		name  string
		reply roundTrip
	}{
		{"endless", func(*http.Request) (*http.Response, error) { return reply(200, body) }},
		{"not found", func(*http.Request) (*http.Response, error) { return reply(404, strings.NewReader("?")) }},
		{"a panic", func(*http.Request) (*http.Response, error) { panic("mine") }},
		{"Goexit", func(*http.Request) (*http.Response, error) { runtime.Goexit(); return nil, nil }},
		{"an answer with an error's status", func(*http.Request) (*http.Response, error) { return reply(500, bytes.NewReader(saysRevoked())) }},
		{"it closes the connection behind the answer", func(*http.Request) (*http.Response, error) {
			return reply(200, io.MultiReader(bytes.NewReader(saysRevoked()), iotest.ErrReader(io.ErrUnexpectedEOF)))
		}},
		{"it closes the connection in the answer", func(*http.Request) (*http.Response, error) {
			return reply(200, bytes.NewReader(saysRevoked()[:100]))
		}},
		{"it refers to itself", func(r *http.Request) (*http.Response, error) {
			found, err := reply(http.StatusTemporaryRedirect, bytes.NewReader(saysRevoked()))
			found.Header.Set("Location", r.URL.String())
			return found, err
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.t, w.checker.client = t, &http.Client{Transport: c.reply}
			w.check("", 0)
		})
	}
	w = newWorld(t, testserver.OCSPSettings{})
	times := 0
	clock := func() time.Time { // that of the application: the one look is the cache's, the other is at the answer
		if times++; times > 1 {
			panic("mine")
		}
		return time.Now()
	}
	if err := w.checker.Check(t.Context(), w.shown(), clock); err != nil || times != 2 {
		t.Errorf("a clock that panics: %v, %d times", err, times)
	}
	if body.read > 2*maxAnswer {
		t.Errorf("%d bytes were read", body.read)
	}
	w = newWorld(t, testserver.OCSPSettings{})
	w.checkState(t.Context(), w.naming("ftp://a.example/", "://", ""), "", 0)
}

// An answer that is as long as permitted counts, and one that is longer does not.
func TestTheLengthOfAnAnswer(t *testing.T) {
	w := newWorld(t, testserver.OCSPSettings{})
	for _, length := range []int{102_400, 102_401} {
		w.checker.client = &http.Client{Transport: roundTrip(func(*http.Request) (*http.Response, error) {
			return reply(200, bytes.NewReader(make([]byte, length)))
		})}
		der, err := w.checker.post(t.Context(), "http://a.example", nil)
		if tooLong := length > 102_400; tooLong != errors.Is(err, shortanswer.ErrTooLong) || !tooLong && len(der) != length {
			t.Errorf("%d bytes: %d, %v", length, len(der), err)
		}
	}
}

func TestWithoutAnHTTPClientThatOfPackageHTTPIsUsed(t *testing.T) {
	if New(nil, true).client != http.DefaultClient {
		t.Error("it is another one")
	}
}

// Connections are made at the same time: those of a pool, and those of the monitors. Each may ask, and later ones need not.
func TestManyConnectionsAtOnce(t *testing.T) {
	for answer, want := range map[testserver.OCSPAnswer]string{good: "", revoked: "is revoked"} {
		w := newWorld(t, testserver.OCSPSettings{})
		w.responder.Set(answer, answer)
		var all sync.WaitGroup
		for range 20 {
			state := w.shown()
			all.Go(func() {
				if err := w.checker.Check(t.Context(), state, time.Now); (err != nil) != (want != "") {
					t.Errorf("%v; want %q", err, want)
				}
			})
		}
		all.Wait()
		w.check(want, w.responder.Requests())
	}
}
