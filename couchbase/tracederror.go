package couchbase

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/holdfast-db/holdfast/internal/couchbase/services"
)

// shownError is an error as a tracer gets it: it says what happened, and has no text that may have values of the application in it. Those are the
// text that an HTTP service answered, which may repeat the query, and that of a transcoder, which may show the document.
type shownError struct {
	text  string
	kinds []error // what errors.Is finds
}

func (e *shownError) Error() string   { return e.text }
func (e *shownError) Unwrap() []error { return e.kinds }

// shown returns an error as a tracer gets it.
func shown(err error) error {
	var f *httpFailure
	var answer *services.Answer
	switch {
	case errors.As(err, &f):
		return shownFailure(f)
	case errors.As(err, &answer):
		return &shownError{text: answerText(answer), kinds: kindsOf(answer.Kind)}
	}
	return err
}

// shownFailure is shown for the error of an operation on an HTTP service.
func shownFailure(f *httpFailure) error {
	e := &shownError{text: f.Kind.String(), kinds: f.sentinels}
	for _, end := range []error{context.Canceled, context.DeadlineExceeded} {
		if errors.Is(f, end) {
			e.kinds = append(e.kinds[:len(e.kinds):len(e.kinds)], end)
		}
	}
	if f.Answer != nil {
		e.text += ": " + answerText(f.Answer)
	}
	return e
}

func kindsOf(kind services.ErrorKind) []error {
	if sentinel := kindErrors[kind]; sentinel != nil {
		return []error{sentinel}
	}
	return nil
}

// answerText says what a service answered: the kind, the codes of its errors, and the status.
func answerText(a *services.Answer) string {
	var b strings.Builder
	b.WriteString(a.Kind.String())
	for _, e := range a.Entries {
		fmt.Fprintf(&b, ", code %d", e.Code)
	}
	if a.Status != 0 {
		fmt.Fprintf(&b, ", HTTP status %d", a.Status)
	}
	return b.String()
}

// hideEncoding returns the error of a transcoder as a tracer gets it.
func hideEncoding(err error) error {
	var hidden *shownError
	if err == nil || errors.Is(err, errPanicked) || errors.As(err, &hidden) {
		return err
	}
	hidden = &shownError{text: "the value cannot be encoded"}
	if errors.Is(err, ErrEncodingFailure) {
		hidden.kinds = []error{ErrEncodingFailure}
	}
	return hidden
}
