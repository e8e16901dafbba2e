package services

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
)

// The bytes that a server sends while its client is closed may be a complete HTTP answer with half a result. That is not the service's error.
func TestHalfAnAnswerToAnOperationThatHasEnded(t *testing.T) {
	for _, c := range []struct {
		cause error // with which the context has ended; nil: it has not
		err   error // of reading the answer
		want  error
	}{
		{nil, io.ErrUnexpectedEOF, io.ErrUnexpectedEOF},
		{nil, errMalformed, errMalformed},
		{ErrClosed, io.ErrUnexpectedEOF, ErrClosed},
		{ErrClosed, errMalformed, ErrClosed},
		{context.DeadlineExceeded, io.ErrUnexpectedEOF, context.DeadlineExceeded},
		{errNodeLeft, io.ErrUnexpectedEOF, io.ErrUnexpectedEOF}, // the answer is complete, whatever the newer map says
	} {
		t.Run(fmt.Sprint(c.cause, ", ", c.err), func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			x := &exchange{
				client: &Client{}, request: &Request{Service: clustermap.Query}, parent: ctx, ctx: ctx, cancel: cancel,
				reply: &http.Response{StatusCode: http.StatusOK, ContentLength: 14}, conn: &conn{},
			}
			if c.cause != nil {
				cancel(c.cause)
			}
			if f := x.unreadable(c.err, io.EOF); !errors.Is(f.Err, c.want) {
				t.Errorf("the error is %v, want %v", f.Err, c.want)
			}
		})
	}
}
