package mongo_test

import (
	"errors"
	"testing"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

func labelledOverload(err error) bool {
	var e mongo.CommandError
	return errors.As(err, &e) && e.HasErrorLabel("SystemOverloadedError")
}

// Source: Client Backpressure, "Overload retry policy": two retries of a command, then the error is returned. The server has not begun to
// execute such a command, so the cursor and the resume token are as they were.
func TestARetryableOverloadErrorIsReturnedAndDoesNotEndTheStream(t *testing.T) {
	overload := refuse(462, "SystemOverloadedError", "RetryableError")
	for _, c := range []struct {
		name     string
		refused  string // the command that is refused
		fault    mongotest.Fault
		before   []mongotest.Fault // of getMore
		goesOn   bool
		attempts int
	}{
		{"of a getMore", "getMore", overload, nil, true, 3},
		{"of the aggregate command that resumes", "aggregate", overload, []mongotest.Fault{refuse(43)}, true, 3},
		{"of a getMore, without the label RetryableError", "getMore", refuse(462, "SystemOverloadedError"), nil, false, 1},
		{"of the aggregate command that resumes, without the label RetryableError", "aggregate", refuse(462, "SystemOverloadedError"), []mongotest.Fault{refuse(43)}, false, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			watchingEverywhere(t, nil, func(w *world, s *mongo.ChangeStream) {
				w.insert(1, 2)
				w.expect(s, 1, 2)
				w.script("getMore", c.before...)
				remove := w.set.Use(c.refused, mongotest.Always(c.fault))
				w.insert(3)
				token := s.ResumeToken()
				w.forget()
				for range 2 {
					if s.Next(w.ctx) || !labelledOverload(s.Err()) {
						w.Fatalf("the error is %v", s.Err())
					}
				}
				want := 2 * c.attempts
				if !c.goesOn {
					want = c.attempts // the second call sends nothing
				}
				if n := len(w.started(c.refused)); n != want || !same(s.ResumeToken(), token) {
					w.Errorf("%d commands, want %d; the token is %v, want %v", n, want, s.ResumeToken(), token)
				}
				remove()
				if c.goesOn {
					w.expect(s, 3)
				} else if s.Next(w.ctx) {
					w.Errorf("the stream goes on with %v", s.Current)
				}
				w.must(s.Close(w.ctx))
			})
		})
	}
}
