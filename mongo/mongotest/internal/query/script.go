package query

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// Scripts are the outcomes of the code of a command's filters ($where). Code may take long, so it does not run while documents are
// matched: a search notes for which documents it must run, and is repeated when it has run for them. The zero value is ready.
type Scripts struct {
	outcomes map[script]bool
	pending  []script
}

// script is the code of a $where for one document.
type script struct{ code, doc string }

// Compile compiles the code of a $where.
func (s *Scripts) Compile(v Value) (Expr, error) {
	if v.Type != bson.TypeString && v.Type != bson.TypeJavaScript {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$where got bad type")
	}
	code := string(Value{Type: bson.TypeString, Data: v.Data}.Text())
	return func(doc []byte, _ any) (Value, error) {
		truth := byte(0)
		if s.outcome(script{code, string(doc)}) {
			truth = 1
		}
		return Value{Type: bson.TypeBoolean, Data: []byte{truth}}, nil
	}, nil
}

// outcome returns false and notes the script if it has not run yet.
func (s *Scripts) outcome(of script) bool {
	matches, known := s.outcomes[of]
	if !known {
		s.pending = append(s.pending, of)
	}
	return matches
}

// Waiting reports whether scripts must run before the search is repeated.
func (s *Scripts) Waiting() bool { return s != nil && len(s.pending) > 0 }

// Run evaluates the scripts that are waiting. The context of eval ends when done is closed, and after limit, unless it is negative.
func (s *Scripts) Run(done <-chan struct{}, limit time.Duration, eval func(context.Context, string, bson.Raw) (bool, error)) error {
	ctx, end := endingContext(done, limit)
	defer end()
	if s.outcomes == nil {
		s.outcomes = make(map[script]bool)
	}
	for _, p := range s.pending {
		matches, err := eval(ctx, p.code, bson.Raw(p.doc))
		switch {
		case ctx.Err() != nil:
			return mongoerr.Errorf(mongoerr.MaxTimeMSExpired, "operation exceeded time limit")
		case err != nil:
			return mongoerr.Errorf(mongoerr.JSInterpreterFailure, "%s", err)
		}
		s.outcomes[p] = matches
	}
	s.pending = nil
	return nil
}

func endingContext(done <-chan struct{}, limit time.Duration) (ctx context.Context, end context.CancelFunc) {
	ctx, end = context.WithCancel(context.Background())
	go func() {
		defer end()
		var over <-chan time.Time
		if limit >= 0 {
			t := time.NewTimer(limit)
			defer t.Stop()
			over = t.C
		}
		select {
		case <-done:
		case <-over:
		case <-ctx.Done():
		}
	}()
	return ctx, end
}
