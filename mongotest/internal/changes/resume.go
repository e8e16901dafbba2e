package changes

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/changeStreams/#resume-a-change-stream

// Resumes reports whether the stream has not yet passed the event behind which it begins.
func (s *Stream) Resumes() bool { return s.behind != nil }

// Passed reports whether the last event is behind the one behind which the stream was asked to begin. Selected tells whether the
// $match stages behind the $changeStream let it through. Since 6.0 these come before the search for the token: a token whose
// event they leave out is never found, which the next event that they let through shows (SERVER-71565, SERVER-107889).
func (s *Stream) Passed(selected bool) (bool, error) {
	switch {
	case s.behind == nil:
		return true, nil
	case s.atStart():
		s.found = selected || !s.version.SelectsFirst() || s.behind.invalidate // no filter hides an invalidation (SERVER-57792)
		if !s.found || s.split.passed == 0 {
			return false, nil
		}
	case !s.found && (selected || !s.version.SelectsFirst()):
		return false, mongoerr.Errorf(mongoerr.ChangeStreamFatalError,
			"cannot resume stream; the resume token was not found. %s", tokenText(tokenDocument(s.token)))
	case !s.found:
		return false, nil
	}
	s.behind = nil
	return true, nil
}

// atStart reports whether the last event is the one behind which the stream was asked to begin.
func (s *Stream) atStart() bool { return s.behind != nil && s.token == s.behind.text() }
