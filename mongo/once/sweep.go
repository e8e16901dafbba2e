package once

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// SweepOptions configure a sweep.
type SweepOptions struct {
	// OlderThan is the age that a token must have, by the clock of this process. It must be positive. A minute is more than a client needs for
	// its two steps; a sweep that meets a client's token does no harm.
	OlderThan time.Duration
	// ReportOnly: tokens are counted, and nothing is changed.
	ReportOnly bool
	// BatchSize is how many documents one reply of the server has; 0 leaves it to the server.
	BatchSize int32
	// Progress, if set, is called after each document. Sweep waits for it.
	Progress func(SweepResult)
}

// SweepResult counts what a sweep has done.
type SweepResult struct {
	Documents int64         // whose old tokens the sweep has dealt with
	Tokens    int64         // old ones that the sweep has dealt with
	Applied   int64         // tokens whose updates the sweep, or another one at the same time, applied
	Abandoned int64         // tokens whose updates have a condition that no longer held
	Gone      int64         // tokens that another one removed before: with their document, or because the document refused the update
	Failed    []FailedToken // tokens that are still pending; of those above 1,000 only the number is known
	Failures  int64         // the number of tokens that are still pending
	Oldest    time.Time     // the time of the oldest token; zero if there was none
}

// FailedToken is a token that a sweep could not finish.
type FailedToken struct {
	DocumentID bson.RawValue
	ID         bson.ObjectID
	At         time.Time
	Err        error
}

// mostFailed is how many failed tokens a result keeps.
const mostFailed = 1000

// Sweep applies the updates that clients have left pending. It may run beside clients and other sweeps, and be repeated. An update that a
// document refuses stays pending and is reported. When ctx ends, Sweep waits at most two seconds for the update that it is making, and counts
// it. Without an index on the times of the tokens, a sweep reads the whole collection; see [Collection.SweepIndex]. With an error it returns
// also the result so far.
func (c *Collection) Sweep(ctx context.Context, o SweepOptions) (SweepResult, error) {
	if o.OlderThan <= 0 {
		return SweepResult{}, fmt.Errorf("once: SweepOptions.OlderThan is %v; it must be positive", o.OlderThan)
	}
	if o.BatchSize < 0 {
		return SweepResult{}, fmt.Errorf("once: SweepOptions.BatchSize is %d; it must not be negative", o.BatchSize)
	}
	s := &sweep{Collection: c, options: o, before: time.Now().Add(-o.OlderThan), seen: make(map[string]map[bson.ObjectID]bool)}
	_, err := c.repeat(ctx, "once.sweep", func(ctx context.Context) error { return s.run(ctx) })
	return s.result, err
}

// SweepIndex returns the keys of an index with which a sweep finds the tokens. Make it sparse.
func (c *Collection) SweepIndex() bson.D { return bson.D{{Key: c.pendingAt(), Value: 1}} }

// sweep is one on its way. After a network error it begins again: seen has the tokens that it has dealt with, of each document.
type sweep struct {
	*Collection
	options SweepOptions
	before  time.Time
	seen    map[string]map[bson.ObjectID]bool
	result  SweepResult
}

func (s *sweep) run(ctx context.Context) error {
	o := options.Find().SetProjection(marshal(bson.D{{Key: s.pending(), Value: 1}}))
	if s.options.BatchSize > 0 {
		o.SetBatchSize(s.options.BatchSize)
	}
	cursor, err := s.source.find(ctx, marshal(bson.D{{Key: s.pendingAt(), Value: bson.D{{Key: "$lt", Value: s.before}}}}), o)
	if err != nil {
		return err
	}
	defer cursor.Close(context.WithoutCancel(ctx))
	for cursor.Next(ctx) {
		var document bson.Raw
		if err := cursor.Decode(&document); err != nil {
			return err
		}
		err := s.document(ctx, document)
		if s.options.Progress != nil {
			s.options.Progress(s.result)
		}
		if err != nil {
			return err
		}
	}
	return cursor.Err()
}

