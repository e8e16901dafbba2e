package mongotest

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/operator/query/where/

// JavaScript makes find, count and distinct accept $where: eval reports whether the code, an expression or a function, is true for a
// document. The document is "this" and "obj" in the code. The context ends when the server closes the connection, and after the
// command's maxTimeMS. An error of eval is the command's error, with code 139. Eval is called with no lock held, for several commands at
// a time; it may wait, and must not keep the document. Without this option $where is refused: mongotest has no JavaScript engine.
// It is also refused in a transaction, with a collation and on a tailable cursor.
func JavaScript(eval func(ctx context.Context, code string, document bson.Raw) (bool, error)) Option {
	return deploymentOption(func(c *config) { c.javaScript = eval })
}

// scripts are the outcomes of the code of a filter. The code runs without the set's mutex, because it may take long: a search finds
// the documents for which it must run, and is repeated when it has run for them.
type scripts struct {
	outcomes map[script]bool
	pending  []script
}

// script is the code of a $where for one document.
type script struct{ code, doc string }

// compile compiles the filter, which may have a $where.
func (s *search) compile(x *exec, filter []byte) error {
	if x.conn.set.config.javaScript == nil {
		return s.criteria.compile(x, filter)
	}
	if s.flaw != nil {
		return s.flaw
	}
	hooks, err := x.hooks()
	if err != nil {
		return err
	}
	hooks.Where = x.where
	if err := s.compileWith(filter, hooks); err != nil {
		return err
	}
	s.vars = x.result.vars.values
	return s.checkScript(x)
}

// checkScript refuses a $where where the search cannot be repeated.
func (s *search) checkScript(x *exec) error {
	place := ""
	switch {
	case x.result.script == nil:
		return nil
	case x.inTransaction():
		place = "in a transaction"
	case s.tailable:
		place = "on a tailable cursor"
	default:
		return nil
	}
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: $where %s is not supported", place)
}

// where compiles the code of a $where.
func (x *exec) where(v query.Value) (query.Expr, error) {
	if v.Type != bson.TypeString && v.Type != bson.TypeJavaScript {
		return nil, mongoerr.Errorf(mongoerr.BadValue, "$where got bad type")
	}
	code := string(query.Value{Type: bson.TypeString, Data: v.Data}.Text())
	if x.result.script == nil {
		x.result.script = &scripts{outcomes: make(map[script]bool)}
	}
	s := x.result.script
	return func(doc []byte, _ any) (query.Value, error) { return truth(s.outcome(script{code, string(doc)})), nil }, nil
}

// outcome returns false and notes the script if it has not run yet.
func (s *scripts) outcome(of script) bool {
	matches, known := s.outcomes[of]
	if !known {
		s.pending = append(s.pending, of)
	}
	return matches
}

// readingFor is reading for a search. The scripts of its filter have run for all documents that the search will find.
func (x *exec) readingFor(s *search) error {
	for {
		if err := x.reading(); err != nil || x.result.script == nil {
			return err
		}
		if _, err := x.searchLocked(s); err != nil || len(x.result.script.pending) == 0 {
			return nil // the caller's search has the same error
		}
		x.conn.set.mu.Unlock()
		if err := x.runScripts(); err != nil {
			return err
		}
	}
}

// runScripts runs the scripts that are pending.
func (x *exec) runScripts() error {
	ctx, end := x.scriptContext()
	defer end()
	s := x.result.script
	for _, p := range s.pending {
		matches, err := x.conn.set.config.javaScript(ctx, p.code, bson.Raw(p.doc))
		switch {
		case x.conn.gone():
			return errHangUp
		case ctx.Err() != nil:
			return x.inTime(errTimeout)
		case err != nil:
			return mongoerr.Errorf(mongoerr.JSInterpreterFailure, "%s", err)
		}
		s.outcomes[p] = matches
	}
	s.pending = nil
	return nil
}

// scriptContext returns a context that ends with the connection, and after the command's maxTimeMS.
func (x *exec) scriptContext() (ctx context.Context, end context.CancelFunc) {
	ctx, end = context.WithCancel(context.Background())
	go func() {
		defer end()
		var over <-chan time.Time
		if limit := x.limit(); limit >= 0 {
			t := time.NewTimer(limit)
			defer t.Stop()
			over = t.C
		}
		select {
		case <-x.conn.done:
		case <-over:
		case <-ctx.Done():
		}
	}()
	return ctx, end
}
