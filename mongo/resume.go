package mongo

import (
	"context"
	"errors"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

// fetch gets the next batch, or resumes the stream. An error that ends the stream is kept by fail; after any other one the
// next call resumes.
func (s *ChangeStream) fetch(ctx context.Context) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if s.lost {
		return s.resume(ctx)
	}
	switch err := s.getMore(ctx); {
	case err == nil:
		s.received()
		return nil
	case ctx.Err() == nil && s.resumable(err):
		s.lost = true
		return s.resume(ctx)
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		s.lost = true // a batch was perhaps sent and not read
		return err
	case operation.RetryableOverload(err): // the server has not begun to execute the command: the cursor is as it was
		return err
	default:
		s.fail(err)
		return err
	}
}

// getMore gets the next batch. If the application's code panics meanwhile, a batch was perhaps sent and not read.
func (s *ChangeStream) getMore(ctx context.Context) error {
	returned := false
	defer func() {
		if !returned {
			s.lost = true
		}
	}()
	err := s.cursor.getMore(ctx)
	returned = true
	return err
}

// resume opens the stream again. While no server can be reached it tries again, until ctx ends or the limit of the client: an outage that
// is longer than the server selection timeout does not end the stream.
func (s *ChangeStream) resume(ctx context.Context) error {
	s.killLostCursor(ctx)
	return s.client.withinResumeTime(ctx, s.reopen)
}

// reopen opens the stream again, as often as it takes.
func (s *ChangeStream) reopen(ctx context.Context) error {
	for {
		err := s.open(ctx)
		switch {
		case err == nil:
			s.outage.ended(s.aggregation)
			s.lost = false
			return nil
		case ctx.Err() != nil:
			return err
		case errors.Is(err, cluster.ErrSelectionTimeout), operation.RetryableRead(err):
		case errors.Is(err, context.DeadlineExceeded): // ctx is about to end: too little time was left for the command
			return err
		case operation.RetryableOverload(err): // it had its retries: the next call resumes
			return err
		default:
			s.fail(err)
			return err
		}
		s.outage.failed(s.aggregation, err)
		c := s.client.runner.Cluster()
		if err := c.WaitForChange(ctx, c.Snapshot(), cluster.MinHeartbeatInterval); err != nil {
			return err // the next call says that the client is disconnected
		}
	}
}

// killLostCursor closes the cursor of before on its server, if that answers soon. Errors have no effect.
func (s *ChangeStream) killLostCursor(ctx context.Context) {
	c := s.cursor
	if c.id == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, closeLimit)
	defer cancel()
	_ = c.kill(ctx) // if the cursor's connection broke, nothing is sent
	c.id = 0
	c.releaseIfDone()
}

const codeCursorNotFound = 43

// resumable reports whether the stream resumes after this error of a getMore (Change Streams specification, "Resumable
// Error").
func (s *ChangeStream) resumable(err error) bool {
	var handshake *cluster.HandshakeError
	var e CommandError
	switch {
	case errors.As(err, &handshake):
		return true
	case !errors.As(err, &e):
		return false
	case e.HasErrorLabel("NetworkError"), e.Code == codeCursorNotFound:
		return true
	case s.cursor.wireVersion >= resumeLabelWireVersion:
		return e.HasErrorLabel("ResumableChangeStreamError")
	default:
		return slices.Contains(resumableCodes, e.Code)
	}
}

const resumeLabelWireVersion = 9 // MongoDB 4.4: since then servers add the label ResumableChangeStreamError

// resumableCodes are the codes of older servers after which a stream resumes, besides CursorNotFound.
var resumableCodes = []int32{
	6,     // HostUnreachable
	7,     // HostNotFound
	63,    // StaleShardVersion
	89,    // NetworkTimeout
	91,    // ShutdownInProgress
	133,   // FailedToSatisfyReadPreference
	150,   // StaleEpoch
	189,   // PrimarySteppedDown
	234,   // RetryChangeStream
	262,   // ExceededTimeLimit
	9001,  // SocketException
	10107, // NotWritablePrimary
	11600, // InterruptedAtShutdown
	11602, // InterruptedDueToReplStateChange
	13388, // StaleConfig
	13435, // NotPrimaryNoSecondaryOk
	13436, // NotPrimaryOrSecondary
}
