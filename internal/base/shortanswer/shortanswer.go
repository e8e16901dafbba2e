// Package shortanswer gets answers over HTTP that are short, rare and not worth a connection that is kept: of metadata services and of
// OCSP responders.
package shortanswer

import (
	"errors"
	"fmt"
	"io"
	"net/http"
)

// ErrTooLong is the error of an answer that has more bytes than it may.
var ErrTooLong = errors.New("the answer is too long")

// StatusError is an answer with another status than 200.
type StatusError struct {
	Host   string // that has answered
	Status string // as the answer has it
	Body   []byte // of at most as many bytes as an answer may have
}

// Error returns the host and the status. The path of the request may be a secret.
func (e *StatusError) Error() string {
	return fmt.Sprintf("%s answers with the status %q", e.Host, e.Status)
}

// Get sends a request on a connection of its own, and returns the body of the answer, which may have most bytes. The status must be 200.
func Get(client *http.Client, r *http.Request, most int) ([]byte, error) {
	r.Close = true
	reply, err := client.Do(r)
	if err != nil {
		return nil, err
	}
	defer func() { _ = reply.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(reply.Body, int64(most)+1))
	switch {
	case err != nil:
		return nil, err
	case reply.StatusCode != http.StatusOK:
		return nil, &StatusError{Host: r.URL.Host, Status: reply.Status, Body: body[:min(len(body), most)]}
	case len(body) > most:
		return nil, fmt.Errorf("%w: it has more than %d bytes", ErrTooLong, most)
	}
	return body, nil
}
