// Package httpservice runs an HTTP handler for a test, sends it requests and checks what it answers.
package httpservice

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// Service is a running service with its test.
type Service struct {
	*testing.T
	URL string
}

// Start starts the service. It ends with the test.
func Start(t *testing.T, handler http.Handler) Service {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return Service{t, server.URL}
}

// Reply is what the service answered.
type Reply struct {
	Status int
	Tag    string
	Text   string
}

// Call sends a request with a body, if there is one, and with a tag that must match, if there is one. A body that is no string is sent
// as JSON.
func (s Service) Call(method, path string, body any, match ...string) Reply {
	s.Helper()
	text, ok := body.(string)
	if !ok && body != nil {
		encoded, err := json.Marshal(body)
		if err != nil {
			s.Fatal(err)
		}
		text = string(encoded)
	}
	request, err := http.NewRequestWithContext(s.Context(), method, s.URL+path, strings.NewReader(text))
	if err != nil {
		s.Fatal(err)
	}
	for _, tag := range match {
		request.Header.Set("If-Match", tag)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		s.Fatal(err)
	}
	defer response.Body.Close()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(response.Body); err != nil {
		s.Fatal(err)
	}
	return Reply{response.StatusCode, response.Header.Get("ETag"), strings.TrimSpace(answer.String())}
}

// Want fails the test if the status is another one, or the answer does not contain each of the texts. It returns the answer.
func (s Service) Want(method, path string, body any, status int, texts ...string) string {
	s.Helper()
	got := s.Call(method, path, body)
	s.Check(method+" "+path, got, status, texts...)
	return got.Text
}

// Check fails the test if a reply has another status, or does not contain each of the texts.
func (s Service) Check(what string, got Reply, status int, texts ...string) {
	s.Helper()
	if got.Status != status {
		s.Errorf("%s: status %d, want %d: %s", what, got.Status, status, got.Text)
	}
	for _, text := range texts {
		if !strings.Contains(got.Text, text) {
			s.Errorf("%s: %s; it must contain %s", what, got.Text, text)
		}
	}
}

// Decoded decodes an answer.
func Decoded[T any](t *testing.T, answer string) T {
	t.Helper()
	var v T
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	return v
}
