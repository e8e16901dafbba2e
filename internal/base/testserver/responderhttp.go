package testserver

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"golang.org/x/crypto/ocsp"
)

// maxOCSPRequest limits the bytes of a request that are read.
const maxOCSPRequest = 10_000

// ServeHTTP answers a request by POST or GET (RFC 6960, A.1), until Close is called.
func (r *Responder) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	if !r.begin() {
		http.Error(w, "the responder is closed", http.StatusServiceUnavailable)
		return
	}
	defer r.handlers.Done()
	answer, _ := r.Answers()
	der, err := requestIn(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if answer == OCSPSilence {
		select {
		case <-request.Context().Done():
		case <-r.closed:
		}
		return
	}
	if answer == OCSPUnavailable {
		http.Error(w, "the responder is not available", http.StatusServiceUnavailable)
		return
	}
	reply, err := r.reply(answer, der)
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/ocsp-response")
	_, _ = w.Write(reply)
}

// begin counts a request. It returns false after Close.
func (r *Responder) begin() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.closed:
		return false
	default:
	}
	r.requests++
	r.handlers.Add(1)
	return true
}

// Close ends the requests under way. It may be called once.
func (r *Responder) Close() {
	r.mu.Lock()
	close(r.closed)
	r.mu.Unlock()
	r.handlers.Wait()
}

// requestIn returns the OCSP request in a request.
func requestIn(r *http.Request) ([]byte, error) {
	if r.Method == http.MethodGet {
		return base64.StdEncoding.DecodeString(strings.TrimPrefix(r.URL.Path, "/"))
	}
	return io.ReadAll(io.LimitReader(r.Body, maxOCSPRequest))
}

// reply returns the answer to a request. About another authority's certificates it knows nothing.
func (r *Responder) reply(a OCSPAnswer, der []byte) ([]byte, error) {
	request, err := ocsp.ParseRequest(der)
	if err != nil {
		return ocsp.MalformedRequestErrorResponse, nil //nolint:nilerr // that is the answer
	}
	ownDER, err := ocsp.CreateRequest(r.server.Leaf, r.authority.certificate, &ocsp.RequestOptions{Hash: request.HashAlgorithm})
	if err != nil {
		return nil, err
	}
	own, err := ocsp.ParseRequest(ownDER)
	if err != nil {
		return nil, err
	}
	if !bytes.Equal(request.IssuerKeyHash, own.IssuerKeyHash) || !bytes.Equal(request.IssuerNameHash, own.IssuerNameHash) {
		return ocsp.UnauthorizedErrorResponse, nil
	}
	return r.Response(a, request.SerialNumber)
}

// Client returns an HTTP client that reaches the responder, and nothing else, without a network.
func (r *Responder) Client() *http.Client { return &http.Client{Transport: inProcess{r}} }

// inProcess calls a responder.
type inProcess struct{ responder *Responder }

// RoundTrip calls ServeHTTP on the caller's goroutine.
func (p inProcess) RoundTrip(request *http.Request) (*http.Response, error) {
	defer func() {
		if request.Body != nil {
			_ = request.Body.Close()
		}
	}()
	if own, err := url.Parse(p.responder.settings.URL); err != nil || own.Host != request.URL.Host {
		return nil, fmt.Errorf("this client reaches %s only, not %s", p.responder.settings.URL, request.URL.Host)
	}
	w := &written{header: make(http.Header), status: http.StatusOK}
	p.responder.ServeHTTP(w, request)
	if err := request.Context().Err(); err != nil {
		return nil, err
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", w.status, http.StatusText(w.status)), StatusCode: w.status, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: w.header, Body: io.NopCloser(&w.body), ContentLength: int64(w.body.Len()), Request: request,
	}, nil
}

// written is what a handler writes.
type written struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (w *written) Header() http.Header         { return w.header }
func (w *written) WriteHeader(status int)      { w.status = status }
func (w *written) Write(b []byte) (int, error) { return w.body.Write(b) }
