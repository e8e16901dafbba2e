package mongotest

import (
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// where compiles the code of a $where.
func (x *exec) where(v query.Value) (query.Expr, error) {
	if x.inTransaction() {
		return nil, whereRefused("in a transaction")
	}
	if x.result.script == nil {
		x.result.script = new(query.Scripts)
	}
	return x.result.script.Compile(v)
}

// whereRefused is the error of a $where in a place where mongotest does not repeat a search.
func whereRefused(place string) error {
	return mongoerr.Errorf(mongoerr.NotImplemented, "mongotest: $where %s is not supported", place)
}

// readingFor is reading for a search. The scripts of its filter have run for all documents that the search will find.
func (x *exec) readingFor(s *search) error {
	for {
		if err := x.reading(); err != nil || x.result.script == nil {
			return err
		}
		_, _ = x.searchLocked(s) // its error is that of the caller's search too
		if !x.result.script.Waiting() {
			return nil
		}
		x.conn.set.mu.Unlock()
		if err := x.runScripts(); err != nil {
			return err
		}
	}
}

// runScriptsLocked runs the scripts of a write, for which it gives up the mutex.
func (x *exec) runScriptsLocked() error {
	x.conn.set.mu.Unlock()
	err := x.runScripts()
	x.conn.set.mu.Lock()
	if err != nil {
		return err
	}
	return x.writableLocked()
}

func (x *exec) runScripts() error {
	err := x.result.script.Run(x.conn.done, x.limit(), x.conn.set.config.javaScript)
	if x.conn.gone() {
		return errHangUp
	}
	return err
}