// document finishes the old tokens of a document.
func (s *sweep) document(ctx context.Context, document bson.Raw) error {
	key := document.Lookup("_id")
	list, _ := document.Lookup(s.field, "pending").ArrayOK()
	values, _ := list.Values()
	for _, v := range values {
		var t token
		if err := v.Unmarshal(&t); err != nil || !t.At.Before(s.before) || s.seen[identity(key)][t.ID] {
			continue
		}
		if err := s.token(ctx, key, t); err != nil {
			return err
		}
	}
	return nil
}

// token makes the second step of a token, and counts it. Its error ends the sweep.
func (s *sweep) token(ctx context.Context, key bson.RawValue, t token) error {
	at, err := none, error(nil)
	if !s.options.ReportOnly {
		applying, end := outliving(ctx, lastUpdate)
		defer end()
		if at, err = s.applyToken(applying, key, t); endsSweep(applying, err) {
			return err
		}
	}
	s.count(key, t)
	if !s.options.ReportOnly {
		s.countOutcome(key, t, at, err)
	}
	return context.Cause(ctx)
}

// lastUpdate is how long a sweep whose context has ended waits for the update that it is making, so that it can be counted.
const lastUpdate = 2 * time.Second

// outliving returns a context that ends grace after ctx, and the function that releases it.
func outliving(ctx context.Context, grace time.Duration) (longer context.Context, release func()) {
	longer, end := context.WithCancelCause(context.WithoutCancel(ctx))
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-timer.C:
			end(context.Cause(ctx))
		case <-longer.Done():
		}
	})
	return longer, func() {
		stop()
		end(nil)
	}
}

// endsSweep reports whether an error is not one of a document, so that the next one would meet it too.
func endsSweep(ctx context.Context, err error) bool {
	return err != nil && (ctx.Err() != nil || isNoAnswer(err) || isPoolCleared(err) || mongo.IsTimeout(err) || errors.Is(err, errNoAnswer) ||
		hasCode(err, notPrimary) || hasCode(err, recovering))
}

func (s *sweep) count(key bson.RawValue, t token) {
	document := identity(key)
	if s.seen[document] == nil {
		s.seen[document] = make(map[bson.ObjectID]bool)
	}
	s.seen[document][t.ID] = true
	s.result.Documents = int64(len(s.seen))
	s.result.Tokens++
	if s.result.Oldest.IsZero() || t.At.Before(s.result.Oldest) {
		s.result.Oldest = t.At
	}
}

// identity returns a text that no other _id has.
func identity(key bson.RawValue) string { return string(rune(key.Type)) + string(key.Value) }

func (s *sweep) countOutcome(key bson.RawValue, t token, at trace, err error) {
	switch {
	case err != nil:
		s.fail(key, t, err)
	case at == finished:
		s.result.Applied++
	case at == abandoned:
		s.result.Abandoned++
	case at == pending:
		s.fail(key, t, errMarked)
	default:
		s.result.Gone++
	}
}

func (s *sweep) applyToken(ctx context.Context, key bson.RawValue, t token) (trace, error) {
	u, err := t.change()
	if err != nil {
		return none, err
	}
	f := &filter{document: marshal(bson.D{{Key: "_id", Value: key}}), key: key, only: true}
	if u.Filter != nil {
		f.document, f.only = u.Filter, false
	}
	return s.apply(ctx, f, t.ID, u)
}

func (s *sweep) fail(key bson.RawValue, t token, err error) {
	s.result.Failures++
	if len(s.result.Failed) < mostFailed {
		s.result.Failed = append(s.result.Failed, FailedToken{key, t.ID, t.At, err})
	}
}

// Err returns an error that names the tokens that are still pending, nil if there are none.
func (r *SweepResult) Err() error {
	errs := make([]error, 0, len(r.Failed))
	for _, f := range r.Failed {
		errs = append(errs, fmt.Errorf("document %v, token %s of %v: %w", f.DocumentID, f.ID.Hex(), f.At.Format(time.RFC3339), f.Err))
	}
	return errors.Join(errs...)
}
